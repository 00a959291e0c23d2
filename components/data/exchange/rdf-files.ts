/**
 * Reads RDF files as parts of graphs: of one graph, or of several for datasets (N-Quads, TriG).
 *
 * Parsers: n3 for Turtle, TriG and N3 (without rdf-parse, which lacks the limits on memory and the line of an error) and for the
 * lines of N-Triples and N-Quads, the storage's own parsers for JSON-LD and RDF/XML, because they are stricter, and rdf-parse for
 * everything else.
 */
import type { Quad, Term } from '@rdfjs/types';
import { textOf, withStart } from '../../../lib/exchange/byte-source.js';
import { bytesOfFile, type TreeFile } from '../../../lib/exchange/file-tree.js';
import type { ParseDocument } from '../../../lib/exchange/format.js';
import { type GraphMember, SyntaxFault, TransferError } from '../../../lib/exchange/member.js';
import { freshLabels, relabeller } from '../../../lib/rdf/blank-nodes.js';
import { lengthOfTriple } from '../../../lib/rdf/bounds.js';
import type { RdfFormat } from '../../../lib/rdf/formats.js';
import { parseRdf } from '../../../lib/rdf/parse.js';
import { boundedPrefixes } from '../../../lib/rdf/prefixes.js';
import { IriRewriting, type Rewrite } from '../../../lib/storage/keys/iri-rewriting.js';
import { LwsError } from '../../../lib/tools/errors.js';
import { DocumentFactory, documentKey } from './document-factory.js';
import { isAuxiliary, nameOfSegment, segmentOf } from './file-names.js';
import { nquadsBlocks } from './nquads-blocks.js';
import { KnownQuads } from './resumable-source.js';
import { streamedQuads } from './streamed-quads.js';

/** Maximum number of triples in a part, and maximum length of their terms in characters. */
const [maxQuads, maxCharacters] = [10_000, 8 << 20];

/** Maximum size of a file that must be parsed as a whole, in bytes. */
const longestWhole = 16 << 20;

interface RdfFile {
  readonly file: TreeFile;
  /** The media type. */
  readonly type: string;
  /** The future IRI of the resource, the base of relative references. */
  readonly base: string;
  readonly rewrite: readonly Rewrite[];
  /** The parser of another component, for a type without a parser here. */
  readonly parse?: ParseDocument | undefined;
  /** True to read each graph of N-Quads and TriG. Otherwise files with named graphs are rejected. */
  readonly takesGraphs?: boolean;
}

/** Quads from a parser, with the prefixes so far. */
type Found = Pick<GraphMember, 'quads' | 'prefixes'>;

export interface RdfPart extends Found {
  /** True if the file has further parts. */
  readonly hasMore: boolean;
  /** True if the next part belongs to the same graph. */
  readonly isOpen: boolean;
  /** Resource for the graph, in files of a syntax with named graphs. */
  readonly place: GraphPlace | undefined;
  /** Number of triples of this part and of all earlier parts. */
  readonly count: number;
  /** The argument of `rdfParts` to continue after this part, if there are more. */
  readonly known: string;
}

/**
 * Yields the triples of a file, rewritten. The same file always produces the same parts with the same blank nodes.
 * @param known the last imported part: `10000:DIGEST`
 * @throws SyntaxFault with the file, and the line if known
 * @throws TransferError if the earlier parts have changed
 */
