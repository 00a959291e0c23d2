/**
 * Files of RDF as parts of one graph.
 *
 * Which parser reads what: n3 itself Turtle, TriG and N3 (rdf-parse wraps it, without what bounds its memory and tells the line) and the
 * lines of N-Triples and N-Quads; the parsers of the storage JSON-LD and RDF/XML, which refuse more; rdf-parse everything else.
 */
import type { Quad, Term } from '@rdfjs/types';
import { DataFactory } from 'rdf-data-factory';
import { LwsError } from '../../../lib/component/basics.js';
import { parseRdf } from '../../../lib/component/rdf.js';
import type { RdfFormat } from '../../../lib/component/vocabulary.js';
import { boundedPrefixes } from '../../../lib/component/writers.js';
import type { TreeFile } from '../file-tree.js';
import type { Rewrite } from '../member.js';
import { type FilePiece, withStart } from './byte-source.js';
import { DocumentFault, documentQuads } from './foreign-documents.js';
import { lengthOfRun } from './graph-runs.js';
import { KnownQuads } from './known-part.js';
import { documentTypeOf } from './media-types.js';
import { nquadsBlocks } from './nquads-blocks.js';
import { DocumentFactory, documentKey, RewritingFactory, rewritePrefixes, rewriteQuads } from './rewritten-iris.js';
import { streamedQuads } from './streamed-quads.js';
import { SyntaxFault } from './syntax-fault.js';

/** Triples of a part, and characters of their terms. */
const [maxQuads, maxCharacters] = [10_000, 8 << 20];

/** Bytes of a file that can be read only as a whole. */
const longestWhole = 16 << 20;

export interface RdfFile {
  readonly file: TreeFile;
  /** The media type. */
  readonly type: string;
  /** The IRI that the resource will have: relative references are relative to it. */
  readonly base: string;
  readonly rewrite: readonly Rewrite[];
}

/** Quads as they come from a parser, with the prefixes so far. */
interface Found {
  readonly quads: readonly Quad[];
  readonly prefixes: Readonly<Record<string, string>>;
}

export interface RdfPart extends Found {
  readonly hasMore: boolean;
  /** Triples of this part and those before it. */
  readonly count: number;
  /** What `rdfParts` is given to continue after this part, where there is more. */
  readonly known: string;
}

/**
 * The triples of a file, rewritten. The same file gives the same parts each time, with the same blank nodes.
 * @param known the parts that are known, as the last of them says: `10000:DIGEST`
 * @throws SyntaxFault which names the file, and the line where that can be said; TransferError when what is known has changed
 */
export async function* rdfParts(file: RdfFile, known = ''): AsyncGenerator<RdfPart> {
  const [skipped = 0, digest = ''] = known === '' ? [] : [Number.parseInt(known, 10), known.replace(/^\d+:/, '')];
  const before = new KnownQuads();
  let [quads, prefixes, count, characters]: [Quad[], Found['prefixes'], number, number] = [[], {}, 0, 0];
  const part = (hasMore: boolean): RdfPart => {
    const kept = rewritePrefixes(boundedPrefixes(prefixes), file.rewrite);
    if (hasMore) for (const quad of quads) before.add(quad);
    const whole = { quads, prefixes: kept, hasMore, count, known: hasMore ? `${count}:${before.digest()}` : '' };
    [quads, characters] = [[], 0];
    return whole;
  };
  for await (const found of quadsOf(file)) {
    ({ prefixes } = found);
    for (const quad of found.quads) {
      if (quads.length >= maxQuads || characters > maxCharacters) yield part(true);
      assertPlain(quad, file.file.path);
      count++;
      if (count <= skipped) before.add(quad);
      if (count === skipped) before.assert(digest, file.file.path);
      if (count <= skipped) continue;
      quads.push(quad);
      characters += lengthOfRun(quad);
    }
  }
  if (count < skipped) before.assert('', file.file.path);
  if (quads.length > 0 || skipped === 0) yield part(false);
}

/** @throws SyntaxFault for what only N3 has, and for quads of other graphs */
function assertPlain({ subject, predicate, object, graph }: Quad, path: string): void {
  const isPlain =
    graph.termType === 'DefaultGraph' &&
    predicate.termType === 'NamedNode' &&
    (subject as Term).termType !== 'Variable' &&
    (object as Term).termType !== 'Variable';
  if (isPlain) return;
  throw new SyntaxFault(
    graph.termType === 'NamedNode'
      ? `${path}: It has named graphs, and a resource is a single graph. As a dump its graphs can be imported.`
      : `${path}: It has rules, variables or formulas of N3; what can be stored is plain RDF.`,
  );
}

