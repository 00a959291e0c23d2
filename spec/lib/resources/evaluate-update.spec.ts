/**
 * Updates of one graph: triples without variables are parsed inline, everything else is evaluated over a snapshot that a worker
 * thread opens.
 */

import { expect } from 'chai';
import { Documents, makePools, type Pools } from '../../../lib/documents/documents.js';
import { pauseUpdates, withLevel } from '../../../lib/documents/update-gate.js';
import { patch } from '../../../lib/resources/patch.js';
import { replace } from '../../../lib/resources/replace.js';
import { largeGraph } from '../../../lib/storage/graphs/graph-lines.js';
import { decodeGraph } from '../../../lib/storage/keys/quad-decoding.js';
import { type Level, reopenLevel } from '../../../lib/storage/level/durable-level.js';
import { folderOf } from '../../../lib/storage/level/shared-level.js';
import { root, storeOnDisk } from '../../support/memory-store.js';
import { body, type SpecStorage, specStorage } from '../../support/storage.js';
import { until } from '../../support/until.js';

const graph = `${root}r`;
const common = { access: {}, preconditions: {}, model: undefined, iri: graph };
const update = 'application/sparql-update';
const move = 'DELETE { ?s <#p> ?o } INSERT { ?s <#q> ?o } WHERE { ?s <#p> ?o }';