export async function* rdfParts(file: RdfFile, known = ''): AsyncGenerator<RdfPart> {
  const [skipped = 0, digest = ''] = known === '' ? [] : [Number.parseInt(known, 10), known.replace(/^\d+:/, '')];
  const before = new KnownQuads();
  const rewriting = new IriRewriting(file.rewrite);
  // The number of graphs must be known before the first part: the file is read twice.
  const places = isDataset(file) ? await placesOf(file) : undefined;
  let [quads, prefixes, count, characters]: [Quad[], Found['prefixes'], number, number] = [[], {}, 0, 0];
  let kept: Found['prefixes'] | undefined;
  const part = (next?: Quad): RdfPart => {
    // Computed once for all graphs that end in the same piece of the text.
    kept ??= rewriting.value(boundedPrefixes(prefixes));
    if (next) for (const quad of quads) before.add(quad);
    const isOpen = next !== undefined && (!places || next.graph.equals(quads[0]!.graph));
    const place = quads[0] && places?.of(quads[0].graph);
    const rest = { hasMore: next !== undefined, isOpen, count, known: next ? `${count}:${before.digest()}` : '' };
    const whole = { quads, prefixes: kept, place, ...rest };
    [quads, characters] = [[], 0];
    return whole;
  };
  for await (const found of quadsOf(file)) {
    ({ prefixes } = found);
    kept = undefined;
    for (const quad of found.quads) {
      const isOther = places && quads[0]?.graph.equals(quad.graph) === false;
      if (isOther || quads.length >= maxQuads || characters > maxCharacters) yield part(quad);
      assertPlain(quad, file);
      count++;
      if (count <= skipped) before.add(quad);
      if (count === skipped) before.assert(digest, file.file.path);
      if (count <= skipped) continue;
      quads.push(quad);
      characters += lengthOfTriple(quad);
    }
  }
  if (count < skipped) before.assert('', file.file.path);
  if (quads.length > 0 || skipped === 0) yield part();
}

const isDataset = ({ type }: RdfFile): boolean => type === 'application/n-quads' || type === 'application/trig';

/** Rejects quads that a graph cannot contain. @throws SyntaxFault for N3-only terms, and named graphs unless requested */
function assertPlain({ subject, predicate, object, graph }: Quad, file: RdfFile): void {
  const isPlain =
    (graph.termType === 'DefaultGraph' || (file.takesGraphs === true && isDataset(file))) &&
    predicate.termType === 'NamedNode' &&
    (subject as Term).termType !== 'Variable' &&
    (object as Term).termType !== 'Variable';
  if (isPlain) return;
  throw new SyntaxFault(
    graph.termType === 'NamedNode'
      ? `${file.file.path}: It has named graphs, but a resource is a single graph. Import the file as a dump.`
      : `${file.file.path}: It has N3 rules, variables or formulas. Only RDF can be stored.`,
  );
}

async function* quadsOf(rdf: RdfFile): AsyncGenerator<Found> {
  const { type, rewrite, parse } = rdf;
  const isWhole = parse || type === 'application/ld+json' || type === 'application/rdf+xml';
  if (isWhole) yield await wholeDocument(rdf);
  else yield* streamed(rdf, rewrite);
}

async function* streamed(rdf: RdfFile, rewrites: readonly Rewrite[]): AsyncGenerator<Found> {
  const { type, base, rewrite } = rdf;
  const name = rdf.file.path;
  const [start, pieces] = await withStart(textOf({ name, open: () => rdf.file.open() }, false));
  const key = documentKey(start, base, JSON.stringify(rewrite));
  if (type === 'application/n-triples' || type === 'application/n-quads') {
    const factory = new DocumentFactory(rewrites, key);
    for await (const { quads, fault } of nquadsBlocks(pieces, { name, offset: 0, line: 0 }, factory)) {
      yield { quads, prefixes: {} };
      if (fault) throw fault;
    }
  } else yield* streamedQuads(pieces, { format: type, base, name }, new DocumentFactory(rewrites, key));
}

/** Assigns IRIs to the graphs of a file. @throws SyntaxFault if the file is invalid or has too many graphs */
async function placesOf(rdf: RdfFile): Promise<GraphPlaces> {
  const places = new GraphPlaces(rdf.file.path, rdf.rewrite);
  // Graphs are added by their names in the file.
  for await (const { quads } of streamed(rdf, []))
    for (const quad of quads) {
      assertPlain(quad, rdf);
      places.add(quad.graph);
    }
  return places;
}

