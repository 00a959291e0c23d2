/** One storage behind several servers: writes, deletions and revocations on one apply to all. */
import { mkdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'chai';
import { writeCheckpoint } from '../../../components/shared-storage/checkpoint.js';
import { Connection } from '../../../components/shared-storage/connection.js';
import { AppendInDoubtError, Journal } from '../../../components/shared-storage/journal.js';
import { readIdentity, signCredential } from '../../../lib/server/storage/owner-credential.js';
import { Replica } from '../../../lib/storage/graphs/replica.js';
import type { LoggedEvent } from '../../../lib/storage/log/change-entry.js';
import { checkStore } from '../../../lib/storage/transactions/check.js';
import { failNextBatch } from '../../crash/failing-level.js';
import { type EventStream, openStream } from '../../support/event-stream.js';
import { freePort } from '../../support/free-port.js';
import { startInboxHost } from '../../support/inbox.js';
import { type Postgres, postgresFor } from '../../support/postgres.js';
import { startSpecServer } from '../../support/server.js';
import { runs } from '../../support/speed.js';
import { until } from '../../support/until.js';
import { Cluster, type ClusterServer } from './cluster.js';
import { startCuttingProxy } from './cutting-proxy.js';

const turtle = { 'Content-Type': 'text/turtle' };
const update = { 'Content-Type': 'application/sparql-update' };

/** Format of the rows, which servers compare with their own when they start. */
async function formatOf(own: Readonly<Record<string, string>>): Promise<string | undefined> {
  const connection = new Connection({
    url: own['store']!,
    schema: own['store.schema']!,
    password: own['store.password'],
  });
  const { rows } = await connection.query<{ value: string }>("SELECT value FROM meta WHERE name = 'format'");
  await connection.close();
  return rows[0]?.value;
}

describe('A storage in PostgreSQL', function () {
  this.timeout(120_000);
  let postgres: Postgres;
  let schemas = 0;
  const settings = (): Readonly<Record<string, string>> => postgres.settings(`spec_${++schemas}`);
  before(async function () {
    postgres = await postgresFor(this);
  });
  after(() => postgres?.dispose());

  describe('with three servers', () => {
    let cluster: Cluster;
    let servers: readonly ClusterServer[];
    let own: Readonly<Record<string, string>>;
    before(async () => {
      own = settings();
      cluster = await Cluster.start(3, own);
      servers = [...cluster.servers];
      for (const container of ['fresh/', 'kinds/', 'found/', 'told/', 'doubt/']) await any(0).ask('PUT', container);
    });
    after(() => cluster.end());
    const any = (turn: number): ClusterServer => servers[turn % 3]!;

    it('returns a write through one server in the next request to another (rule 19.1)', async () => {
      for (let at = 0; at < runs(300); at++) {
        const made = await any(at).ask(
          'PUT',
          `fresh/${at % 7}`,
          { ...turtle, 'If-None-Match': '*' },
          `<> <urn:n> ${at} .`,
        );
        expect(made.status).to.be.oneOf([201, 412]);
        const changed = await any(at + 1).ask(
          'PATCH',
          `fresh/${at % 7}`,
          update,
          `DELETE WHERE { <> <urn:n> ?n } ; INSERT DATA { <> <urn:n> ${at} }`,
        );
        expect(changed.status, changed.text).to.be.oneOf([200, 204]);
        const read = await any(at + 2).ask('GET', `fresh/${at % 7}`, { Accept: 'application/n-triples' });
        expect(read.text).to.include(`"${at}"`);
      }
    });

    it('keeps the bytes of a PUT and of a COPY in doubt, because they may be stored (rule 19.10)', async () => {
      const text = { 'Content-Type': 'text/plain', 'If-None-Match': '*' };
      await any(0).ask('PUT', 'doubt/source', text, 'bytes');
      const { append } = Journal.prototype;
      const inDoubt = async function (this: Journal, ...row: Parameters<Journal['append']>): Promise<never> {
        Journal.prototype.append = append;
        await append.apply(this, row);
        throw new AppendInDoubtError('too-busy', 'in doubt');
      };
      for (const [method, path, fields, body] of [
        ['PUT', 'doubt/doubtful', text, 'bytes'],
        ['COPY', 'doubt/source', { Destination: `${cluster.root}doubt/copied` }, undefined],
      ] as const) {
        Journal.prototype.append = inDoubt;
        expect((await any(0).ask(method, path, fields, body)).status).to.equal(503);
      }
      for (const name of ['doubtful', 'copied'])
        for (const turn of [0, 1])
          await until(
            async () => (await any(turn).ask('GET', `doubt/${name}`)).text === 'bytes',
            `server ${turn} returns ${name}`,
          );
    });

    it('returns bytes, JSON, metadata and listings of one on the others (rule 19.1)', async () => {
      await any(0).ask('PUT', 'kinds/b', { 'Content-Type': 'image/png' }, Buffer.from([1, 2, 3]));
      await any(1).ask('PUT', 'kinds/j', { 'Content-Type': 'application/json' }, '{"a":1}');
      await any(2).ask('PATCH', 'kinds/j', { 'Content-Type': 'application/merge-patch+json' }, '{"b":2}');
      expect((await any(2).ask('GET', 'kinds/b')).bytes).to.deep.equal(Buffer.from([1, 2, 3]));
      expect(JSON.parse((await any(0).ask('GET', 'kinds/j')).text)).to.deep.equal({ a: 1, b: 2 });
      const listed = JSON.parse((await any(1).ask('GET', 'kinds/', { Accept: 'application/lws+json' })).text);
      expect(listed.totalItems).to.equal(2);
      expect((await any(0).ask('DELETE', 'kinds/b')).status).to.equal(204);
      expect((await any(1).ask('GET', 'kinds/b')).status).to.equal(404);
    });

    it('accepts one of many concurrent replacements of a state through all servers, and loses no patch (rule 19.2)', async () => {
      const { headers } = await any(0).ask('PUT', 'raced', turtle, '<> <urn:n> 0 .');
      const etag = headers['etag']!;
      const put = (n: number) => any(n).ask('PUT', 'raced', { ...turtle, 'If-Match': etag }, `<> <urn:n> ${n} .`);
      const statuses = (await Promise.all(Array.from({ length: 30 }, (_, n) => put(n)))).map(({ status }) => status);
      expect(statuses.filter((status) => status === 204)).to.have.length(1);
      expect(statuses.filter((status) => status === 412)).to.have.length(29);
      const insert = (n: number) => any(n).ask('PATCH', 'raced', update, `INSERT DATA { <> <urn:m> ${n} }`);
      await Promise.all(Array.from({ length: 30 }, (_, n) => insert(n)));
      const { text } = await any(1).ask('GET', 'raced', { Accept: 'application/n-triples' });
      expect(text.match(/urn:m/g)).to.have.length(30);
    });

    it('finds writes of another server by type and by SPARQL (rule 19.1)', async () => {
      for (let at = 0; at < 9; at++) {
        await any(at).ask('PUT', `found/${at}`, turtle, `<> a <urn:Found> ; <urn:n> ${at} .`);
        const page = JSON.parse((await any(at + 1).ask('GET', '.lws/type-search?type=urn:Found')).text);
        expect(page.totalItems).to.equal(at + 1);
        const query = encodeURIComponent('SELECT ?n { ?s a <urn:Found> ; <urn:n> ?n }');
        const answer = await any(at + 2).ask('GET', `.lws/sparql?query=${query}`);
        expect(JSON.parse(answer.text).results.bindings, answer.text).to.have.length(at + 1);
      }
    });

    it('stores graphs of thousands of triples and literals of a million characters', async () => {
      const large = Array.from({ length: 12_000 }, (_, n) => `<#${n}> <urn:p> "${n}" .`).join('\n');
      expect((await any(0).ask('PUT', 'large', turtle, large)).status).to.equal(201);
      expect((await any(1).ask('GET', 'large')).text.match(/urn:p/g)).to.have.length(12_000);
      expect((await any(2).ask('DELETE', 'large')).status).to.equal(204);
      expect((await any(0).ask('GET', 'large')).status).to.equal(404);
      expect((await any(1).ask('PUT', 'large', turtle, '<> <urn:p> "again" .')).status).to.equal(201);
      const long = 'é'.repeat(800_000);
      await any(1).ask('PUT', 'long', turtle, `<> <urn:p> "${long}", "${'x'.repeat(3_000)}" .`);
      expect((await any(2).ask('GET', 'long')).text).to.include(long);
    });

    /** Returns the events after a position, from one server. */
    const eventsOf = async ({ server }: ClusterServer, position: number): Promise<LoggedEvent[]> => {
      const found: LoggedEvent[] = [];
      const { changes } = server.store;
      for (
        let events = await changes.next(position);
        events.length > 0;
        events = await changes.next(found.at(-1)!.position)
      )
        found.push(...events);
      return found;
    };

    it('returns the events after a position through any server, once and in order (rule 19.8)', async () => {
      const headers = { Host: new URL(cluster.root).host };
      const stream = (turn: number, id?: string): Promise<EventStream> =>
        openStream(
          `http://127.0.0.1:${any(turn).port}/.lws/subscriptions/stream?topic=${encodeURIComponent(cluster.root)}`,
          id === undefined ? headers : { ...headers, 'Last-Event-ID': id },
        );
      const idsOf = ({ events }: EventStream): string[] =>
        events.map(({ lastEventId, data }) => `${lastEventId} ${JSON.parse(data).activity.object.id}`);
      const all = await stream(0);
      await Promise.all(
        Array.from({ length: 24 }, (_, at) => any(at).ask('PUT', `told/${at}`, turtle, `<> <urn:n> ${at} .`)),
      );
      await all.until(() => all.events.length === 24, 'all events');
      const ids = idsOf(all);
      expect(new Set(ids).size).to.equal(24);
      for (let turn = 0; turn < 6; turn++) {
        const at = turn * 4;
        const again = await stream(turn, all.events[at]!.lastEventId);
        await again.until(() => again.events.length >= 23 - at, 'what came after it');
        expect(idsOf(again)).to.deep.equal(ids.slice(at + 1));
        again.close();
      }
      all.close();
      for (const each of servers) await each.ask('GET', '');
      const logs = await Promise.all(servers.map((each) => eventsOf(each, 0)));
      expect(logs[1]).to.deep.equal(logs[0]);
      expect(logs[2]).to.deep.equal(logs[0]);
    });

    it('records another format with the first term of RDF 1.2, so that servers that cannot read it do not start', async () => {
      expect(await formatOf(own)).to.equal('2');
      for (const object of ['<<( <> <urn:p> _:b )>>', '"x"@ar--rtl']) {
        const made = await any(0).ask('PUT', 'new-terms', turtle, `<> <urn:p> ${object} .`);
        expect(made.status, made.text).to.be.oneOf([201, 428]);
        expect(await formatOf(own)).to.equal('3');
        const read = await any(1).ask('GET', 'new-terms');
        expect(read.headers['content-type']).to.equal('text/turtle; version=1.2');
        expect(read.text).to.include('<<( <> <urn:p> ');
      }
    });

    it('loads everything on a new server from a checkpoint and the later journal', async () => {
      const { level } = servers[0]!.server.store;
      const connection = new Connection({
        url: own['store']!,
        schema: own['store.schema']!,
        password: own['store.password'],
      });
      await servers[0]!.ask('GET', '');
      const { seq } = await writeCheckpoint(new Replica(level), connection, 0);
      const { rows } = await connection.query('SELECT 1 FROM journal WHERE seq <= $1', [seq]);
      await connection.close();
      expect(rows).to.have.length(0);
      await any(1).ask('PUT', 'after', turtle, '<> <urn:p> "after the checkpoint" .');
      const fourth = await cluster.add();
      expect((await fourth.ask('GET', 'after')).text).to.include('after the checkpoint');
      expect((await fourth.ask('GET', 'raced')).text).to.equal((await any(0).ask('GET', 'raced')).text);
      const checked = await checkStore(fourth.server.store, {});
      expect(checked.faults).to.deep.equal([]);
      expect(await eventsOf(fourth, 0), 'Rule 19.8').to.deep.equal(await eventsOf(servers[0]!, 0));
      await fourth.stop();
      // A server that was away for longer than the journal reaches loads the full state again.
      await any(0).ask('PUT', 'meanwhile', turtle, '<> <urn:p> "meanwhile" .');
      const again = new Connection({
        url: own['store']!,
        schema: own['store.schema']!,
        password: own['store.password'],
      });
      await writeCheckpoint(new Replica(level), again, 0);
      await again.close();
      const back = await cluster.add('server-3');
      expect((await back.ask('GET', 'meanwhile')).text).to.include('meanwhile');
      expect(back.log.some(({ msg }) => /copy of the storage is rebuilt/.test(String(msg)))).to.equal(true);
      await back.stop();
    });
  });

  it('applies a revocation on every server from then on, and has one owner on all of them (rules 19.1, 19.2)', async () => {
    const cluster = await Cluster.start(2, { ...settings(), 'dev.open': 'false', 'access-control': 'wac' });
    try {
      const [a, b] = cluster.servers as [ClusterServer, ClusterServer];
      const keys = [a, b].map(({ dataDir }) => readFileSync(join(dataDir, 'owner.key'), 'utf8'));
      expect(keys[0]).to.equal(keys[1]);
      const token = await signCredential(readIdentity(join(a.dataDir, 'owner.key')), cluster.root.slice(0, -1), 600);
      const owner = { Authorization: `Bearer ${token}` };
      expect((await a.ask('PUT', 'doc', { ...owner, ...turtle }, '<> <urn:p> 1 .')).status).to.equal(201);
      const rule = (mode: string, agent: string) =>
        `[] a <http://www.w3.org/ns/auth/acl#Authorization> ; <http://www.w3.org/ns/auth/acl#accessTo> <doc> ; ` +
        `<http://www.w3.org/ns/auth/acl#mode> ${mode} ; ${agent} .`;
      const acl = (name: string) => `<http://www.w3.org/ns/auth/acl#${name}>`;
      const did = JSON.parse(Buffer.from(token.split('.')[1]!, 'base64url').toString()).sub as string;
      const all = `${acl('Read')}, ${acl('Write')}, ${acl('Control')}`;
      const ownRule = rule(all, `${acl('agent')} <${did}>`);
      const open = `${ownRule}\n${rule(acl('Read'), `${acl('agentClass')} <http://xmlns.com/foaf/0.1/Agent>`)}`;
      for (let round = 0; round < runs(40); round++) {
        const [one, other] = round % 2 === 0 ? [a, b] : [b, a];
        const { headers } = await one.ask('GET', 'doc.acl', owner);
        const condition = headers['etag'] ? { 'If-Match': headers['etag'] } : { 'If-None-Match': '*' };
        const granted = await one.ask('PUT', 'doc.acl', { ...owner, ...turtle, ...condition }, open);
        expect(granted.status, granted.text).to.be.oneOf([201, 204]);
        expect((await other.ask('GET', 'doc')).status).to.equal(200);
        const { headers: now } = await other.ask('GET', 'doc.acl', owner);
        const revoked = await other.ask('PUT', 'doc.acl', { ...owner, ...turtle, 'If-Match': now['etag']! }, ownRule);
        expect(revoked.status, revoked.text).to.equal(204);
        expect((await one.ask('GET', 'doc')).status).to.be.oneOf([401, 404]);
      }
    } finally {
      await cluster.end();
    }
  });

  it('delivers by one server, and by another one after its end: all, in order, with few duplicates (rule 19.5)', async () => {
    const host = await startInboxHost();
    const cluster = await Cluster.start(3, {
      ...settings(),
      'dev.open': 'false',
      'webhook.allowed-hosts': host.authority,
    });
    try {
      const servers = [...cluster.servers];
      const key = readIdentity(join(servers[0]!.dataDir, 'owner.key'));
      const token = await signCredential(key, cluster.root.slice(0, -1), 600);
      const owner = { Authorization: `Bearer ${token}` };
      const inbox = host.inbox();
      const subscribed = await servers[1]!.ask(
        'POST',
        '.lws/subscriptions',
        { ...owner, 'Content-Type': 'application/lws+json' },
        JSON.stringify({ type: 'WebhookSubscription', topic: [cluster.root], inbox }),
      );
      expect(subscribed.status, subscribed.text).to.equal(201);
      const made: string[] = [];
      const make = async (count: number, among: readonly ClusterServer[]): Promise<void> => {
        for (let at = 0; at < count; at++) {
          const name = `told${made.length}`;
          const { status } = await among[at % among.length]!.ask(
            'PUT',
            name,
            { ...owner, ...turtle },
            '<> <urn:p> 1 .',
          );
          expect(status).to.equal(201);
          made.push(`${cluster.root}${name}`);
        }
      };
      await make(30, servers);
      // The first server leads.
      await servers[0]!.stop();
      await make(30, servers.slice(1));
      const told = (): string[] => host.activities(inbox).map(({ object }) => object.id);
      await until(async () => new Set(told()).size === made.length, 'everything is told', 40_000);
      const first = [...new Set(told())];
      expect(first).to.deep.equal(made);
      expect(told().length - made.length).to.be.below(51);
    } finally {
      await cluster.end();
      host.close();
    }
  });

  it('returns 503 while the database is unavailable, and recovers without a restart (rule 19.3)', async () => {
    const cluster = await Cluster.start(2, settings());
    try {
      const [a, b] = cluster.servers as [ClusterServer, ClusterServer];
      expect((await a.ask('PUT', 'kept', turtle, '<> <urn:p> 1 .')).status).to.equal(201);
      await postgres.kill();
      const many = await Promise.all(Array.from({ length: 20 }, (_, at) => [a, b][at % 2]!.ask('GET', 'kept')));
      expect(new Set(many.map(({ status }) => status))).to.deep.equal(new Set([503]));
      for (const server of [a, b]) {
        const read = await server.ask('GET', 'kept');
        expect(read.status).to.equal(503);
        expect(read.headers['retry-after']).to.be.a('string');
        expect((await server.ask('PUT', 'lost', turtle, '<> <urn:p> 1 .')).status).to.equal(503);
        expect((await server.ask('GET', '.lws/health/live')).status).to.equal(200);
        expect((await server.ask('GET', '.lws/health/ready')).status).to.equal(503);
      }
      await postgres.start();
      for (const server of [a, b]) {
        let status = 503;
        await until(async () => {
          ({ status } = await server.ask('GET', 'kept'));
          return status !== 503;
        });
        expect(status).to.equal(200);
        expect((await server.ask('GET', 'lost')).status).to.equal(404);
        expect(
          (await server.ask('PUT', 'kept2', { ...turtle, 'If-None-Match': '*' }, '<> <urn:p> 2 .')).status,
        ).to.be.oneOf([201, 412]);
      }
    } finally {
      await cluster.end();
    }
  });

  it('a server that cannot write its replica serves nothing from it, and catches up later (rule 19.7)', async () => {
    const cluster = await Cluster.start(2, settings());
    try {
      const [a, b] = cluster.servers as [ClusterServer, ClusterServer];
      expect((await a.ask('PUT', 'kept', turtle, '<> <urn:p> 1 .')).status).to.equal(201);
      expect((await b.ask('GET', 'kept')).status).to.equal(200);
      for (const afterWriting of [false, true]) {
        const name = `doubted-${afterWriting}`;
        void failNextBatch(a.server.store.level, { afterWriting });
        // The journal has it. The client gets the response after the replica of this server has it, too.
        expect((await a.ask('PUT', name, turtle, '<> <urn:p> 2 .')).status).to.equal(507);
        expect((await b.ask('GET', name)).status).to.equal(200);
        expect((await b.ask('PUT', `${name}-2`, turtle, '<> <urn:p> 3 .')).status).to.equal(201);
        const read = await a.ask('GET', 'kept');
        expect([read.status, read.headers['retry-after']]).to.deep.equal([503, '5']);
        await until(async () => (await a.ask('GET', 'kept')).status === 200, 'it reads again', 30_000);
        for (const each of [name, `${name}-2`]) expect((await a.ask('GET', each)).status).to.equal(200);
        expect((await a.ask('PUT', `${name}-3`, turtle, '<> <urn:p> 4 .')).status).to.equal(201);
        expect((await b.ask('GET', `${name}-3`)).status).to.equal(200);
      }
      for (const { server } of [a, b]) expect((await checkStore(server.store, {})).faults).to.deep.equal([]);
    } finally {
      await cluster.end();
    }
  });

  for (const [when, isStored] of [
    ['before the database has the commit', false],
    ['after the database has the commit, before it confirms it', true],
  ] as const)
    it(`looks up the outcome of a write in the journal when the connection is cut ${when} (rule 19.4)`, async () => {
      const own = settings();
      const proxy = await startCuttingProxy(postgres.port);
      const store = own['store']!.replace(String(postgres.port), String(proxy.port));
      const cluster = await Cluster.start(1, { ...own, store });
      try {
        const [server] = cluster.servers as [ClusterServer];
        const witness = await cluster.add('witness', own);
        await server.ask('PUT', 'before', turtle, '<> <urn:p> 1 .');
        proxy.cut(isStored ? 'after' : 'before');
        const { status, text } = await server.ask('PUT', 'doubtful', turtle, '<> <urn:p> "x" .');
        expect(proxy.cuts, 'connections that were cut').to.equal(1);
        expect(status, text).to.equal(isStored ? 201 : 503);
        for (const each of [server, witness])
          expect((await each.ask('GET', 'doubtful')).status).to.equal(isStored ? 200 : 404);
        expect((await server.ask('PUT', 'next', turtle, '<> <urn:p> 1 .')).status).to.equal(201);
        expect((await witness.ask('GET', 'next')).status).to.equal(200);
      } finally {
        await cluster.end();
        await proxy.close();
      }
    });

  it('moves the storage of a directory into a new database only (rule 19.6)', async () => {
    const own = settings();
    const cluster = await Cluster.start(1, {});
    try {
      const [alone] = cluster.servers as [ClusterServer];
      await alone.ask('PUT', 'moved', turtle, '<> <urn:p> "moved"@en--ltr .');
      await alone.ask('PUT', 'blob', { 'Content-Type': 'image/png' }, Buffer.from([7]));
      await alone.stop();
      const first = await cluster.add('server-0', own);
      const second = await cluster.add('second', own);
      for (const server of [first, second]) {
        expect((await server.ask('GET', 'moved')).text).to.include('"moved"');
        expect((await server.ask('GET', 'blob')).bytes).to.deep.equal(Buffer.from([7]));
      }
      expect(await formatOf(own)).to.equal('3');
      await second.stop();
      const refused = async (name: string, given: Readonly<Record<string, string>>): Promise<string> =>
        cluster.add(name, given).then(
          () => 'started',
          (error: unknown) => (error as Error).message,
        );
      expect(await refused('second', {})).to.match(/copy of a storage in a database.*Set lws\.store again/s);
      expect(await refused('second', settings())).to.match(/copy of another database/);
      expect(await refused('third', { ...own, 'base-uri': `http://localhost:${await freePort()}` })).to.match(
        /lws\.base-uri/,
      );
      expect(
        await refused('fourth', { ...own, store: `postgres://quadpod@127.0.0.1:${await freePort()}/postgres` }),
      ).to.match(/database in lws\.store cannot be reached/);
      const apart = await Cluster.start(0, {});
      mkdirSync(join(apart.folder, 'server-0'));
      expect(await refused('fifth', { ...own, 'data-dir': join(apart.folder, 'server-0') })).to.match(
        /in another location than the other servers/,
      );
      await apart.end();
      const other = await startSpecServer({ settings: { 'dev.open': 'true' } });
      await other.stop(true);
      expect(
        await refused('server-0', { ...own, 'data-dir': other.dataDir, 'base-uri': other.root.slice(0, -1) }),
      ).to.match(/lws\.base-uri/);
    } finally {
      await cluster.end();
    }
  });
});
