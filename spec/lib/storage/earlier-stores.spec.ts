/** Stores of all earlier formats, created by the versions that used them (see spec/stores), opened by the current version. */
import { execFileSync } from 'node:child_process';
import { mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect } from 'chai';
import { Parser } from 'n3';
import { createServer, type StorageServer } from '../../../components/quadpod.js';
import { linksetFaults } from '../../../lib/resources/metadata.js';
import { openStore } from '../../../lib/server/storage/open-store.js';
import { migrate, storeFormat } from '../../../lib/storage/graphs/format.js';
import { metaKey } from '../../../lib/storage/keys/records.js';
import { openLevel } from '../../../lib/storage/level/durable-level.js';
import { checkStore } from '../../../lib/storage/transactions/check.js';
import { packageRoot } from '../../../lib/tools/threads/package-root.js';
import { ask, containers, linked, relation, resources, root } from '../../stores/content.js';
import { freePort } from '../../support/server.js';

const archives = join(packageRoot, 'spec/stores');
const names = readdirSync(archives)
  .filter((name) => name.endsWith('.tar.gz'))
  .map((name) => name.slice(0, -'.tar.gz'.length));
const listed = { headers: { Accept: 'application/lws+json' } };
/** The first version had no linksets. */
const withoutLinks = '9804faf';

/** Triples as sorted lines. Each resource has at most one blank node. */
const triplesOf = (turtle: string, base: string): string[] =>
  new Parser({ baseIRI: base })
    .parse(turtle)
    .map((quad) =>
      [quad.subject, quad.predicate, quad.object]
        .map((term) => (term.termType === 'BlankNode' ? '_' : `${term.termType} ${JSON.stringify(term)}`))
        .join(' '),
    )
    .sort();

describe('Stores of earlier versions', function () {
  this.timeout(20_000);
  let dataDir: string;
  beforeEach(() => {
    dataDir = mkdtempSync(join(tmpdir(), 'quadpod-earlier-'));
  });
  afterEach(() => rmSync(dataDir, { recursive: true, force: true }));
  const unpack = (name: string): unknown =>
    execFileSync('tar', ['-C', dataDir, '-xzf', join(archives, `${name}.tar.gz`)]);

  const serve = async (port: number, log: string[] = []): Promise<StorageServer> => {
    const server = await createServer(
      {
        ...{ 'lws.base-uri': root.slice(0, -1), 'lws.listen-port': port, 'lws.data-dir': dataDir },
        ...{ 'lws.dev.open': true, 'lws.log.level': 'warn' },
      },
      { log: { write: (line) => log.push(line) } },
    );
    await server.listen();
    return server;
  };

  for (const name of names)
    it(`has all resources, linksets, listings and the type search of ${name}`, async () => {
      unpack(name);
      const port = await freePort();
      const log: string[] = [];
      const server = await serve(port, log);
      try {
        for (const { path, type, body } of resources) {
          const { status, text, headers } = await ask(port, path);
          expect([status, headers['content-type']], path).to.deep.equal([200, type]);
          if (type === 'text/turtle') expect(triplesOf(text, root + path)).to.deep.equal(triplesOf(body, root + path));
          else expect(text).to.equal(body);
        }
        for (const container of ['', ...containers]) {
          const listing = JSON.parse((await ask(port, container, listed)).text) as { items: { id: string }[] };
          const members = [...resources.map(({ path }) => path), ...containers].filter(
            (path) => path !== container && path.replace(/[^/]+\/?$/, '') === container,
          );
          expect(listing.items.map(({ id }) => id).sort()).to.deep.equal(members.map((path) => root + path).sort());
        }
        const { linkset } = JSON.parse((await ask(port, `${linked.from}.meta`)).text) as { linkset: [object] };
        expect(linkset[0]).to.deep.include({ anchor: root + linked.from });
        if (name !== withoutLinks) expect(linkset[0]).to.have.deep.property(relation, [{ href: linked.to }]);
        const search = await ask(port, `.lws/type-search?type=${encodeURIComponent('http://example.org/Note')}`);
        expect((JSON.parse(search.text) as { items: { id: string }[] }).items.map(({ id }) => id)).to.have.members([
          `${root}notes/hello`,
          `${root}notes/2026/second`,
        ]);
      } finally {
        await server.close();
      }
      expect(log.filter((line) => line.includes('is migrated to format'))).to.have.length(name === 'format-2' ? 1 : 2);
      const store = await openStore(dataDir, root, {});
      expect((await checkStore(store, { content: true })).faults).to.deep.equal([]);
      for await (const fault of linksetFaults(store)) expect.fail(fault.text);
      await store.close();
    });

  it('restarts an interrupted migration from the beginning, and logs it', async () => {
    unpack('2f082d7');
    const level = await openLevel(join(dataDir, 'level'));
    const said: string[] = [];
    const broken = await migrate(level, {
      onMigration: (message) => said.push(message),
      onProgress: () => {
        expect(said).to.have.length(1);
        throw new Error('killed');
      },
    }).catch((error: unknown) => error);
    expect(broken).to.be.an('error').with.property('message', 'killed');
    expect(await level.get(metaKey('version'))).to.equal('1');
    await level.close();
    const store = await openStore(dataDir, root, {});
    expect(store.entry(metaKey('version'))).to.equal(storeFormat);
    expect((await checkStore(store)).faults).to.deep.equal([]);
    await store.close();
  });

  it('rejects a store without its blob directory, also the second time', async () => {
    unpack('format-2');
    rmSync(join(dataDir, 'blobs'), { recursive: true });
    for (let times = 0; times < 2; times++)
      expect(String(await openStore(dataDir, root, {}).catch((error: unknown) => error))).to.match(
        /blobs\/ beside it is missing\. Restore blobs\/ from a backup/,
      );
  });
});
