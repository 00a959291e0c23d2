/**
 * Type index of a killed server: acknowledged resources are found with their current types, and nothing else. The spec must not
 * know the internal interface of the index.
 */

import { rmSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { expect } from 'chai';
import { entryKey, entryRange } from '../../lib/storage/keys/records.js';
import { type Level, openLevel } from '../../lib/storage/level/durable-level.js';
import { killStart, runProcess, type ServerProcess, startProcess } from '../support/process.js';
import { until } from '../support/until.js';
import { below } from './contents.js';
import { commonFacts, factsOf, IndexClient, readState, type State, textOf, vocabulary } from './index-client.js';

const rounds = Number(process.env['QUADPOD_CRASH_ROUNDS'] ?? 2);
/** With the text index, which `check` compares too. */
const on = { LWS_SEARCH_INDEX_PAGE_SIZE: '10000', LWS_TEXT_SEARCH_ENABLED: 'true' };
const off = { ...on, LWS_SEARCH_INDEX_ENABLED: 'false' };

interface Page {
  readonly totalItems: number;
  readonly items: readonly { readonly id: string }[];
}

async function page(url: string): Promise<string[]> {
  const { totalItems, items } = (await (await fetch(url)).json()) as Page;
  expect(items.length, url).to.equal(totalItems);
  return items.map(({ id }) => id);
}
const search = ({ root }: ServerProcess, fact: string): Promise<string[]> => {
  const [key, value] = fact.split(' ') as [string, string];
  return page(`${root}.lws/type-search?${encodeURIComponent(key)}=${encodeURIComponent(value)}`);
};
const indexedTypes = ({ root }: ServerProcess): Promise<string[]> => page(`${root}.lws/type-index`);

/** Differences between search results and the actual states. */
async function faultsOf(server: ServerProcess, states: ReadonlyMap<string, State>): Promise<string[]> {
  const wanted = new Map(commonFacts.map((fact) => [fact, [] as string[]]));
  for (const [iri, state] of states)
    for (const fact of factsOf(state)) wanted.set(fact, [...(wanted.get(fact) ?? []), iri]);
  const faults: string[] = [];
  for (const [fact, iris] of wanted) {
    // Facts of a single resource are sampled. The index below covers all types.
    if (!commonFacts.includes(fact) && below(4) > 0) continue;
    const found = await search(server, fact);
    if (found.join() !== iris.sort().join()) faults.push(`${fact} finds ${found.join()} instead of ${iris.join()}`);
  }
  const types = [...wanted].filter(([fact, iris]) => fact.startsWith('type ') && iris.length > 0);
  const indexed = (await indexedTypes(server)).filter((type) => type.startsWith(vocabulary));
  if (
    indexed.sort().join() !==
    types
      .map(([fact]) => fact.slice(5))
      .sort()
      .join()
  )
    faults.push(`The index has ${indexed.length} types instead of ${types.length}.`);
  return faults;
}

/** Compares with the acknowledged states, and takes the actual states as the new baseline. */
async function reconcile(clients: readonly IndexClient[]): Promise<string[]> {
  const faults: string[] = [];
  for (const { known, underWay } of clients) {
    const seen = new Set<string>();
    for (const [iri, after] of underWay ?? []) {
      const now = textOf(await readState(iri));
      // A state that is the same before and after is ambiguous.
      if (textOf(after) !== textOf(known.get(iri)))
        seen.add(now === textOf(after) ? 'after' : now === textOf(known.get(iri)) ? 'before' : now);
    }
    if (seen.size > 1 || [...seen].some((each) => each !== 'after' && each !== 'before'))
      faults.push([...seen].join(' and '));
    if (seen.has('after')) for (const [iri, after] of underWay!) known.set(iri, after);
    for (const [iri, state] of known) {
      const now = await readState(iri);
      if (textOf(now) !== textOf(state)) faults.push(`${iri} is ${textOf(now)} instead of ${textOf(state)}`);
    }
  }
  return faults;
}

async function expectInOrder(server: ServerProcess): Promise<void> {
  expect(await server.stop(), 'exit code').to.equal(0);
  const check = await runProcess(['check'], server);
  expect(check.stdout).to.match(/^[^\n]*: all in order\.\n$/);
  expect(check.code, check.stderr).to.equal(0);
}

describe('The type index and kill -9', function () {
  this.timeout(240_000);
  let server: ServerProcess;
  let clients: IndexClient[];
  before(async () => {
    server = await startProcess({ environment: on });
    clients = [0, 1, 2, 3].map((number) => new IndexClient(`${server.root}own${number}/`));
  });
  after(async () => {
    await server.kill();
    rmSync(server.dataDir, { recursive: true, force: true });
  });
  const again = async (environment: Readonly<Record<string, string>> = on): Promise<void> => {
    server = await startProcess({ ...server, environment });
  };
  const states = (): Map<string, State> => new Map(clients.flatMap(({ known }) => [...known]));
  const acknowledged = (): number => clients.reduce((sum, client) => sum + client.acknowledged, 0);

  async function expectFound(): Promise<void> {
    expect(clients.flatMap(({ refusals }) => refusals.splice(0))).to.deep.equal([]);
    expect(await reconcile(clients)).to.deep.equal([]);
    expect(await faultsOf(server, states())).to.deep.equal([]);
  }

  for (let round = 1; round <= rounds; round++)
    it(`finds exactly the acknowledged states, round ${round}`, async () => {
      const enough = acknowledged() + (below(3) === 0 ? 10 : 200);
      const done = Promise.all(clients.map((client) => client.run()));
      await until(() => acknowledged() >= enough);
      await sleep(below(200));
      await server.kill();
      await done;
      await again();
      await expectFound();
      await expectInOrder(server);
      await again();
    });

  it('finds resources written and deleted while the index was disabled', async () => {
    await server.stop();
    await again(off);
    expect((await fetch(`${server.root}.lws/type-search`)).status).to.equal(404);
    await Promise.all(clients.map((client) => client.run(30)));
    await server.kill();
    await again();
    await expectFound();
    await expectInOrder(server);
    await again();
  });

  it('finds all resources after the rebuild was killed repeatedly', async () => {
    await server.stop();
    const startedAt = performance.now();
    await again(off);
    // A start has done most of its work when it begins with the index.
    const begins = (performance.now() - startedAt) * 0.7;
    await fillWith(server, 800);
    await server.stop();
    let interrupted = 0;
    // On a loaded machine starts become slower. The kills so far are then sufficient.
    let kills = 0;
    for (
      let ms = begins;
      interrupted < 2 && kills++ < 40 && !(await isComplete(server));
      ms += interrupted === 0 ? 40 : 5
    ) {
      await killStart(server, ms);
      const count = await fillerEntries(server);
      if (count > 0 && count < 800) interrupted++;
    }
    if (process.env['QUADPOD_CRASH_ROUNDS']) console.log(`    ${interrupted} rebuilds interrupted`);
    await again();
    expect((await search(server, `type ${fillerType}`)).length).to.equal(800);
    await expectFound();
    await expectInOrder(server);
    await again();
  });
});

const fillerType = 'urn:filler';
/** Many resources with many types each, so that the rebuild takes a while. */
async function fillWith({ root }: ServerProcess, count: number): Promise<void> {
  const types = Array.from({ length: 60 }, (_, number) => `<urn:filler:${number}>`);
  await fetch(`${root}filler/`, { method: 'PUT' });
  let number = 0;
  const fill = async (): Promise<void> => {
    while (number < count)
      await fetch(`${root}filler/${number++}`, {
        method: 'PUT',
        headers: { 'Content-Type': 'text/turtle' },
        body: `<> a <${fillerType}>, ${types.join(', ')} .`,
      });
  };
  await Promise.all(Array.from({ length: 16 }, fill));
}

async function onLevel<T>({ dataDir }: ServerProcess, look: (level: Level) => Promise<T>): Promise<T> {
  const level = await openLevel(join(dataDir, 'level'));
  try {
    return await look(level);
  } finally {
    await level.close();
  }
}
const isComplete = (server: ServerProcess): Promise<boolean> =>
  onLevel(server, async (level) => (await level.get(entryKey('index-state'))) !== undefined);
const fillerEntries = (server: ServerProcess): Promise<number> =>
  onLevel(server, async (level) => (await level.keys(entryRange('index', 'type', fillerType)).all()).length);
