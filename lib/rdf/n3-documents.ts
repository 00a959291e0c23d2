/** Parses documents with n3 (Turtle, TriG, N-Triples and N-Quads), either at once or triple by triple. */
import type { Quad } from '@rdfjs/types';
import { Parser } from 'n3';
import type { DataFactory } from 'rdf-data-factory';
import { getOrMake } from '../tools/collections.js';
import { LwsError } from '../tools/errors.js';
import { nestedTooDeep } from './bounds.js';

/** Patterns to check N-Triples lines: each line contains one complete triple or none (RDF 1.1 N-Triples, section 7). */
const blank = /[ \t]*/y;
const label = /[^\s<")]*/y;
/** Version line of RDF 1.2 N-Triples. The parser checks the rest of the line. */
const version = /^[ \t]*VERSION[ \t]/i;
const suffix = /[ \t]*(?:\^\^[ \t]*<[^>]*>|@[\w-]+)/y;
/** Start and end of a triple term. */
const [opening, closing] = ['<<(', ')>>'];

/** Returns the number of the first line that is neither a complete triple nor empty, or `undefined`. */
function strayLine(text: string): number | undefined {
  let number = 0;
  for (const line of text.split(/\r\n|\r|\n/)) {
    number++;
    if (!isTripleLine(line) && !version.test(line)) return number;
  }
  return undefined;
}

function isTripleLine(line: string): boolean {
  let at = endOf(blank, line, 0);
  if (at < line.length && line[at] !== '#') {
    // Count of triple terms that have begun, but not ended, at this position. Each must still have a third term.
    let open = 0;
    for (let term = 0; term < 3; term++) {
      while (line.startsWith(opening, at)) {
        at = endOf(blank, line, at + opening.length);
        [open, term] = [open + 1, 0];
      }
      at = endOf(blank, line, termEnd(line, at));
      for (; term === 2 && open > 0 && line.startsWith(closing, at); open--)
        at = endOf(blank, line, at + closing.length);
    }
    if (open > 0 || line[at] !== '.') return false;
    at = endOf(blank, line, at + 1);
  }
  return at === line.length || line[at] === '#';
}

/** Returns the index after the term that starts at `start`, or an index after the line if there is no term. */
function termEnd(line: string, start: number): number {
  const none = line.length + 1;
  if (line[start] === '<') return line.indexOf('>', start) + 1 || none;
  if (line[start] === '_') {
    let end = endOf(label, line, start);
    // A label cannot end in a full stop: the full stop ends the triple.
    while (line[end - 1] === '.') end--;
    return end;
  }
  if (line[start] !== '"') return none;
  let end = start + 1;
  for (; end < line.length && line[end] !== '"'; end++) if (line[end] === '\\') end++;
  return endOf(suffix, line, end + 1);
}

/** Returns the index after the match of a sticky pattern at an index. */
function endOf(pattern: RegExp, text: string, at: number): number {
  pattern.lastIndex = at;
  return at + (pattern.exec(text)?.[0].length ?? 0);
}

export interface RdfDocument {
  readonly quads: readonly Quad[];
  readonly prefixes: Readonly<Record<string, string>>;
}

export interface N3Parsing {
  readonly base?: string;
  readonly factory: DataFactory<Quad>;
}

/** Maximum length of documents for which a parser is reused, in characters: a parser retains its last document. */
const longestKept = 64 << 10;

/** Members of an n3 parser that depend on its options. `parse` resets everything else. */
interface KeptParser extends Parser {
  _factory: object;
  _setBase(base: string | undefined): void;
}

/** Reused parsers, by format: creating a parser takes as long as three triples, and V8 frees it only in a full collection. */
const kept = new Map<string, KeptParser>();

function parserFor(text: string, format: string, { base, factory }: N3Parsing): Parser {
  // Use our term factory: the terms of n3 compute their properties on every access.
  const options = { format, factory: factory as never };
  if (base === undefined || text.length > longestKept)
    return new Parser(base === undefined ? options : { ...options, baseIRI: base });
  const parser = getOrMake(kept, format, () => new Parser(options) as unknown as KeptParser);
  parser._factory = factory;
  parser._setBase(base);
  return parser;
}

/** Parses a complete document. @throws LwsError `malformed-body` */
export function parseN3(text: string, format: string, parsing: N3Parsing): RdfDocument {
  const prefixes: Record<string, string> = {};
  const parser = parserFor(text, format, parsing);
  try {
    const quads = parser.parse(text, null, (prefix, iri) => {
      prefixes[prefix] = iri.value;
    });
    return { quads, prefixes };
  } catch (error) {
    kept.delete(format);
    throw faultOf(text, error);
  }
}

/** Parses N-Triples or N-Quads with one statement per line. @throws LwsError `malformed-body` */
export function parseLines(text: string, format: string, { factory }: N3Parsing): RdfDocument {
  const document = parseN3(text, format, { factory });
  // If a statement has a graph, the caller rejects the document anyway.
  if (document.quads.every(isInDefaultGraph)) assertTripleLines(text);
  return document;
}

export const isInDefaultGraph = ({ graph }: Quad): boolean => graph.termType === 'DefaultGraph';

/** Asserts that N-Triples have one triple per line, which n3 does not check. @throws LwsError `malformed-body` */
export function assertTripleLines(text: string): void {
  const line = strayLine(text);
  if (line !== undefined) throw malformed(`N-Triples requires one complete triple per line, unlike line ${line}`);
}

interface N3Error extends Error {
  context?: { line?: number; token?: { start?: number }; previousToken?: { line: number; end: number } };
}

/** Returns the message with line and column. n3 reports the line, but the column only through the previous token. */
function describeN3Error(text: string, error: N3Error): string {
  const { line, token, previousToken } = error.context ?? {};
  const message = error.message.replace(/ on line \d+\.?$/, '').slice(0, 200);
  if (line === undefined) return message;
  const content = text.split(/\r\n|\r|\n/, line)[line - 1] ?? '';
  const from = previousToken?.line === line ? previousToken.end : 0;
  const at = token?.start ?? from + (/\S/.exec(content.slice(from))?.index ?? 0);
  return `${message} at line ${line}, column ${at + 1}`;
}

/** Returns the error for the client. n3 also has a limit for nested triple terms, above ours. */
function faultOf(text: string, error: unknown): LwsError {
  if (error instanceof LwsError) return error;
  if (/^Triple terms nested deeper/.test((error as Error).message)) return nestedTooDeep();
  return malformed(describeN3Error(text, error as N3Error), error);
}

export const malformed = (what: string, cause?: unknown): LwsError =>
  new LwsError('malformed-body', `The RDF document cannot be read: ${what}.`, { cause });

export const namedGraph = (): LwsError =>
  new LwsError(
    'named-graph',
    'The document has triples in a named graph. A resource is a single graph: use the default graph.',
  );

/**
 * Parses triple by triple, while `parseN3` first creates all tokens.
 * @returns the prefixes
 * @throws LwsError `malformed-body`; errors of `take` and of the factory
 */
export function eachN3(
  text: string,
  { format, base, factory }: N3Parsing & { readonly format: string },
  take: (quad: Quad) => void,
): Record<string, string> {
  const options = { format, factory: factory as never };
  const parser = new Parser(base === undefined ? options : { ...options, baseIRI: base });
  const prefixes: Record<string, string> = {};
  // Pass a stream that is driven synchronously, so that errors are thrown here. n3 would parse a string in a later task.
  const handlers = new Map<string, (piece?: string) => void>();
  const stream = { on: (event: string, handler: (piece?: string) => void) => void handlers.set(event, handler) };
  let failure: unknown;
  parser.parse(
    stream as never,
    (error, quad) => {
      failure ??= error ?? undefined;
      if (quad && failure === undefined) take(quad as unknown as Quad);
    },
    (prefix, iri) => {
      prefixes[prefix] = iri.value;
    },
  );
  try {
    handlers.get('data')!(text);
    handlers.get('end')!();
    if (failure !== undefined) throw failure;
  } catch (error) {
    throw faultOf(text, error);
  }
  return prefixes;
}
