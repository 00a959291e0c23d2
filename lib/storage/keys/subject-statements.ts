/** The statements of a graph about its own resource, read from the keys without decoding them. */
import { separator, suffixStart } from './key-layout.js';
import { graphPrefix, layoutOf } from './quad-keys.js';

/** A predicate and an object that is an IRI. */
export type IriStatement = readonly [predicate: string, object: string];

const keysAtATime = 5_000;

/** GSPO keys, or blocks of them. */
export type KeySource = readonly string[] | AsyncIterable<readonly string[]> | Iterable<readonly string[]>;

/**
 * The statements about a resource or a fragment of it that have an IRI as their object, from the GSPO keys of its graph; in
 * blocks, between which the event loop does other work.
 */
export async function* ownStatements(iri: string, keys: KeySource): AsyncGenerator<IriStatement[]> {
  const read = statementReader(iri);
  let since = 0;
  for await (const block of isList(keys) ? slices(keys) : keys) {
    if (since + block.length > keysAtATime) {
      await new Promise((resolve) => setImmediate(resolve));
      since = 0;
    }
    since += block.length;
    yield statementsOf(block, read);
  }
}

/** The same synchronously for a short graph, as most are; `undefined` for any other. */
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

function* slices(keys: readonly string[]): Generator<readonly string[]> {
  for (let at = 0; at < keys.length; at += keysAtATime) yield keys.slice(at, at + keysAtATime);
}

/** Reads single keys: gives the statement, or `undefined` when it is not about the resource or a fragment, or its object is no IRI. */
export function statementReader(iri: string): (key: string) => IriStatement | undefined {
  const about = graphPrefix(iri) + iri;
  const itself = about + separator;
  const fragment = `${about}#`;
  return (key) => {
    if (!key.startsWith(itself) && !key.startsWith(fragment)) return undefined;
    // The type letters of subject and object: `0` is an IRI.
    const suffixAt = suffixStart(key);
    if (key[suffixAt + 5] !== '0' || key[suffixAt + 15] !== '0') return undefined;
    const { ends } = layoutOf(key);
    return [key.slice(ends[1] + 2, ends[2]), key.slice(ends[2] + 2, suffixAt - separator.length)];
  };
}
