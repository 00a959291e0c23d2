/** Parses SPARQL and translates it to algebra. Escapes and relative references in the text are resolved before. */
import type { Algebra } from '@comunica/utils-algebra';
import { resolveIri } from '../../rdf/resolve-iri.js';
import { nodesOf, scopeOf } from './query-scopes.js';
import { commentToken, referenceToken, stringToken } from './sparql-tokens.js';
import { onParseErrors } from './syntax-errors.js';

/** Token: a string or comment, which is kept, a reference, or a word, which may be BASE. Any other character matches itself. */
const token = new RegExp(
  `${stringToken}|${commentToken}|<(${referenceToken})>|((?:[?$@:%.\\w\\u0080-\\uffff-]|\\\\.)+)(?=((?:\\s|${commentToken}(?:[\\n\\r]|$))*<)?)`,
  'gs',
);

const hasScheme = (reference: string): boolean => /^[A-Za-z][A-Za-z0-9+.-]*:/.test(reference);
const hasDots = (reference: string): boolean => /(?:^|\/)\.{1,2}(?:[/?#]|$)/.test(reference);

/** Resolves references that the parser cannot: BASE may change in the text (SPARQL 1.1 4.1.1.2) and between updates. */
export function resolveReferences(text: string, outer: string): string {
  // Fast path: most texts contain no reference to resolve.
  if (!/\.[/?#>]|<\/\/|\bbase\b/i.test(text)) return text;
  let base = outer;
  let isBase = false;
  return text.replace(
    token,
    (all, reference: string | undefined, word: string | undefined, next: string | undefined) => {
      if (word !== undefined) {
        isBase = /^base$/i.test(word) && next !== undefined;
        return all;
      }
      if (reference === undefined) return all;
      const isAbsolute = hasScheme(reference);
      const needsHelp = isBase
        ? !isAbsolute || hasDots(reference)
        : !isAbsolute && (base !== outer || reference.startsWith('//') || hasDots(reference));
      const resolved = needsHelp ? resolveIri(reference, base) : reference;
      if (isBase) base = resolved;
      isBase = false;
      return needsHelp ? `<${resolved}>` : all;
    },
  );
}

/** Node of the syntax tree. */
export interface Syntax {
  readonly type?: string;
  readonly subType?: string;
  readonly [member: string]: unknown;
}

/** Function that translates a syntax tree. GRAPH, and WITH of an update, become `graph` operations. */
type ToAlgebra = (syntax: Syntax, baseIRI: string, blankToVariable?: boolean) => Algebra.Operation;

/** Builds the parser. It is built once, because this takes 250 ms. */
async function makeParser() {
  const [{ Parser }, { toAlgebra12Builder }, { createAlgebraContext }, { IndirBuilder }] = await Promise.all([
    import('@traqula/parser-sparql-1-2'),
    import('@traqula/algebra-sparql-1-2'),
    import('@traqula/algebra-transformations-1-2'),
    import('@traqula/core'),
  ]);
  const rules = {
    // By default, the package would move the graph into all patterns.
    recurseGraph: ({ algebraFactory }: Context, input: Algebra.Operation, name: never) =>
      algebraFactory.createGraph(input, name),
    // By default, the package would include variables of a subquery that the subquery does not project.
    inScopeVariables: (_: Context, query: Syntax) => scopeOf(query),
    // By default, the package would number variables again after a subquery, and use names that a query can contain.
    generateFreshVar: (context: Context) => context.dataFactory.variable!(`..v${context.varCount++}`),
  };
  const patches = Object.entries(rules).map(([name, rule]) => ({ name, fun: (_: Subrules): unknown => rule }));
  patches.push({ name: 'translateInlineData', fun: inlineData });
  const builder = IndirBuilder.create(toAlgebra12Builder);
  for (const patch of patches) builder.patchRule(patch as never);
  const translator = builder.build();
  const toAlgebra: ToAlgebra = (syntax, baseIRI, blankToVariable) =>
    translator.translateQuery(createAlgebraContext({ baseIRI }), syntax as never, true, blankToVariable) as never;
  return { parser: new Parser({ errorHandler: onParseErrors } as object), toAlgebra };
}

interface Subrules {
  readonly SUBRULE: (rule: { readonly name: string }, argument: unknown) => never;
}

interface InlineData {
  readonly variables: readonly unknown[];
  readonly values: readonly object[];
}

/** Translates VALUES. The package would store rows in plain objects, and lose the values of a variable `?__proto__`. */
const inlineData =
  ({ SUBRULE }: Subrules) =>
  ({ algebraFactory }: Context, { variables, values }: InlineData): Algebra.Operation => {
    const translated = (term: unknown): never => SUBRULE({ name: 'translateTerm' }, term);
    const rows = values.map((row) => {
      const terms: Record<string, never> = Object.create(null);
      for (const [name, term] of Object.entries(row)) if (term !== undefined) terms[name] = translated(term);
      return terms;
    });
    return algebraFactory.createValues(variables.map(translated), rows) as never;
  };

type Context = ReturnType<typeof import('@traqula/algebra-transformations-1-2')['createAlgebraContext']>;
let parser: ReturnType<typeof makeParser> | undefined;

/** Loads the SPARQL parser. To be called before the first query or update. */
export function loadParser(): ReturnType<typeof makeParser> {
  parser ??= makeParser();
  return parser;
}

export interface SparqlReader {
  /** Returns the syntax tree. @throws Error of the parser, RangeError if the nesting is too deep */
  parse(text: string): Syntax;
  /**
   * Returns the algebra, in which GRAPH is an operation (`lowerGraphs`).
   * @throws Error for an invalid query, RangeError if the nesting is too deep
   */
  translate(syntax: Syntax): Algebra.Operation;
}

/** Returns functions that parse and translate. @param base initial base IRI */
export async function sparqlReader(base: string): Promise<SparqlReader> {
  const { parser, toAlgebra } = await loadParser();
  return {
    parse(text) {
      let syntax: Syntax;
      try {
        syntax = parser.parse(resolveReferences(text, base), { baseIRI: base }) as unknown as Syntax;
      } catch (error) {
        if (error instanceof RangeError) throw error;
        // The original text is parsed, so that the error has its source location.
        parser.parse(text, { baseIRI: base });
        throw error;
      }
      if (text.includes('\\')) decodeLocalNames(syntax);
      return syntax;
    },
    translate: (syntax) => toAlgebra(syntax, base, true),
  };
}

/** Decodes escapes in local names (PN_LOCAL_ESC of SPARQL 1.1 19.8), which the parser does not decode. */
function decodeLocalNames(root: Syntax): void {
  for (const node of nodesOf(root)) {
    const { subType, prefix, value } = node as Syntax;
    if (subType === 'namedNode' && prefix !== undefined && typeof value === 'string' && value.includes('\\'))
      Object.assign(node, { value: value.replace(/\\([_~.\-!$&'()*+,;=/?#@%])/g, '$1') });
  }
}

/** Returns the prefixes that a prologue declares. */
export function prefixesOf({ context }: Syntax): Record<string, string> {
  const prefixes: Record<string, string> = {};
  for (const { subType, key, value } of (context as Syntax[] | undefined) ?? [])
    if (subType === 'prefix' && typeof key === 'string') prefixes[key] = (value as { value: string }).value;
  return prefixes;
}
