/** Terms of RDF 1.2 in a store: the version in records, the feature, and the places of the source that know type letters. */
import { readFileSync } from 'node:fs';
import type { Quad } from '@rdfjs/types';
import { expect } from 'chai';
import { Parser } from 'n3';
import { Rewriting } from '../../../../components/data/backup/restore-command.js';
import { assertUsableAcl } from '../../../../lib/resources/acl-resource.js';
import { largeGraph, sizeOfLines } from '../../../../lib/storage/graphs/graph-lines.js';
import { featuresKey, initialFeatures, newTerms, readFeatures } from '../../../../lib/storage/keys/features.js';
import { packKeys, versionOfGraph } from '../../../../lib/storage/keys/graph-keys.js';
import { compareKeys } from '../../../../lib/storage/keys/key-order.js';
import { encodeGraph, graphRange } from '../../../../lib/storage/keys/quad-keys.js';
import { newRevision, recordKey, writeRecord } from '../../../../lib/storage/keys/records.js';
import { keyBlocks } from '../../../../lib/storage/level/durable-level.js';
import { checkStore } from '../../../../lib/storage/transactions/check.js';
import { LwsError } from '../../../../lib/tools/errors.js';
import { type MemoryStore, memoryStore, root } from '../../../support/memory-store.js';
import { pathOf, sourceFiles } from '../../source-tree.js';

const iri = `${root}graph`;
const [plain, directed, triple] = ['"x"@ar', '"x"@ar--rtl', '<<( <a> <b> <<( <a> <b> "x"@ar--rtl )>> )>>'];
const keysOf = (...objects: readonly string[]): string[] =>
  encodeGraph(
    iri,
    new Parser({ baseIRI: root }).parse(objects.map((object) => `<s> <p> ${object} .`).join('\n')) as Quad[],
  );
const many = (object: string): string[] =>
  [
    ...keysOf(object),
    ...encodeGraph(
      iri,
      new Parser().parse(
        Array.from({ length: largeGraph + 1 }, (_, at) => `<a:s${at}> <a:p> ${at} .`).join('\n'),
      ) as Quad[],
    ),
  ].sort(compareKeys);

describe('Versions of RDF in records', () => {
  let memory: MemoryStore;
  beforeEach(async () => {
    memory = await memoryStore();
  });
  afterEach(async () => {
    expect((await checkStore(memory.store)).faults).to.deep.equal([]);
    await memory.dispose();
  });

  /** Replaces or creates the graph. A large one is staged first. */
  const put = async (after: readonly string[]): Promise<void> => {
    const keys = packKeys(after);
    const isLarge = after.length > largeGraph;
    if (isLarge) await memory.store.loadGraphs(new Map([[iri, keys]]));
    await memory.store.transact(async (tx) => {
      const before = tx.record(iri);
      const wasLarge = (before?.triples ?? 0) > largeGraph;
      if (tx.isLoaded(iri, keys)) tx.publishGraph(iri, keys);
      else if (before && (isLarge || wasLarge)) await tx.replaceGraph(before, keys);
      else tx.putGraph(iri, before ? await tx.before.graph(before) : [], after);
      const size = isLarge ? sizeOfLines(after) : 10;
      const facts = { mediaType: 'text/turtle', size, created: 1, modified: 1, triples: after.length };
      tx.putRecord({ iri, kind: 'rdf', revision: newRevision(), ...facts });
      if (!before) tx.putRecord({ ...tx.record(root)!, members: (tx.record(root)!.members ?? 0) + 1 });
    });
  };
  const version = (): string | undefined => memory.store.record(iri)!.rdfVersion;
  const features = async (): Promise<string[]> => [...readFeatures(await memory.level.get(featuresKey))];

  it('are those that the terms require, after every kind of change', async () => {
    for (const [keys, expected] of [
      [keysOf(plain), undefined],
      [keysOf(plain, directed), '1.2-basic'],
      [keysOf(directed, triple), '1.2'],
      [keysOf(directed), '1.2-basic'],
      [many(triple), '1.2'],
      [many(plain), undefined],
      [many(directed), '1.2-basic'],
      [keysOf(triple), '1.2'],
      [keysOf(plain), undefined],
    ] as const) {
      await put(keys);
      expect(version()).to.equal(expected);
      expect(versionOfGraph(keys)).to.equal(expected);
      expect(versionOfGraph(packKeys(keys, 3))).to.equal(expected);
    }
  });

  it('are raised by a part of a large graph, and not lowered', async () => {
    await put(many(plain));
    const [key] = keysOf(triple);
    const change = (added: readonly string[], removed: readonly string[], size: number): Promise<void> =>
      memory.store.transact((tx) => {
        const before = tx.record(iri)!;
        tx.changeGraph(iri, { added, removed }, before.triples!);
        const triples = before.triples! + added.length - removed.length;
        tx.putRecord({ ...before, triples, revision: newRevision(), size });
      });
    const size = sizeOfLines(many(plain));
    await change([key!], [], size + sizeOfLines([key!]));
    expect(version()).to.equal('1.2');
    await change([], [key!], size);
    expect(version()).to.equal('1.2');
  });

  it('leave records and features without such terms as they were', async () => {
    await put(keysOf(plain));
    expect(writeRecord(memory.store.record(iri)!)).not.to.include('rdfVersion');
    expect(await features()).to.deep.equal(initialFeatures);
  });

  for (const object of [directed, triple])
    it(`add a feature with the first ${object}, in the same transaction`, async () => {
      await memory.store
        .transact((tx) => {
          tx.putGraph(iri, [], keysOf(object));
          throw new Error('not written');
        })
        .catch(() => {});
      expect(await features()).to.deep.equal(initialFeatures);
      await put(keysOf(object));
      expect(await features()).to.deep.equal([...initialFeatures, newTerms]);
    });

  it('add the feature before the first key of a staged graph', async () => {
    const keys = packKeys(many(triple));
    const loading = memory.store.loadGraphs(new Map([[iri, keys]]));
    for (let found = 0; found === 0; ) {
      await new Promise((resolve) => setImmediate(resolve));
      const snapshot = memory.level.snapshot();
      for await (const block of keyBlocks(memory.level, graphRange(iri), { snapshot })) found += block.length;
      if (found > 0) expect(readFeatures(await memory.level.get(featuresKey, { snapshot }))).to.include(newTerms);
      await snapshot.close();
    }
    await loading;
    memory.store.dropLoaded(iri, keys);
    await memory.store.close();
    memory = await memory.reopen();
  });

  it('survive a restore with another address, which rewrites IRIs within triple terms', async () => {
    await put(keysOf(triple, directed));
    const rewriting = new Rewriting(root, 'http://new.example/');
    const written: (readonly [string, string])[] = [];
    const target = {
      level: memory.level,
      flush: async () => {},
    };
    for (const key of keysOf(triple, directed)) written.push(...(await rewriting.entries([key, ''], target)));
    written.push(...rewriting.rest());
    expect(written.map(([key]) => key)).to.deep.equal(
      encodeGraph(
        'http://new.example/graph',
        new Parser({ baseIRI: 'http://new.example/' }).parse(`<s> <p> ${triple}, ${directed} .`) as Quad[],
      ),
    );
    const record = memory.store.record(iri)!;
    await rewriting.entries([recordKey(iri), writeRecord(record)], target);
    expect(new Map(rewriting.facts()).get(featuresKey)).to.equal([...initialFeatures, newTerms].join(' '));
  });
});

