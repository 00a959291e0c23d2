/** The parser of SPARQL, and what it reads wrongly put right before it reads: escapes and relative references. */
import type { Algebra } from '@comunica/utils-algebra';
import { nodesOf } from './query-scopes.js';
import { resolveReferences } from './references.js';
import { onParseErrors } from './syntax-errors.js';

/** A node of the syntax tree. */
export interface Syntax {
  readonly type?: string;
  readonly subType?: string;
  readonly [member: string]: unknown;
}

/** The parser builds its grammar for a quarter of a second when it is made, so it is made once. */
async function makeParser() {
  const [{ Parser }, { toAlgebra }] = await Promise.all([
    import('@traqula/parser-sparql-1-2'),
    import('@traqula/algebra-sparql-1-2'),
  ]);
  return { parser: new Parser({ errorHandler: onParseErrors } as object), toAlgebra };
}
let parser: ReturnType<typeof makeParser> | undefined;

/** Loads the SPARQL parser; to be called before the first query or update needs it. */
export function loadParser(): ReturnType<typeof makeParser> {
  parser ??= makeParser();
  return parser;
}

export interface SparqlReader {
  /** @throws Error of the parser, RangeError for what is nested too deeply */
  parse(text: string): Syntax;
  /** @throws Error for what has no meaning, RangeError for what is nested too deeply */
  translate(syntax: Syntax): Algebra.Operation;
}

/** @param base what relative references are relative to, until the text says another */
export async function sparqlReader(base: string): Promise<SparqlReader> {
  const { parser, toAlgebra } = await loadParser();
  return {
    parse(text) {
      let syntax: Syntax;
      try {
        syntax = parser.parse(resolveReferences(text, base), { baseIRI: base }) as unknown as Syntax;
      } catch (error) {
        if (error instanceof RangeError) throw error;
        // Places in the text are those that were sent.
        parser.parse(text, { baseIRI: base });
        throw error;
      }
      if (text.includes('\\')) decodeLocalNames(syntax);
      return syntax;
    },
    translate: (syntax) =>
      toAlgebra(syntax as never, { quads: true, baseIRI: base, blankToVariable: true }) as Algebra.Operation,
  };
}

/** Escapes in the local part of names (PN_LOCAL_ESC of SPARQL 1.1 19.8), which the parser leaves there. */
function decodeLocalNames(root: Syntax): void {
  for (const node of nodesOf(root, () => true)) {
    const { subType, prefix, value } = node as Syntax;
    if (subType === 'namedNode' && prefix !== undefined && typeof value === 'string' && value.includes('\\'))
      Object.assign(node, { value: value.replace(/\\([_~.\-!$&'()*+,;=/?#@%])/g, '$1') });
  }
}

/** The prefixes that a prologue declares. */
export function prefixesOf({ context }: Syntax): Record<string, string> {
  const prefixes: Record<string, string> = {};
  for (const { subType, key, value } of (context as Syntax[] | undefined) ?? [])
    if (subType === 'prefix' && typeof key === 'string') prefixes[key] = (value as { value: string }).value;
  return prefixes;
}
