/**
 * Random writes of every kind over some resources (rules 27.1 to 27.3). The oracle keeps what GET returned for each state while it was
 * the present one, in one of five syntaxes, with its tag, and its linkset. Every version returns the same afterwards, and every instant
 * selects the state that was present at its end.
 */
import { expect } from 'chai';
import versions from '../../components/versions/index.js';
import { openStore } from '../../lib/server/storage/open-store.js';
import { checkStore } from '../../lib/storage/transactions/check.js';
import { type Answer, request } from '../support/http.js';
import '../support/random-seed.js';
import { type SpecServer, startSpecServer } from '../support/server.js';
import { isSharedRun } from '../support/shared-storage.js';
import { runs } from '../support/speed.js';

const { QUADPOD_SEED: wanted = '20261121' } = process.env;
const seed = wanted === 'random' ? Date.now() % 2 ** 31 : Number(wanted);

/** Mulberry32. */
function randomOf(start: number): (below: number) => number {
  let state = start;
  return (below) => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return Math.floor((((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32) * below);
  };
}

/** Numbers of writes and of resources. Full size: `QUADPOD_WRITES=10000 QUADPOD_RESOURCES=500`. */
const { QUADPOD_WRITES: writes = runs(1_200), QUADPOD_RESOURCES: resources = 12 } = process.env;
/** Instants at which all resources together are compared. */
const instants = 1_000;

const syntaxes = [
  'text/turtle',
  'application/n-triples',
  'application/ld+json',
  'application/trig',
  'application/n-quads',
];

interface Seen {
  readonly id: number;
  readonly accept: string;
  readonly text: string;
  readonly tag: string;
  /** Text and tag. */
  readonly linkset: readonly unknown[];
  readonly links: readonly string[];
}

/** Links of a response for agents, without those of the server. */
const linksIn = ({ headers }: Answer): string[] =>
  (headers['link'] as string).split(', ').filter((link) => /rel="(?:type|license|author)"/.test(link));

describe('Versions after random writes', () => {
  let server: SpecServer;
  before(async () => {
    server = await startSpecServer({ settings: { 'versions.all': 'true', signposting: 'true' } });
  });
  after(() => server.stop());

  it('returns each state as it was, and the right one for each instant (rules 27.1, 27.2, 27.3)', async () => {
    const random = randomOf(seed);
    const pick = <T>(items: readonly T[]): T => items[random(items.length)]!;
    const send = (method: string, iri: string, headers: Record<string, string> = {}, body?: string): Promise<Answer> =>
      request(iri, { method, headers: { Authorization: `Bearer ${server.ownerToken}`, ...headers }, body });
    const names = Array.from(
      { length: Number(resources) },
      (_, at) => `${server.root}${at % 3 === 0 ? 'c/' : ''}r${at}`,
    );
    const seen = new Map<string, Seen[]>(names.map((name) => [name, []]));
    const trashed: { readonly id: string; readonly iri: string }[] = [];

    const triples = (iri: string): string =>
      Array.from(
        { length: random(40) },
        () => `<${iri}#s${random(5)}> <http://p.example/${random(4)}> ${random(30)} .`,
      ).join('\n') +
      (random(3) === 0 ? `\n<${iri}> <http://p.example/list> (1 [ <http://p.example/1> ${random(5)} ] "é😀") .` : '');
    const content = (iri: string): readonly [type: string, body: string] =>
      pick([
        () => ['text/turtle', triples(iri)] as const,
        () => ['text/turtle', triples(iri)] as const,
        () => ['text/turtle', triples(iri)] as const,
        () => ['application/json', `{"a":${random(100)}}`] as const,
        () => ['application/octet-stream', 'x'.repeat(random(3000))] as const,
      ])();
    const put = async (iri: string): Promise<void> => {
      const [type, body] = content(iri);
      if (iri.startsWith(`${server.root}c/`)) await send('PUT', `${server.root}c/`);
      const there = await send('HEAD', iri);
      const condition: Record<string, string> = there.status === 200 ? { 'If-Match': there.headers['etag']! } : {};
      await send('PUT', iri, { 'Content-Type': type, ...condition }, body);
    };
    /** Return other names that may have changed. */
    const steps: readonly ((iri: string) => Promise<unknown>)[] = [
      ...Array.from({ length: 6 }, () => put),
      ...Array.from({ length: 5 }, () => async (iri: string) => {
        const [type] = ['application/sparql-update'];
        const data = triples(iri);
        const update = random(2) ? `INSERT DATA { ${data} }` : `DELETE WHERE { ?s <http://p.example/${random(4)}> ?o }`;
        await send('PATCH', iri, { 'Content-Type': type, 'If-Match': '*' }, update);
      }),
      ...Array.from({ length: 4 }, () => async (iri: string) => {
        const merge = random(4) > 0;
        const links = { [pick(['license', 'author', 'urn:r'])]: random(4) ? [{ href: `urn:${random(4)}` }] : null };
        const given = random(3) ? links : { type: [{ href: `urn:t:${random(3)}` }] };
        const written = Object.fromEntries(Object.entries(given).filter(([, value]) => value));
        const body = merge ? given : { linkset: [{ anchor: iri, ...written }] };
        const type = merge ? 'application/merge-patch+json' : 'application/linkset+json';
        const answer = await send(
          merge ? 'PATCH' : 'PUT',
          `${iri}.meta`,
          { 'Content-Type': type, 'If-Match': '*' },
          JSON.stringify(body),
        );
        expect(answer.status, answer.text).to.be.oneOf([204, 404]);
      }),
      async (iri) => {
        const there = await send('HEAD', iri);
        if (there.status !== 200) return;
        const [type, body] = content(iri);
        const fields = { 'If-Match': there.headers['etag']!, Prefer: 'set-linkset' };
        const Link = `<urn:${random(3)}>; rel="license"`;
        await send('PUT', iri, { 'Content-Type': type, Link, ...fields }, body);
      },
      (iri) => send('DELETE', iri),
      ...['MOVE', 'COPY'].map((method) => async (iri: string) => {
        const Destination = pick(names);
        await send(method, iri, { Destination, Overwrite: pick(['T', 'F']) });
        return [Destination];
      }),
      async (iri) => {
        const answer = await send(
          'POST',
          `${server.root}.lws/trash`,
          { 'Content-Type': 'application/json' },
          JSON.stringify({ iri }),
        );
        if (answer.status === 201) trashed.push({ id: (JSON.parse(answer.text) as { id: string }).id, iri });
      },
      async () => {
        const item = trashed.splice(random(trashed.length), 1)[0];
        if (!item) return [];
        await send('POST', `${server.root}.lws/trash/${item.id}`);
        return [item.iri];
      },
      // Restores an earlier version.
      async (iri) => {
        const old = pick(seen.get(iri)!);
        if (!old) return;
        const version = await send('GET', `${iri}?version=${old.id}`, { Accept: 'text/turtle' });
        expect(version.status, version.text).to.equal(200);
        const there = await send('HEAD', iri);
        const condition: Record<string, string> = there.status === 200 ? { 'If-Match': there.headers['etag']! } : {};
        await send('PUT', iri, { 'Content-Type': version.headers['content-type']!, ...condition }, version.text);
      },
    ];
    const emptied = async (): Promise<readonly string[]> => {
      await send('DELETE', `${server.root}c/`, { Depth: 'infinity' });
      return names.filter((name) => name.startsWith(`${server.root}c/`));
    };

    /** Records the present state of each resource that has another one than before. */
    const look = async (changed: Iterable<string>): Promise<void> => {
      for (const iri of changed) {
        const accept = pick(syntaxes);
        const answer = await send('GET', iri, { Accept: accept, 'Accept-Datetime': 'Fri, 01 Jan 2100 00:00:00 GMT' });
        const all = seen.get(iri)!;
        if (answer.status !== 200) continue;
        const present = await send('GET', iri, { Accept: accept });
        expect([answer.text, answer.headers['etag']]).to.deep.equal([present.text, present.headers['etag']]);
        const id = Number(/\?version=(\d+)$/.exec(answer.headers['content-location']!)![1]);
        const meta = await send('GET', `${iri}.meta`);
        const linkset = [meta.status, meta.text, meta.headers['etag']];
        const links = linksIn(present);
        expect([meta.status, linksIn(answer)]).to.deep.equal([200, links]);
        if (all.at(-1)?.id === id) {
          expect(all.at(-1)!.linkset, iri).to.deep.equal(linkset);
          continue;
        }
        expect(id, iri).to.be.greaterThan(all.at(-1)?.id ?? 0);
        all.push({ id, accept, text: present.text, tag: present.headers['etag']!, linkset, links });
      }
    };

    for (let step = 0; step < Number(writes); step++) {
      const iri = pick(names);
      const others = await (random(150) === 0 ? emptied() : pick(steps)(iri));
      await look(new Set([iri, ...(Array.isArray(others) ? (others as readonly string[]) : [])]));
    }
    let count = 0;
    for (const [iri, states] of seen) {
      const list = await send('GET', `${iri}?versions`);
      if (states.length === 0) {
        expect(list.status).to.equal(404);
        continue;
      }
      const listed = (JSON.parse(list.text) as { versions: { id: string; until?: string }[] }).versions.reverse();
      expect(
        listed.map(({ id }) => Number(id)),
        iri,
      ).to.deep.equal(states.map(({ id }) => id));
      for (const { id, accept, text, tag, linkset, links } of states) {
        const answer = await send('GET', `${iri}?version=${id}`, { Accept: accept });
        expect([answer.status, answer.headers['etag'], answer.text], `${iri}?version=${id}`).to.deep.equal([
          200,
          tag,
          text,
        ]);
        expect(linksIn(answer)).to.deep.equal(links);
        const meta = await send('GET', `${iri}.meta?version=${id}`);
        expect([meta.status, meta.text, meta.headers['etag']], `${iri}.meta?version=${id}`).to.deep.equal(linkset);
        count++;
      }
      for (let at = 0; at < Math.max(2, Math.ceil(instants / names.length)); at++) {
        const state = random(listed.length);
        const second = Math.floor(states[state]!.id / 64_000) + random(3) - 1;
        const end = (second + 1) * 1000;
        const expected = listed.findLastIndex(({ id }) => Number(id) < end * 64);
        const { until } = listed[Math.max(expected, 0)]!;
        const isGone = expected >= 0 && until !== undefined && Date.parse(until) < end;
        const date = new Date(second * 1000).toUTCString();
        const answer = await send('GET', iri, { 'Accept-Datetime': date });
        expect(answer.status, `${iri} ${date}`).to.equal(isGone ? 404 : 200);
        if (!isGone)
          expect(answer.headers['content-location']).to.equal(`${iri}?version=${states[Math.max(expected, 0)]!.id}`);
      }
    }
    expect(count).to.be.greaterThan(Number(writes) / 3);
    if (process.env['QUADPOD_WRITES'])
      console.log(`    ${count} states of ${names.length} resources after ${writes} writes`);
    // A copy of a shared storage is not opened without its database.
    if (isSharedRun) return;
    await server.stop(true);
    const store = await openStore(server.dataDir, server.root, {});
    try {
      expect((await checkStore(store, { content: true })).faults).to.deep.equal([]);
      const faults: string[] = [];
      for await (const fault of versions.check!(store)) faults.push(fault);
      expect(faults).to.deep.equal([]);
    } finally {
      await store.close();
    }
  }).timeout(Math.max(60_000, Number(writes) * 300));
});