async function* piecesOf({ file }: RdfFile): AsyncGenerator<FilePiece> {
  let read = 0;
  for await (const chunk of file.open()) {
    read += chunk.length;
    yield { bytes: Buffer.from(chunk.buffer, chunk.byteOffset, chunk.byteLength), read };
  }
}

async function* quadsOf(rdf: RdfFile): AsyncGenerator<Found> {
  const { type, base, rewrite } = rdf;
  const name = rdf.file.path;
  if (documentTypeOf(type)) {
    yield await parsedDocument(rdf);
    return;
  }
  if (type === 'application/ld+json' || type === 'application/rdf+xml') {
    yield await wholeDocument(rdf, type);
    return;
  }
  // Parts that came before a named graph could not be taken back.
  if (type === 'application/n-quads' || type === 'application/trig') await assertSingleGraph(rdf);
  const [start, pieces] = await withStart(piecesOf(rdf));
  const key = documentKey(start, base, JSON.stringify(rewrite));
  if (type === 'application/n-triples' || type === 'application/n-quads') {
    const factory = new RewritingFactory(rewrite, key);
    for await (const { quads, fault } of nquadsBlocks(pieces, { name, offset: 0, line: 0 }, factory)) {
      yield { quads, prefixes: {} };
      if (fault) throw fault;
    }
  } else yield* streamedQuads(pieces, { format: type, base, name }, new DocumentFactory(rewrite, key));
}

/** @throws SyntaxFault for a file with named graphs, or one that cannot be read */
async function assertSingleGraph(rdf: RdfFile): Promise<void> {
  const [name, path] = [rdf.file.path, rdf.file.path];
  const factory = (): DocumentFactory => new DocumentFactory([], '0'.repeat(24));
  const found =
    rdf.type === 'application/trig'
      ? streamedQuads(piecesOf(rdf), { format: rdf.type, base: rdf.base, name }, factory())
      : nquadsBlocks(piecesOf(rdf), { name, offset: 0, line: 0 }, factory());
  for await (const { quads } of found) for (const quad of quads) assertPlain(quad, path);
}

/** JSON-LD and RDF/XML: what stands at the end of these may change what stands before. */
async function wholeDocument(rdf: RdfFile, format: RdfFormat): Promise<Found> {
  const { base, rewrite } = rdf;
  const bytes = await wholeOf(rdf.file);
  try {
    const { quads, prefixes } = await parseRdf(bytes, format, { base });
    const key = documentKey(bytes, base, JSON.stringify(rewrite));
    return { quads: rewriteQuads(labelled(quads, key), rewrite), prefixes };
  } catch (cause) {
    if (!(cause instanceof LwsError)) throw cause;
    throw new SyntaxFault(`${rdf.file.path}: ${cause.message}`, { cause });
  }
}

/** Pages and shapes. */
async function parsedDocument({ file, type, base, rewrite }: RdfFile): Promise<Found> {
  const bytes = await wholeOf(file);
  const key = documentKey(bytes, base, JSON.stringify(rewrite));
  try {
    const { quads, prefixes } = await documentQuads({ bytes, type, base }, new DataFactory<Quad>());
    return { quads: rewriteQuads(labelled(quads, key), rewrite), prefixes };
  } catch (cause) {
    if (!(cause instanceof DocumentFault)) throw cause;
    throw new SyntaxFault(`${file.path}: ${cause.message.replace(/\.$/, '')}.`, { cause });
  }
}

async function wholeOf(file: TreeFile): Promise<Buffer> {
  if (file.size > longestWhole)
    throw new SyntaxFault(
      `${file.path}: It has more than ${longestWhole >> 20} MiB; so large a graph can be read from Turtle.`,
    );
  const chunks: Uint8Array[] = [];
  for await (const chunk of file.open()) chunks.push(chunk);
  return Buffer.concat(chunks);
}

/** With labels that are the same each time. */
function labelled(quads: readonly Quad[], key: string): Quad[] {
  const factory = new DataFactory<Quad>();
  const labels = new Map<string, Term>();
  const node = <T extends Term>(term: T): T => {
    if (term.termType !== 'BlankNode') return term;
    const known = labels.get(term.value) ?? factory.blankNode(`b${key}x${labels.size.toString(36).padStart(4, '0')}`);
    labels.set(term.value, known);
    return known as T;
  };
  return quads.map(({ subject, predicate, object }) => factory.quad(node(subject), predicate, node(object)));
}
