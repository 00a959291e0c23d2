/** Limits of parsed documents: a few bytes can produce many triples, and long terms through a prefix or a base. */
import type { BaseQuad, NamedNode, Quad, Term } from '@rdfjs/types';
import { DataFactory } from 'rdf-data-factory';
import { LwsError } from '../tools/errors.js';

/** Maximum IRI length in characters (rule 1.13). */
const longestIri = 64 << 10;

/** @throws LwsError `malformed-body` */
export function assertIriLength({ length }: string): void {
  if (length > longestIri)
    throw new LwsError('malformed-body', `An IRI of ${length} characters is too long. The limit is ${longestIri}.`);
}

/** Maximum number of triple terms within each other (rule 1.16). */
export const maxTripleDepth = 16;
export const nestedTooDeep = (): LwsError =>
  new LwsError('too-large', `Triple terms are nested more than ${maxTripleDepth} levels deep.`);

/** Checks a term whose inner triple terms were checked. @throws LwsError `too-large` */
export function assertTripleDepth(term: Term): void {
  let depth = 0;
  for (let inner = term; inner.termType === 'Quad'; inner = inner.object)
    if (++depth > maxTripleDepth) throw nestedTooDeep();
}

export interface Bounds {
  /** `lws.rdf.max-triples` */
  readonly triples: number;
  /** `lws.json.max-values`, for JSON-LD too. */
  readonly values?: number;
}

/** Defaults. */
export const usualBounds: Bounds = { triples: 500_000 };

/** Characters of terms allowed for every document, per byte of the document, and per triple. */
const [characters, perByte, perTriple] = [4 << 20, 16, 512];

/**
 * Enforces the limits on triples and on characters of terms while a document is parsed: prefixes make terms longer than the
 * text.
 */
export class Expansion {
  private triples = 0;
  private characters = 0;

  /** @param length of the document, in bytes */
  constructor(
    private readonly length: number,
    private readonly bounds: Bounds,
  ) {}

  /** @throws LwsError `too-large` */
  add({ subject, predicate, object }: Pick<Quad, 'subject' | 'predicate' | 'object'>): void {
    this.triples++;
    if (this.triples > this.bounds.triples) throw tooMany(this.bounds);
    this.characters += subject.value.length + predicate.value.length + lengthOf(object);
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
    'The terms of the document are much longer than the document. Shorten its prefixes or its base.',
  );

/** Usual maximum length of context texts, in characters. */
const usualNamespace = 512;

/**
 * Checks a JSON-LD document before its names become IRIs: each name may get the longest text of a context, or the base, as
 * prefix.
 * @param length of the document, in bytes
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
      // `jsonld` copies objects member by member and would drop this member.
      if (key === '__proto__')
        throw new LwsError('malformed-body', 'A JSON-LD document cannot have a member "__proto__". Rename the term.');
      names++;
      open.push({ node: value, isContext: isContext || key === '@context' });
    }
  }
  if (longest > usualNamespace && longest * names > characters + length * perByte) throw tooLong();
}

/** Same check for the text of an update, whose prefixed names contain a colon. @throws LwsError `too-large` */
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

/** Growth of a graph: number of triples, and characters of added keys. */
export interface Growth {
  readonly before: number;
  readonly after: number;
  readonly characters: number;
}

/** Checks the result of an update. @param length of the update @throws LwsError `too-large` if the graph grew beyond the limits */
export function assertGrown({ before, after, characters: grown }: Growth, length: number, bounds: Bounds): void {
  if (after > Math.max(before, bounds.triples)) throw tooMany(bounds);
  if (grown > characters + length * perByte + Math.max(0, after - before) * perTriple) throw tooLong();
}

/** Length of a term in characters. @throws LwsError as `assertTripleDepth` */
function lengthOf(term: Term): number {
  if (term.termType !== 'Quad') return term.value.length;
  assertTripleDepth(term);
  return lengthOfTriple(term);
}

/** Length of the terms of a triple in characters, also within triple terms. */
export const lengthOfTriple = ({
  subject,
  predicate,
  object,
}: Pick<BaseQuad, 'subject' | 'predicate' | 'object'>): number =>
  subject.value.length +
  predicate.value.length +
  (object.termType === 'Quad' ? lengthOfTriple(object) : object.value.length);

/** Term factory that counts quads. */
export class CountingFactory extends DataFactory<Quad> {
  constructor(private readonly expansion: Expansion) {
    super();
  }

  override namedNode<Iri extends string>(value: Iri): NamedNode<Iri> {
    assertIriLength(value);
    return super.namedNode(value);
  }

  override quad(
    subject: Quad['subject'],
    predicate: Quad['predicate'],
    object: Quad['object'],
    graph?: Quad['graph'],
  ): Quad {
    this.expansion.add({ subject, predicate, object });
    return super.quad(subject, predicate, object, graph);
  }
}
