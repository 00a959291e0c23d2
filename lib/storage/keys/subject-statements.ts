/** Statements of a graph about its own resource, read from the keys without decoding them. */
import { beginsWith } from '../../tools/begins-with.js';
import { slices } from '../../tools/collections.js';
import { yieldToEventLoop } from '../../tools/event-loop.js';
import { separator, suffixStart } from './key-layout.js';
import { graphPrefix, layoutOf } from './quad-keys.js';

/** Predicate and object IRI. */
export type IriStatement = readonly [predicate: string, object: string];

const keysAtATime = 5_000;

/** GSPO keys, or blocks of them. */
export type KeySource = readonly string[] | AsyncIterable<readonly string[]> | Iterable<readonly string[]>;

/**
 * Returns the statements about a resource or its fragments with an IRI as object, from the GSPO keys of its graph. Reads in
 * blocks and yields to the event loop.
 */
export async function* ownStatements(iri: string, keys: KeySource): AsyncGenerator<IriStatement[]> {
  const read = statementReader(iri);
  let since = 0;
  for await (const block of isList(keys) ? slices(keys, keysAtATime) : keys) {
    if (since + block.length > keysAtATime) {
      await yieldToEventLoop();
      since = 0;
    }
    since += block.length;
    yield statementsOf(block, read);
  }
}

/** Like `ownStatements`, but synchronous, for a short graph; `undefined` for other graphs. */
export const ofShortGraph = (iri: string, keys: KeySource): IriStatement[] | undefined =>
  isList(keys) && keys.length <= keysAtATime ? statementsOf(keys, statementReader(iri)) : undefined;

function statementsOf(keys: readonly string[], read: ReturnType<typeof statementReader>): IriStatement[] {
  const found: IriStatement[] = [];
  for (const key of keys) {
    const statement = read(key);
    if (statement) found.push(statement);
  }
  return found;
}

const isList = (keys: KeySource): keys is readonly string[] =>
  Array.isArray(keys) && (keys.length === 0 || typeof keys[0] === 'string');

/** Returns a reader of statements. It returns `undefined` for keys that are not about the resource or have no IRI as object. */
export function statementReader(iri: string): (key: string) => IriStatement | undefined {
  const about = graphPrefix(iri) + iri;
  const itself = about + separator;
  const fragment = `${about}#`;
  return (key) => {
    // Type letters of subject and object: `0` is an IRI. Most objects are literals.
    const suffixAt = suffixStart(key);
    if (key[suffixAt + 5] !== '0' || key[suffixAt + 15] !== '0') return undefined;
    if (!beginsWith(key, itself) && !beginsWith(key, fragment)) return undefined;
    const { ends } = layoutOf(key);
    return [key.slice(ends[1] + 2, ends[2]), key.slice(ends[2] + 2, suffixAt - separator.length)];
  };
}
