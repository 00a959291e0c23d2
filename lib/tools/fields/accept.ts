/** `Accept` field: parser and choice among offered media types (RFC 9110 12.5.1). */
import { parseMediaType } from './media-type.js';
import { noParameters, splitList, without } from './syntax.js';

/** A media range: lower-case type and subtype or `*`, parameters without `q`, and `q` from 0 to 1. */
export interface MediaRange {
  readonly type: string;
  readonly subtype: string;
  readonly parameters: ReadonlyMap<string, string>;
  readonly q: number;
}

interface Offer {
  readonly type: string;
  readonly subtype: string;
  readonly parameters: ReadonlyMap<string, string>;
}

const anything: readonly MediaRange[] = [{ type: '*', subtype: '*', parameters: noParameters, q: 1 }];
const weightPattern = /^(?:0(?:\.\d{0,3})?|1(?:\.0{0,3})?)$/;

/**
 * Parses `Accept` into media ranges, in the order of the field. Skips malformed members. Returns undefined if none is valid. `q`
 * is accepted at any position among the parameters (RFC 9110 12.4.2, 12.5.1).
 */
export function parseAccept(field: string): readonly MediaRange[] | undefined {
  if (field === '*/*') return anything;
  const ranges: MediaRange[] = [];
  for (const member of splitList(field)) {
    const range = parseRange(member);
    if (range) ranges.push(range);
  }
  return ranges.length === 0 ? undefined : ranges;
}

/**
 * Returns the quality (0 to 1) of an offered media type: the quality of the most specific matching range, or 0 if none matches.
 * Among equally specific ranges the highest quality counts (RFC 9110 12.5.1).
 */
export function qualityOf(ranges: readonly MediaRange[], offer: string): number {
  return decidingRange(ranges, offer)?.q ?? 0;
}

/**
 * Returns the offer with the highest quality. Ties are resolved by the most specific range, then by order. Returns undefined if
 * no offer is acceptable (RFC 9110 12.5.1).
 */
export function chooseMediaType(ranges: readonly MediaRange[], offers: readonly string[]): string | undefined {
  let chosen: string | undefined;
  let bestQuality = 0;
  let bestSpecificity = -1;
  for (const offer of offers) {
    const range = decidingRange(ranges, offer);
    if (!range || range.q === 0 || range.q < bestQuality) continue;
    const specificity = specificityOf(range);
    if (range.q === bestQuality && specificity <= bestSpecificity) continue;
    chosen = offer;
    bestQuality = range.q;
    bestSpecificity = specificity;
  }
  return chosen;
}

/** Outcome of `Accept-Encoding`. */
export interface AcceptedCoding {
  /** Content coding of the response; `undefined` for none. */
  readonly coding: string | undefined;
  /** True if an uncoded response is not acceptable. */
  readonly isRequired: boolean;
}

/**
 * Returns the offered content coding with the highest quality; ties are resolved by order. A coding is preferred to `identity`
 * unless the field gives `identity` a higher quality (RFC 9110 12.5.3). Skips malformed members.
 */
export function chooseCoding(field: string, offers: readonly string[]): AcceptedCoding {
  const weights = new Map<string, number>();
  for (const member of splitList(field)) {
    const [, name, weight = '1'] = /^([\w!#$%&'*+.^`|~-]+)(?:[ \t]*;[ \t]*q=([\d.]+))?$/i.exec(member.trim()) ?? [];
    if (name !== undefined && weightPattern.test(weight))
      weights.set(name.toLowerCase().replace(/^x-(?=gzip$)/, ''), Number(weight));
  }
  const other = weights.get('*');
  const identity = weights.get('identity') ?? (other === 0 ? 0 : undefined);
  let [coding, best]: [string | undefined, number] = [undefined, 0];
  for (const offer of offers) {
    const quality = weights.get(offer) ?? other ?? 0;
    if (quality > best) [coding, best] = [offer, quality];
  }
  return { coding: (identity ?? 0) > best ? undefined : coding, isRequired: identity === 0 };
}

function parseRange(member: string): MediaRange | undefined {
  const media = parseMediaType(member);
  if (!media) return undefined;
  const { type, subtype, parameters } = split(media.essence, media.parameters);
  if (type === '*' && subtype !== '*') return undefined;
  const weight = parameters.get('q');
  if (weight === undefined) return { type, subtype, parameters, q: 1 };
  if (!weightPattern.test(weight)) return undefined;
  return { type, subtype, parameters: without(parameters, 'q'), q: Number(weight) };
}

function split(essence: string, parameters: ReadonlyMap<string, string>): Offer {
  const slash = essence.indexOf('/');
  return { type: essence.slice(0, slash), subtype: essence.slice(slash + 1), parameters };
}

function decidingRange(ranges: readonly MediaRange[], field: string): MediaRange | undefined {
  const media = parseMediaType(field);
  if (!media) return undefined;
  const offer = split(media.essence, media.parameters);
  let best: MediaRange | undefined;
  let bestSpecificity = -1;
  for (const range of ranges) {
    if (!matches(range, offer)) continue;
    const specificity = specificityOf(range);
    if (specificity < bestSpecificity) continue;
    if (specificity === bestSpecificity && range.q <= best!.q) continue;
    best = range;
    bestSpecificity = specificity;
  }
  return best;
}

function matches(range: MediaRange, offer: Offer): boolean {
  if (range.type !== '*' && range.type !== offer.type) return false;
  if (range.subtype !== '*' && range.subtype !== offer.subtype) return false;
  for (const [name, value] of range.parameters) {
    // The server always writes UTF-8: a charset neither excludes an offer nor makes a range more specific.
    if (name !== 'charset' && offer.parameters.get(name) !== value) return false;
  }
  return true;
}

/** Returns the specificity of a range: parameters outweigh the type, and the type outweighs the wildcard. */
function specificityOf(range: MediaRange): number {
  const { size } = range.parameters;
  const counted = size > 0 && range.parameters.has('charset') ? size - 1 : size;
  return counted * 3 + (range.type === '*' ? 0 : range.subtype === '*' ? 1 : 2);
}
