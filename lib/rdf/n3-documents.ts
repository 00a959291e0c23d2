/** Documents that n3 reads: Turtle, TriG, N-Triples and N-Quads, at once or triple by triple. */
import type { Quad } from '@rdfjs/types';
import { Parser } from 'n3';
import type { DataFactory } from 'rdf-data-factory';
import { LwsError } from '../errors.js';

/** The lines of N-Triples: each has one triple and all of it, or none (RDF 1.1 N-Triples, section 7). */
const blank = /[ \t]*/y;
const label = /[^\s<"]*/y;
/** RDF 1.2 N-Triples; the parser looks at the rest of the line. */
const version = /^[ \t]*VERSION[ \t]/i;
const suffix = /\^\^<[^>]*>|@[\w-]+/y;

/** The number of the first line that is neither one whole triple nor none; `undefined` when all are. */
export function strayLine(text: string): number | undefined {
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
    for (let term = 0; term < 3; term++) at = endOf(blank, line, termEnd(line, at));
    if (line[at] !== '.') return false;
    at = endOf(blank, line, at + 1);
  }
  return at === line.length || line[at] === '#';
}

/** The index after the term that begins there; after the line where none does. */
function termEnd(line: string, start: number): number {
  const none = line.length + 1;
  if (line[start] === '<') return line.indexOf('>', start) + 1 || none;
  if (line[start] === '_') {
    let end = endOf(label, line, start);
    // A label does not end in a full stop: that is the triple's.
    while (line[end - 1] === '.') end--;
    return end;
  }
  if (line[start] !== '"') return none;
  let end = start + 1;
  for (; end < line.length && line[end] !== '"'; end++) if (line[end] === '\\') end++;
  return endOf(suffix, line, end + 1);
}

/** The index after what a sticky pattern matches there. */
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

/** All at once. @throws LwsError `malformed-body` */
export function parseN3(text: string, format: string, { base, factory }: N3Parsing): RdfDocument {
  const prefixes: Record<string, string> = {};
  // n3's own terms work out their parts at every access.
  const options = { format, factory: factory as never };
  const parser = new Parser(base === undefined ? options : { ...options, baseIRI: base });
  try {
    const quads = parser.parse(text, null, (prefix, iri) => {
      prefixes[prefix] = iri.value;
    });
    return { quads, prefixes };
  } catch (error) {
    if (error instanceof LwsError) throw error;
    throw malformed(describeN3Error(text, error as N3Error), error);
  }
}

/** The same of N-Triples and N-Quads, whose lines have one triple each. @throws LwsError `malformed-body` */
export function parseLines(text: string, format: string, { factory }: N3Parsing): RdfDocument {
  const document = parseN3(text, format, { factory });
  // Lines with a graph are no triples, and refused for their graph; so are those with triple terms, for these.
  const isPlain = ({ graph, object }: Quad): boolean => graph.termType === 'DefaultGraph' && object.termType !== 'Quad';
  if (document.quads.every(isPlain)) assertTripleLines(text);
  return document;
}

export const isInDefaultGraph = ({ graph }: Quad): boolean => graph.termType === 'DefaultGraph';

/** N-Triples has each triple on a line of its own, which n3 does not mind. @throws LwsError `malformed-body` */
export function assertTripleLines(text: string): void {
  const line = strayLine(text);
  if (line !== undefined) throw malformed(`N-Triples has one triple on a line, and all of it, unlike line ${line}`);
}

interface N3Error extends Error {
  context?: { line?: number; token?: { start?: number }; previousToken?: { line: number; end: number } };
}

/** n3 says the line, and the column only through the token before the fault. */
function describeN3Error(text: string, error: N3Error): string {
  const { line, token, previousToken } = error.context ?? {};
  const message = error.message.replace(/ on line \d+\.?$/, '').slice(0, 200);
  if (line === undefined) return message;
  const content = text.split(/\r\n|\r|\n/, line)[line - 1] ?? '';
  const from = previousToken?.line === line ? previousToken.end : 0;
  const at = token?.start ?? from + (/\S/.exec(content.slice(from))?.index ?? 0);
  return `${message} at line ${line}, column ${at + 1}`;
}

export const malformed = (what: string, cause?: unknown): LwsError =>
  new LwsError('malformed-body', `The RDF document cannot be read: ${what}.`, { cause });

export const namedGraph = (): LwsError =>
  new LwsError(
    'named-graph',
    'The document has triples in a named graph. A resource is a single graph: put them into the default graph.',
  );

/**
 * Triple by triple, where `parseN3` makes all tokens first.
 * @returns the prefixes
 * @throws LwsError `malformed-body`; what `take` and the factory throw
 */
export function eachN3(
  text: string,
  { format, base, factory }: N3Parsing & { readonly format: string },
  take: (quad: Quad) => void,
): Record<string, string> {
  const options = { format, factory: factory as never };
  const parser = new Parser(base === undefined ? options : { ...options, baseIRI: base });
  const prefixes: Record<string, string> = {};
  // A stream that is driven from here, so that what is thrown is thrown here; a string is read in a task of its own.
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
    if (error instanceof LwsError) throw error;
    throw malformed(describeN3Error(text, error as N3Error), error);
  }
  return prefixes;
}
