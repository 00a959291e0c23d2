/** Limits of parsed documents: with a prefix or a base, a few bytes can produce many triples and long terms. */
import type { BaseQuad, NamedNode, Quad, Term } from '@rdfjs/types';
import { DataFactory } from 'rdf-data-factory';
import { LwsError } from '../tools/errors.js';

/** Maximum IRI length in characters (rule 1.13). */
const longestIri = 64 << 10;

/** Asserts the maximum length of an IRI. @throws LwsError `malformed-body` */
export function assertIriLength({ length }: string): void {
  if (length > longestIri)
    throw new LwsError('malformed-body', `An IRI of ${length} characters is too long. The limit is ${longestIri}.`);
}

/** Maximum nesting of triple terms (rule 1.16). */
export const maxTripleDepth = 16;
export const nestedTooDeep = (): LwsError =>
  new LwsError('too-large', `Triple terms are nested more than ${maxTripleDepth} levels deep.`);

/** Asserts the maximum nesting of a term whose inner triple terms were checked before. @throws LwsError `too-large` */
export function assertTripleDepth(term: Term): void {
  let depth = 0;
  for (let inner = term; inner.termType === 'Quad'; inner = inner.object)
    if (++depth > maxTripleDepth) throw nestedTooDeep();
}

export interface Bounds {
  /** Maximum triples (`lws.rdf.max-triples`). */
  readonly triples: number;
  /** Maximum JSON values (`lws.json.max-values`), also in JSON-LD. */
  readonly values?: number;
}

/** Default limits of a document. */
export const usualBounds: Bounds = { triples: 500_000 };

/** Maximum characters of terms: a fixed count, plus a count per byte of the document, plus a count per triple. */
const [characters, perByte, perTriple] = [4 << 20, 16, 512];

/** Enforces the limits on triples and characters of terms while parsing: prefixes make terms longer than the text. */
export class Expansion {
  private triples = 0;
  private characters = 0;

  /** @param length length of the document in bytes */
  constructor(
    private readonly length: number,
    private readonly bounds: Bounds,
  ) {}

  /** Counts a triple. @throws LwsError `too-large` */
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

/** Length of context texts up to which the check is skipped, in characters. */
const usualNamespace = 512;

/**
 * Checks a JSON-LD document before names are expanded to IRIs: each name could get the base or the longest
 * text of a context as prefix.
 * @param length of the document in bytes
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

/** Checks the text of an update like `assertExpandable`. Names with a colon count as prefixed. @throws LwsError `too-large` */
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

/** Growth of a graph: triple counts before and after, and characters of added keys. */
export interface Growth {
  readonly before: number;
  readonly after: number;
  readonly characters: number;
}

/** Asserts that the result of an update is within the limits. @param length of the update @throws LwsError `too-large` */
export function assertGrown({ before, after, characters: grown }: Growth, length: number, bounds: Bounds): void {
  if (after > Math.max(before, bounds.triples)) throw tooMany(bounds);
  if (grown > characters + length * perByte + Math.max(0, after - before) * perTriple) throw tooLong();
}

/** Returns the length of a term in characters. @throws LwsError as `assertTripleDepth` */
function lengthOf(term: Term): number {
  if (term.termType !== 'Quad') return term.value.length;
  assertTripleDepth(term);
  return lengthOfTriple(term);
}

/** Returns the length of the terms of a triple in characters, including terms within triple terms. */
export const lengthOfTriple = ({
  subject,
  predicate,
  object,
}: Pick<BaseQuad, 'subject' | 'predicate' | 'object'>): number =>
  subject.value.length +
  predicate.value.length +
  (object.termType === 'Quad' ? lengthOfTriple(object) : object.value.length);

/** Term factory that asserts limits, and counts quads. */
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
