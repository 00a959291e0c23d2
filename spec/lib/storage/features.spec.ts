/**
 * Features of a storage: kinds of entries that earlier versions do not know. Build e955a0b is the first that reads features. It knows
 * `orders`, and does not open a storage with any other feature (`assertKnown` in its lib/storage/engine/format.ts).
 */
import { readFileSync } from 'node:fs';
import { expect } from 'chai';
import { Rewriting } from '../../../components/data/backup/restore-command.js';
import { textIndex } from '../../../components/search/text-search/indexer.js';
import {
  addedFeatures,
  featureOf,
  featuresKey,
  initialFeatures,
  readFeatures,
} from '../../../lib/storage/keys/features.js';
import { entryKey, metaKey } from '../../../lib/storage/keys/records.js';
import type { Level } from '../../../lib/storage/level/durable-level.js';
import type { Store } from '../../../lib/storage/transactions/store.js';
import { type MemoryStore, memoryStore } from '../../support/memory-store.js';
import { pathOf, sourceFiles } from '../source-tree.js';

/** Entry spaces, prefixes of keys and facts of build e955a0b, from its source. Never add to these lists: add a feature instead. */
const knownSpaces = [
  ...[
    'access-grants',
    'access-requests',
    'acl',
    'hidden-graphs',
    'import',
    'import-seen',
    'index',
    'index-state',
    'links',
  ],
  ...['outbox', 'outbox-waiting', 'outbox-waiting-known', 'outbox-waiting-stranger', 'own-owner', 'owned', 'owners'],
  ...['sign-in-links', 'subscriptions'],
];
const knownPrefixes = ['B', 'E', 'G', 'L', 'M', 'R'];
const knownFacts = [
  ...['version', 'features', 'storage', 'bytes', 'quads', 'counted', 'lines', 'restoring'],
  ...['batch', 'journal', 'orders', 'position', 'row', 'opened'],
];
/** Facts that need no feature, with the reason. */
const unguardedFacts = {
  digest: 'guarded by the feature digests, which every storage has',
  resources: 'names its batch, and is counted again after another one (resource-counter.ts)',
};

const sources = sourceFiles('lib', 'components').map((file) => ({ file, text: readFileSync(file, 'utf8') }));
const all = sources.map(({ text }) => text).join('\n');
/** Parameters and members of functions that pass a space on. */
const passedOn = ['space', 'spaces[0]', 'keys.space', 'options.space', 'this.space', 'this.keys.space'];

function constantIn(text: string, name: string): string | undefined {
  return new RegExp(`const ${name} = '([^']+)'`).exec(text)?.[1];
}

/** Value of the first argument of `entryKey` or `entryRange`. Undefined: it is passed on. */
function spaceOf(argument: string, { file, text }: (typeof sources)[number]): string | undefined {
  if (argument.startsWith("'")) return argument.slice(1, -1);
  if (constantIn(text, argument) !== undefined) return constantIn(text, argument);
  const [, name = argument] = new RegExp(`(\\w+) as ${argument}\\b`).exec(all) ?? [];
  const exported = new RegExp(`export const ${name} = '([^']+)'`).exec(all)?.[1];
  if (exported !== undefined) return exported;
  expect(passedOn, `${pathOf(file)}: the space ${argument} is not a constant`).to.include(argument);
  return undefined;
}

