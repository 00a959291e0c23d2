/**
 * What a document may become: a string of a few bytes can say many triples, and each of their terms can be long where a prefix or a base
 * is.
 */
import type { NamedNode, Quad, Term } from '@rdfjs/types';
import { DataFactory } from 'rdf-data-factory';
import { LwsError } from '../errors.js';

/** Characters of an IRI (rule 1.13). */
const longestIri = 64 << 10;

/** @throws LwsError `malformed-body` */
export function assertIriLength({ length }: string): void {
  if (length > longestIri)
    throw new LwsError('malformed-body', `An IRI of ${length} characters is too long; ${longestIri} are possible.`);
}

export interface Bounds {
  /** `lws.rdf.max-triples` */
  readonly triples: number;
  /** `lws.json.max-values`, of JSON-LD as of other JSON. */
  readonly values?: number;
}

/** Where nobody set any. */
export const usualBounds: Bounds = { triples: 500_000 };

/** Characters of terms that any document may have; further ones for each byte of it, and for each of its triples. */
const [characters, perByte, perTriple] = [4 << 20, 16, 512];

/** Counts the triples of a document while it is read. */
export class Expansion {
  private triples = 0;
  private characters = 0;

  /** @param length of the document */
  constructor(
    private readonly length: number,
    private readonly bounds: Bounds,
  ) {}

  /** @throws LwsError `too-large` */
  add({ subject, predicate, object }: Pick<Quad, 'subject' | 'predicate' | 'object'>): void {
    this.triples++;
    if (this.triples > this.bounds.triples) throw tooMany(this.bounds);
    this.characters += lengthOf(subject) + lengthOf(predicate) + lengthOf(object);
    if (this.characters > characters + this.length * perByte + this.triples * perTriple) throw tooLong();
  }
}

const tooMany = ({ triples }: Bounds): LwsError =>
  new LwsError(
    'too-large',
    `The document has more than ${triples} triples (lws.rdf.max-triples). Split it into several resources.`,
  );
const tooLong = (): LwsError =>
  new LwsError(
    'too-large',
    'The terms of the document are much longer than the document: its prefixes or its base are too long.',
  );

/** What contexts are made of has at most so many characters, mostly. */
const usualNamespace = 512;

/**
 * Looks at a JSON document before its names become IRIs: in the worst case each of them gets the longest text of a context, or
 * the base, before it.
 * @param length of the document
 * @throws LwsError `too-large`, `malformed-body` for a member that `jsonld` would drop
 */
export function assertExpandable(document: unknown, base: string, length: number): void {
  let longest = base.length;
  let names = 0;
  const open: { readonly node: unknown; readonly isContext: boolean }[] = [{ node: document, isContext: false }];
  for (let at = open.pop(); at; at = open.pop()) {
    const { node, isContext } = at;
    if (typeof node === 'string') {
      if (isContext) longest = Math.max(longest, node.length);
      else names++;
    }
    if (typeof node !== 'object' || node === null) continue;
    for (const [key, value] of Object.entries(node)) {
      // `jsonld` copies objects member by member, and would drop it.
      if (key === '__proto__')
        throw new LwsError('malformed-body', 'A JSON-LD document cannot have a member "__proto__". Rename the term.');
      names++;
      open.push({ node: value, isContext: isContext || key === '@context' });
    }
  }
  if (longest > usualNamespace && longest * names > characters + length * perByte) throw tooLong();
}

/** The same for the text of an update, whose names have a colon each. @throws LwsError `too-large` */
export function assertExpandableText(text: string): void {
  let [longest, names, before, last] = [0, 0, '', ''];
  for (const [token] of text.matchAll(/<[^<>]*>?|[^\s<]+/g)) {
    if (!token.startsWith('<')) for (let at = token.indexOf(':'); at >= 0; at = token.indexOf(':', at + 1)) names++;
    else if (/^prefix$/i.test(before) || /^base$/i.test(last)) longest = Math.max(longest, token.length);
    else names++;
    [before, last] = [last, token];
  }
  if (longest > usualNamespace && longest * names > characters + text.length * perByte) throw tooLong();
}

/** How a graph has grown: its triples, and the characters of their keys that came. */
export interface Growth {
  readonly before: number;
  readonly after: number;
  readonly characters: number;
}

/**
 * Looks at what an update makes of a graph.
 * @param length of the update
 * @throws LwsError `too-large`, where it has grown
 */
export function assertGrown({ before, after, characters: grown }: Growth, length: number, bounds: Bounds): void {
  if (after > Math.max(before, bounds.triples)) throw tooMany(bounds);
  if (grown > characters + length * perByte + Math.max(0, after - before) * perTriple) throw tooLong();
}

const lengthOf = ({ value }: Term): number => value.length;

/** Makes terms, and quads that are counted. */
export class CountingFactory extends DataFactory<Quad> {
  constructor(private readonly expansion: Expansion) {
    super();
  }

  override namedNode<Iri extends string>(value: Iri): NamedNode<Iri> {
    assertIriLength(value);
    return super.namedNode(value);
  }

  override quad(...[subject, predicate, object, graph]: Parameters<DataFactory<Quad>['quad']>): Quad {
    this.expansion.add({ subject, predicate, object });
    return super.quad(subject, predicate, object, graph);
  }
}