/**
 * Parses a file as a whole: JSON-LD and RDF/XML, where the end may change the meaning of earlier text, pages and shapes.
 * @throws SyntaxFault if it is invalid
 */
async function wholeDocument({ file, type, base, rewrite, parse }: RdfFile): Promise<Found> {
  const bytes = await bytesOfFile(file, longestWhole, ' A graph of this size can be read as Turtle.');
  try {
    const { quads, prefixes } = parse
      ? await parse({ bytes, type, base })
      : await parseRdf(bytes, type as RdfFormat, { base });
    const key = documentKey(bytes, base, JSON.stringify(rewrite));
    return { quads: new IriRewriting(rewrite).quads(relabeller(freshLabels(key))(quads)), prefixes };
  } catch (cause) {
    if (!(cause instanceof LwsError || cause instanceof TransferError)) throw cause;
    throw new SyntaxFault(`${file.path}: ${cause.message.replace(/\.$/, '')}.`, { cause });
  }
}

/** Maximum number of graphs in a file: their names are kept in memory. */
const maxGraphs = 100_000;

interface GraphPlace {
  /** Segment of the graph's IRI in the container for the file. `undefined` if the file has one graph, which is the resource. */
  readonly name: string | undefined;
  /** The IRIs of the graph in the file. Empty if the graph had none. */
  readonly oldNames: readonly string[];
}

/** Assigns IRIs to graphs in the order of the file: the same file always produces the same IRIs. */
class GraphPlaces {
  private readonly places = new Map<string, { name: string; oldNames: string[] }>();
  private readonly known = new Set<string>();
  private readonly taken = new Set<string>();
  private readonly counts = new Map<string, number>();
  private readonly rewrite: (iri: string) => string;
  private last: Term | undefined;

  /** @param file the path of the file, for messages */
  constructor(
    private readonly file: string,
    rewrites: readonly Rewrite[],
  ) {
    this.rewrite = new IriRewriting(rewrites).iri;
  }

  /** Assigns an IRI to a graph. @param graph with its name in the file @throws SyntaxFault if there are too many graphs */
  add(graph: Term): void {
    if (this.last?.equals(graph)) return;
    this.last = graph;
    const old = `${graph.termType} ${graph.value}`;
    if (this.known.has(old)) return;
    this.known.add(old);
    if (this.known.size > maxGraphs)
      throw new SyntaxFault(
        `${this.file}: It has more than ${maxGraphs} graphs. Import such a file by itself, as a dump.`,
      );
    const oldNames = graph.termType === 'NamedNode' ? [graph.value] : [];
    const key = this.keyOf(graph.termType, this.rewrite(graph.value));
    const place = this.places.get(key);
    if (place) place.oldNames.push(...oldNames);
    else this.places.set(key, { name: this.freeName(graph), oldNames });
  }

  /** Returns the resource for a graph. @param graph with its name after rewriting */
  of(graph: Term): GraphPlace | undefined {
    const place = this.places.get(this.keyOf(graph.termType, graph.value));
    return place && this.places.size === 1 ? { ...place, name: undefined } : place;
  }

  private keyOf(type: string, value: string): string {
    return `${type} ${value}`;
  }

  private freeName(graph: Term): string {
    const wanted = nameOfGraph(graph);
    let name = wanted;
    while (this.taken.has(name)) {
      const count = (this.counts.get(wanted) ?? 1) + 1;
      this.counts.set(wanted, count);
      name = `${wanted}-${count}`;
    }
    this.taken.add(name);
    return name;
  }
}

/** Returns the last non-empty part of an IRI: `prov` of `http://www.w3.org/ns/prov#`. */
function nameOfGraph({ termType, value }: Term): string {
  if (termType !== 'NamedNode') return termType === 'DefaultGraph' ? 'default' : 'graph';
  const last = value.split(/[#?:/]/).findLast((part) => part !== '') ?? '';
  const name = segmentOf(nameOfSegment(last));
  return /^\.*$/.test(name) || isAuxiliary(name) ? `graph${name}` : name;
}