describe('Documents.evaluateUpdate', function () {
  this.timeout(60_000);
  let spec: SpecStorage;
  let pools: Pools;
  let documents: Documents;
  before(async () => {
    spec = await specStorage({ memory: await storeOnDisk() });
    pools = makePools();
    documents = new Documents({ updateTimeoutMs: 10_000 }, pools);
  });
  after(async () => {
    await documents.close();
    await spec.dispose();
  });

  const put = async (turtle: string, mediaType = 'text/turtle') =>
    (await replace({ ...spec.storage, requireConditionalWrites: false }, { ...common, body: body(turtle, mediaType) }))
      .record;
  /** The worker only gets the directory of the database. */
  const overSnapshot = async (text: string, entry?: string) => {
    const { location } = spec.memory.level as unknown as { location: string };
    return (await documents.evaluateUpdate({ text }, { graph, entry }, { level: { location } as never as Level }))!;
  };
  const shown = (keys: readonly string[]): string[] =>
    decodeGraph(keys).map((quad) =>
      `${quad.subject.value} ${quad.predicate.value} ${quad.object.value}`.replaceAll(graph, ''),
    );

  it('parses short updates without variables inline, as a change of any state', async () => {
    const begun = () => pools.updates.state.begun + pools.large.state.begun;
    const before = begun();
    const text = 'DELETE DATA { <#a> <#p> 1, 2 } ; INSERT DATA { <#a> <#p> 1 . [] <#q> 3 }';
    const delta = (await documents.evaluateUpdate({ text }, { graph }))!;
    expect(delta).to.include({ removes: true }).and.not.to.have.property('revision');
    expect([shown(delta.added).length, shown(delta.removed)]).to.deep.equal([2, ['#a #p 2']]);
    expect(await documents.evaluateUpdate({ text: move }, { graph, inlineOnly: true })).to.equal(undefined);
    expect(begun()).to.equal(before);
  });

  it('parses long updates without variables, and those that need the SPARQL parser, in a worker; evaluates nothing else without a store', async () => {
    const { begun } = pools.large.state;
    const many = Array.from({ length: 1000 }, (_, at) => `<#a> <#p> ${at}`).join(' . ');
    for (const [text, triples] of [
      [`INSERT DATA { ${many} }`, 1000],
      ['INSERT DATA { <#a> <#p> "\\u0041" }', 1],
      ['INSERT { <#a> <#p> ?unbound, 1 } WHERE {}', 1],
    ] as const) {
      const delta = (await documents.evaluateUpdate({ text }, { graph, isNew: true }))!;
      expect(delta.added).to.have.length(triples);
      expect(delta.after!.size).to.equal(Buffer.byteLength(delta.after!.turtle!));
    }
    expect(await documents.evaluateUpdate({ text: move }, { graph })).to.equal(undefined);
    expect(pools.large.state.begun).to.equal(begun + 4);
  });

  it('evaluates everything else over a snapshot that the worker opens, and returns its revision', async () => {
    const { revision } = await put('<#a> <#p> 1, 2 ; <#r> 3 .');
    const delta = await overSnapshot(move);
    expect([shown(delta.added), shown(delta.removed)]).to.deep.equal([
      ['#a #q 1', '#a #q 2'],
      ['#a #p 1', '#a #p 2'],
    ]);
    expect(delta.revision).to.equal(revision);
    expect(Buffer.from(delta.after!.turtle!).toString()).to.equal('<#a> <#q> 1, 2 ;\n    <#r> 3 .\n');
    expect(await overSnapshot('DELETE WHERE { <#b> ?p ?o }')).to.deep.include({ added: [], removed: [], revision });
  });

  it('reads a graph from an entry, and reports a nonexistent one', async () => {
    const keys = (await documents.evaluateUpdate({ text: 'INSERT DATA { <#a> <#p> 1 }' }, { graph }))!.added;
    await spec.memory.level.put('spec entry', JSON.stringify({ revision: 'own', prefixes: {}, keys }));
    const delta = await overSnapshot(move, 'spec entry');
    expect([shown(delta.added), delta.revision]).to.deep.equal([['#a #q 1'], 'own']);
    expect(await overSnapshot(move, 'spec other')).to.deep.include({ added: [], revision: null });
  });

  it('returns a change of any state for triples without variables in a graph that stays large, and an exact one for other updates', async () => {
    const lines = Array.from({ length: largeGraph + 1 }, (_, at) => `<${graph}#s${at}> <${graph}#p> "x" .`);
    const { revision } = await put(lines.join('\n'), 'application/n-triples');
    const inserted = await overSnapshot(`INSERT DATA { <#s1> <#p> "x", "y" } # ${'long '.repeat(2000)}`);
    expect([inserted.revision, inserted.added.length]).to.deep.equal([undefined, 2]);
    const removed = await overSnapshot('DELETE DATA { <#s1> <#p> "x" . <#s2> <#p> "y" }');
    expect([removed.revision, shown(removed.removed), removed.after !== undefined]).to.deep.equal([
      revision,
      ['#s1 #p x'],
      true,
    ]);
    const moved = await overSnapshot(
      'DELETE { ?s <#p> ?o } INSERT { ?s <#q> ?o } WHERE { ?s <#p> ?o FILTER(?s = <#s7>) }',
    );
    expect([moved.revision, shown(moved.added), moved.after]).to.deep.equal([revision, ['#s7 #q x'], undefined]);
  });

  it('leaves the database closed in the worker, so that it can be opened again', async () => {
    await put('<#a> <#p> 1 .');
    await overSnapshot(move);
    await reopenLevel(spec.memory.level);
    const triples = Array.from({ length: 300 }, (_, at) => `<#s${at}> <#p${at}> ${at} .`).join('\n');
    await put(triples);
    const endless = overSnapshot(
      'DELETE { ?a ?b ?c } WHERE { ?a ?p ?q . ?b ?r ?s . ?c ?t ?u . ?d ?v ?w FILTER(?q = ?none) }',
    );
    const refusal = endless.then(
      () => expect.fail('it ended'),
      (error: { code: string }) => error.code,
    );
    await until(() => pools.updates.state.busy > 0);
    const resume = await pauseUpdates(folderOf(spec.memory.level));
    expect(await refusal).to.equal('too-busy');
    await reopenLevel(spec.memory.level);
    const waiting = overSnapshot('INSERT { <#a> <#p> 1 } WHERE {}');
    resume();
    expect((await waiting).added).to.have.length(1);
  });

  it('is paused for one storage only, until all pauses have ended', async () => {
    await put('<#a> <#p> 1 .');
    const folder = folderOf(spec.memory.level);
    const elsewhere = await pauseUpdates(`${folder}-other`);
    expect((await overSnapshot('INSERT { <#b> <#p> 1 } WHERE {}')).added).to.have.length(1);
    elsewhere();
    const [first, second] = [await pauseUpdates(folder), await pauseUpdates(folder)];
    first();
    first();
    const thread = { end: () => Promise.resolve() };
    const begun = (): Promise<string> =>
      withLevel(folder, thread, async () => 'begun').catch(({ code }: { code: string }) => code);
    expect(await begun()).to.equal('too-busy');
    second();
    expect(await begun()).to.equal('begun');
  });

  it('is retried by PATCH after a revision conflict', async () => {
    await put('<#a> <#p> 1 .');
    let evaluations = 0;
    const evaluateUpdate: Documents['evaluateUpdate'] = async (...given) => {
      const delta = await documents.evaluateUpdate(...given);
      if (given[2] && ++evaluations === 1) await put('<#a> <#p> 2 .');
      return delta;
    };
    const storage = { ...spec.storage, documents: Object.assign(Object.create(documents), { evaluateUpdate }) };
    await patch(storage, { ...common, body: body(move, update) });
    expect(evaluations).to.equal(2);
    expect(shown((await spec.memory.store.graph(graph))!.keys)).to.deep.equal(['#a #q 2']);
  });
});