function spacesOfSource(): string[] {
  const found = new Set<string>();
  for (const source of sources) {
    for (const [, argument] of source.text.matchAll(/\bentry(?:Key|Range)\(\s*([^,()\s]+)/g))
      found.add(spaceOf(argument!, source) ?? '');
    // Spaces that are passed on: `waitingSpaces = { known: 'outbox-waiting-known' }`, `type Space = 'access-grants' | …`.
    for (const [, values] of source.text.matchAll(/(?:const|type) \w*[sS]paces?\b[^=;]*= (['[{][^;]+);/g))
      for (const [, value] of values!.matchAll(/'([a-z]+(?:-[a-z]+)*)'/g)) found.add(value!);
  }
  found.delete('');
  return [...found].sort();
}

const textOf = (end: string): string => sources.find(({ file }) => pathOf(file).endsWith(end))!.text;

describe('Features of a storage', () => {
  const guarded = [...addedFeatures.values()].flatMap(({ spaces }) => spaces as readonly string[]);

  it('guards every entry space that build e955a0b does not know', () => {
    expect(spacesOfSource()).to.deep.equal([...knownSpaces, ...guarded].sort());
    for (const space of knownSpaces) expect(featureOf(entryKey(space, 'a')), space).to.equal(undefined);
    for (const space of guarded)
      for (const key of [entryKey(space), entryKey(space, 'a', 'b')])
        expect(initialFeatures, space).to.not.include(featureOf(key));
    expect(featureOf(entryKey('guestbook', 'trash')), 'space of a plug-in').to.equal(undefined);
    expect(textIndex.definition.spaces.map((space) => featureOf(entryKey(space)))).to.deep.equal(
      textIndex.definition.spaces.map(() => featureOf(textIndex.definition.stateKey)),
    );
  });

  it('has only prefixes of keys and facts that build e955a0b knows, or that need no feature', () => {
    const prefixes = sources
      .filter(({ file }) => pathOf(file).startsWith('lib/storage/'))
      .flatMap(({ text }) =>
        [...text.matchAll(/['"`]([A-Z]+)(?:\\u0000|\$\{separator\})/g)].map(([, prefix]) => prefix!),
      );
    expect([...new Set(prefixes)].sort()).to.deep.equal([...knownPrefixes, 'GSPO'].sort());
    const types = [...textOf('keys/records.ts').matchAll(/type FactOf\w+ =([^;]+);/g)].map(([, names]) => names).join();
    const facts = [...types.matchAll(/'(\w+)'/g)].map(([, name]) => name!);
    expect(facts.sort()).to.deep.equal([...knownFacts, ...Object.keys(unguardedFacts)].sort());
  });

  describe('of a store', () => {
    let memory: MemoryStore;
    beforeEach(async () => {
      memory = await memoryStore();
    });
    afterEach(() => memory.dispose());
    const put = (store: Store, key: string): Promise<void> => store.transact((tx) => tx.putEntry(key, '1'));
    const stored = async (level: Level): Promise<string[]> => [...readFeatures(await level.get(featuresKey))];

    it('lists a feature in the transaction that writes its first entry', async () => {
      expect(await stored(memory.level)).to.deep.equal(initialFeatures);
      for (const space of knownSpaces) await put(memory.store, entryKey(space, 'a'));
      await put(memory.store, entryKey('guestbook', 'a'));
      expect(await stored(memory.level)).to.deep.equal(initialFeatures);
      await memory.store
        .transact((tx) => {
          tx.putEntry(entryKey('trash', 'a'), '{}');
          throw new Error('not written');
        })
        .catch(() => {});
      expect(await stored(memory.level)).to.deep.equal(initialFeatures);
      await Promise.all(guarded.map((space) => put(memory.store, entryKey(space, 'a'))));
      expect(await stored(memory.level)).to.have.members([...initialFeatures, ...addedFeatures.keys()]);
    });

    it('lists features of entries that earlier builds wrote without them', async () => {
      await memory.level.put(entryKey('root-acl', 'owners'), '1');
      await memory.level.put(entryKey('text-state'), '3');
      const again = await memory.reopen();
      expect(await stored(again.level)).to.have.members([...initialFeatures, 'root-owners', 'text-index']);
    });

    it('removes the feature of the text index when the index is switched off, also during a rebuild', async () => {
      const { store, level } = memory;
      await textIndex.rebuild(store, () => {});
      expect(await stored(level)).to.deep.equal([...initialFeatures, 'text-index']);
      await textIndex.abandon(store);
      expect(await stored(level)).to.deep.equal(initialFeatures);
      await put(store, entryKey('text-words', 'a'));
      expect(await stored(level)).to.deep.equal([...initialFeatures, 'text-index']);
      await textIndex.abandon(store);
      expect(await stored(level)).to.deep.equal(initialFeatures);
    });

    it('does not open a storage with a feature unknown to it', async () => {
      await memory.level.put(featuresKey, 'orders tomorrow');
      const error = await memory.reopen().catch((thrown: unknown) => thrown);
      expect(String(error)).to.match(/written by a later version with features unknown to this one: tomorrow\. Start/);
      await memory.level.put(featuresKey, 'orders');
    });

    it('lists the features of restored entries after a restore with another address', async () => {
      const rewriting = new Rewriting('http://old.example/', 'http://new.example/');
      const target = { level: memory.level, flush: async () => {} };
      for (const space of ['links', 'trash', 'text-words'])
        await rewriting.entries([entryKey(space, 'http://old.example/a'), '{}'], target);
      // The text index is rebuilt.
      expect(new Map(rewriting.facts()).get(metaKey('features'))).to.equal([...initialFeatures, 'trash'].join(' '));
    });
  });
});