describe('Access control lists', () => {
  for (const object of [directed, triple])
    it(`cannot have ${object} (rule 1.16)`, () => {
      expect(() => assertUsableAcl({ rootIri: root }, iri, keysOf(plain))).not.to.throw();
      expect(() => assertUsableAcl({ rootIri: root }, iri, keysOf(plain, object)))
        .to.throw(LwsError)
        .with.property('code', 'unsupported-rdf');
    });
});

describe('Type letters of terms', () => {
  /** Files that read the letters of keys, and what each does with a term of RDF 1.2. */
  const readers: Readonly<Record<string, string>> = {
    'components/search/text-search/statements.ts':
      'indexes texts with a base direction, and nothing within triple terms',
    'components/data/transfer/block-builder.ts': 'passes on statements with texts',
    'lib/query/access/key-reader.ts': 'copies letters and lengths',
    'lib/query/access/quad-matches.ts': 'accepts IRIs and blank nodes as subjects',
    'lib/query/access/terms.ts': 'decodes them',
    'lib/storage/graphs/graph-lines.ts': 'writes them as lines',
    'lib/storage/graphs/turtle-size.ts': 'needs IRIs as subjects',
    'lib/storage/keys/key-labels.ts': 'keeps no labels beside triple terms',
    'lib/storage/keys/key-layout.ts': 'has the lengths of each letter',
    'lib/storage/keys/quad-decoding.ts': 'decodes them',
    'lib/storage/keys/quad-keys.ts': 'encodes them',
    'lib/storage/keys/subject-statements.ts': 'needs IRIs as objects',
  };

  it('are known to these files only', () => {
    const pattern =
      /(?:type|Type|letter|suffix\w*(?:\[[^\]]+\])?|key\[[^\]]+\]|token\[1\]!?|charCodeAt\(1\)) ?(?:!==|===|\?) ?(?:'[0-9]'|[45][0-9]\b)|startsWith\('[0-9]'\)|suffixLengths|spansOf\(/;
    const found = sourceFiles('lib', 'components')
      .filter((file) => pattern.test(readFileSync(file, 'utf8')))
      .map(pathOf);
    expect(found.sort()).to.deep.equal(Object.keys(readers).sort());
  });
});
