/** What a graph says of its own resource, read off its keys without decoding them. It must not know what it is for. */
import { graphPrefix, layoutOf, separator } from './quad-keys.js';

/** A predicate and an object that is an IRI. */
export type IriStatement = readonly [predicate: string, object: string];

const keysAtATime = 5_000;

/**
 * The statements with an IRI as their object about a resource or a fragment of it, from the GSPO keys of its graph; in
 * blocks, between which other work gets its turn.
 */
export async function* ownStatements(iri: string, keys: readonly string[]): AsyncGenerator<IriStatement[]> {
  const about = graphPrefix(iri) + iri;
  const itself = about + separator;
  const fragment = `${about}#`;
  for (let at = 0; at < keys.length; at += keysAtATime) {
    if (at > 0) await new Promise((resolve) => setImmediate(resolve));
    const found: IriStatement[] = [];
    for (const key of keys.slice(at, at + keysAtATime)) {
      if (!key.startsWith(itself) && !key.startsWith(fragment)) continue;
      const { suffixAt, ends } = layoutOf(key);
      // The type letters of subject and object: `0` is an IRI.
      if (key[suffixAt + 5] !== '0' || key[suffixAt + 15] !== '0') continue;
      found.push([key.slice(ends[1] + 2, ends[2]), key.slice(ends[2] + 2, suffixAt - separator.length)]);
    }
    yield found;
  }
}
