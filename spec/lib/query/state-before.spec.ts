/** Keys of a graph in memory read like those of LevelDB. */
import type { Quad } from '@rdfjs/types';
import { expect } from 'chai';
import { DataFactory } from 'rdf-data-factory';
import { LevelKeys } from '../../../lib/query/access/key-iterators.js';
import { graphState } from '../../../lib/query/state-before.js';
import { encodeGraph, indexNames, otherKeys, separator } from '../../../lib/storage/keys/quad-keys.js';
import type { LevelSnapshot } from '../../../lib/storage/level/durable-level.js';
import { graphNames, type SpecLevel, type SpecTriple, specLevel } from './engine-dataset.js';

const f = new DataFactory<Quad>();
const iri = (name: string) => f.namedNode(`http://e/${name}`);
const graph = graphNames[0]!;
/** More than one block, with terms that are prefixes of each other. */
const triples: readonly SpecTriple[] = Array.from({ length: 5000 }, (_, at) => ({
  subject: iri(`s${at % 700}`),
  predicate: iri(`p${at % 3}`),
  object: at % 2 ? f.literal(`o\u00e9${at % 900}`) : iri(`o${at % 900}`),
}));

describe('query/state-before', () => {
  let store: SpecLevel;
  let snapshot: LevelSnapshot;
  before(async () => {
    store = await specLevel();
    await store.fill(new Map([[graph, triples]]));
    snapshot = store.level.snapshot();
  });
  after(async () => {
    await snapshot.close();
    await store.close();
  });

  const keys = encodeGraph(graph, triples as never);
  const lists = graphState({ iri: graph, kind: 'rdf', keys }, () => {}).keys();
  const all = async (blocks: AsyncIterable<readonly string[]>): Promise<string[]> => {
    const found: string[] = [];
    for await (const block of blocks) found.push(...block);
    return found;
  };
  /** Key prefixes of every length, including complete and nonexistent ones. */
  const prefixes = indexNames.flatMap((index, at) => {
    const own = [0, 1700, 4999].map((number) => (at === 0 ? keys[number]! : otherKeys(keys[number]!)[at - 1]!));
    const beginnings = own.flatMap((key) => {
      const parts = key.split(separator);
      return [2, 3, 4].map((count) => parts.slice(0, count).join(separator) + separator);
    });
    return [`${index}${separator}`, ...beginnings, `${index}${separator}http://e/absent${separator}`];
  });

  it('returns the same keys for every prefix, leaps to the same targets, and has the same keys', async () => {
    const level: typeof lists = new LevelKeys(store.level, snapshot, () => {});
    for (const prefix of prefixes) {
      const expected = await all(level.blocks(prefix));
      expect((await all(lists.blocks(prefix))).sort(), prefix).to.deep.equal(expected.sort());
      const read = (from: typeof level) =>
        from.lend(prefix.slice(0, 4) as never, async (iterator) => {
          iterator.seek(prefix);
          return iterator.nextv(3);
        });
      expect(await read(lists), prefix).to.deep.equal(await read(level));
    }
    for (const key of [keys[0]!, keys[3]!, `${keys[3]}x`]) expect(lists.hasKey(key)).to.equal(level.hasKey(key));
    await level.close();
  });

  it('leaps to a target that is set after a block', async () => {
    const prefix = `GSPO${separator}${graph}${separator}`;
    const target = `${prefix}http://e/s9`;
    let isFirst = true;
    const found = await all(
      lists.leaps(prefix, () => {
        const next = isFirst ? target : undefined;
        isFirst = false;
        return next;
      }),
    );
    expect(found.slice(0, 2000)).to.deep.equal([...keys].sort().slice(0, 2000));
    expect(found.slice(2000)).to.deep.equal([...keys].sort().filter((key, at) => at >= 2000 && key >= target));
    expect(found.length).to.be.below(keys.length);
  });

  it('checks regularly if the work must stop', () => {
    const ended = graphState({ iri: graph, kind: 'rdf', keys }, () => {
      throw new Error('ended');
    }).keys();
    return all(ended.blocks(`SPOG${separator}`)).then(
      () => expect.fail('it did not stop'),
      (error: Error) => expect(error.message).to.equal('ended'),
    );
  });
});
