/** Opens posting lists, restricted to resources that the caller can read. */

import { type IriRange, only, unionOfRanges } from '../../../lib/storage/keys/iri-ranges.js';
import { entryRange } from '../../../lib/storage/keys/records.js';
import { ListStream, type SortedStream, type SteppedStream } from '../../../lib/storage/level/entry-cursor.js';
import { areMany, postingRanges, RangedStream, SkippingStream } from '../postings/ranged-stream.js';
import { textSpace } from './entries.js';
import type { Searched } from './searched.js';

/** Stream of the resources in a list of postings. The first part of a posting is its resource. */
export class Grouped implements SortedStream {
  /** Next posting that has not been consumed. */
  private text: string | undefined;

  constructor(private readonly stream: SteppedStream) {}

  seek(target: string): string | undefined | Promise<string | undefined> {
    if (this.text !== undefined && this.text >= target) return this.at(this.text, target);
    const found = this.stream.seek(target);
    return found instanceof Promise ? found.then((text) => this.at(text, target)) : this.at(found, target);
  }

  private at(text: string | undefined, target: string): string | undefined | Promise<string | undefined> {
    this.text = text;
    if (text === undefined) return undefined;
    const iri = text.slice(0, text.indexOf('\u0000'));
    // If the target directly follows the IRI, the group is before it: seek behind the group.
    return iri < target ? this.seek(`${iri}\u0001`) : iri;
  }

  /** Returns the remainder of each posting of the current resource, and advances to the next resource. */
  tails(): string[] | Promise<string[]> {
    const { text } = this;
    const prefix = text!.slice(0, text!.indexOf('\u0000') + 1);
    return this.collect(prefix, text, []);
  }

  private collect(prefix: string, from: string | undefined, tails: string[]): string[] | Promise<string[]> {
    let text = from;
    while (text?.startsWith(prefix)) {
      tails.push(text.slice(prefix.length));
      const next = this.stream.next();
      if (next instanceof Promise) return next.then((found) => this.collect(prefix, found, tails));
      text = next;
    }
    this.text = text;
    return tails;
  }
}

/** Restricts a cursor over all tokens to the postings of one token. */
class OfToken implements SteppedStream {
  private readonly prefix: string;

  constructor(
    private readonly all: SteppedStream,
    token: string,
  ) {
    this.prefix = `${token}\u0000`;
  }

  seek(target: string): string | undefined | Promise<string | undefined> {
    return this.rest(this.all.seek(this.prefix + target));
  }

  next(): string | undefined | Promise<string | undefined> {
    return this.rest(this.all.next());
  }

  private rest(
    found: string | undefined | Promise<string | undefined>,
  ): string | undefined | Promise<string | undefined> {
    if (found instanceof Promise) return found.then((text) => this.rest(text));
    return found?.startsWith(this.prefix) ? found.slice(this.prefix.length) : undefined;
  }
}

/**
 * Opens the list of a token. Must be called synchronously after the snapshot was taken. @returns a function that opens the
 * postings: only those of readable resources, unless access is evaluated per resource
 */
export function openPostings(searched: Searched, token: string): () => Grouped {
  const { texts, snapshot, scope } = searched;
  const list = texts.cached(token);
  return () => {
    if (typeof scope === 'string') return new Grouped(list ? new ListStream(list) : snapshot.cursor(textSpace, token));
    const iris = searched.vocabulary.tokens.get(token) ?? [];
    const ranges = iris.length === 0 ? searched.ranges : unionOfRanges([...searched.ranges, ...iris.map(only)]);
    return ranged(searched, token, ranges, list);
  };
}

/** Returns the postings of a token within ranges. @param list all postings of the token, if cached */
function ranged(searched: Searched, token: string, ranges: readonly IriRange[], list?: readonly string[]): Grouped {
  const { snapshot } = searched;
  const inMemory = list && new ListStream(list);
  if (areMany(ranges)) {
    searched.isStepped = true;
    return new Grouped(new SkippingStream(postingRanges(ranges), inMemory ?? snapshot.cursor(textSpace, token)));
  }
  const keys = entryRange(textSpace, token);
  return new Grouped(new RangedStream(postingRanges(ranges), (range) => inMemory ?? snapshot.cursorIn(keys, range)));
}

/** Yields the postings of each word with a beginning: of all words, or of words in readable resources. */
export async function* postingsWith(searched: Searched, beginning: string): AsyncGenerator<Grouped> {
  const { scope, snapshot, single, vocabulary } = searched;
  if (scope !== 'everything') {
    const all = scope === 'decide' ? undefined : unionOfRanges([...scope.ranges, ...single.map(only)]);
    for (const [token, iris] of vocabulary.beginnings.get(beginning) ?? [])
      yield ranged(searched, token, all && all.length < iris.length ? all : unionOfRanges(iris.map(only)));
    return;
  }
  const all = snapshot.cursor(textSpace);
  for (let text = await all.seek(beginning); text?.startsWith(beginning); ) {
    const token = text.slice(0, text.indexOf('\u0000'));
    yield new Grouped(new OfToken(all, token));
    text = await all.seek(`${token}\u0001`);
  }
}
