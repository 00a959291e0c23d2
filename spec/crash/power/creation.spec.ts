/**
 * Power cuts while a storage is created: LevelDB writes its first MANIFEST without a sync and names it in CURRENT (google/leveldb,
 * issues 189 and 195), so that a database in this state cannot be opened. The server starts from each state, and has every
 * acknowledged write.
 */
import { createHash } from 'node:crypto';
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { brotliDecompressSync } from 'node:zlib';
import { expect } from 'chai';
import { request } from '../../support/http.js';
import { freePort, startSpecServer } from '../../support/server.js';
import { isSharedRun } from '../../support/shared-storage.js';
import { Disk, type Model, type Operation, operationsIn, randomFrom } from './disk.js';
import { owner, record, recorded, signedIn, versionOf, writeFirst, writtenBy } from './recording.js';

/** Digest of the names and contents in a directory. */
function digestOf(folder: string): string {
  const hash = createHash('sha256');
  for (const entry of readdirSync(folder, { withFileTypes: true, recursive: true }).sort((one, other) =>
    join(one.parentPath, one.name) < join(other.parentPath, other.name) ? -1 : 1,
  )) {
    const path = join(entry.parentPath, entry.name);
    hash.update(`${path.slice(folder.length)}\n`);
    if (entry.isFile()) hash.update(readFileSync(path)).update('\n');
  }
  return hash.digest('hex');
}

describe('A power cut while a storage is created', function () {
  this.timeout(600_000);
  const folder = mkdtempSync(join(tmpdir(), 'quadpod-creation-'));
  before(function () {
    if (isSharedRun) this.skip();
  });
  after(() => rmSync(folder, { recursive: true, force: true }));

  /** Starts a server on a state, which has an acknowledged resource and accepts another, and starts again. */
  async function expectStarts(dataDir: string, root: string, acknowledged: string | undefined): Promise<void> {
    const flags = {
      ...{ 'base-uri': root.slice(0, -1), 'data-dir': dataDir, owners: owner.did, 'dev.open': 'true' },
      ...{ 'listen-host': '127.0.0.1', 'listen-port': String(await freePort()) },
    };
    const resources = acknowledged === undefined ? [] : [acknowledged];
    for (const next of [`${root}rdf-8`, `${root}rdf-9`]) {
      const server = await startSpecServer({ settings: flags });
      try {
        const ask = (iri: string, method: string, body?: string) =>
          request(`http://127.0.0.1:${flags['listen-port']}${new URL(iri).pathname}`, {
            method,
            ...(body === undefined ? {} : { body }),
            headers: {
              ...signedIn(root),
              ...{ Host: new URL(root).host, Accept: 'application/n-triples', 'Content-Type': 'text/turtle' },
            },
          });
        for (const iri of resources) {
          const { status, text } = await ask(iri, 'GET');
          expect(status, iri).to.equal(200);
          expect(text.split('\n').sort()).to.deep.equal(versionOf(iri, 1).body.split('\n').sort());
        }
        expect((await ask(next, 'PUT', versionOf(next, 1).body)).status).to.equal(201);
        resources.push(next);
      } finally {
        await server.stop(true);
      }
    }
  }

  /**
   * Cuts the power after each operation until the first acknowledged write.
   * @param called with each different state
   */
  async function cutAll(
    { disk, operations }: { readonly disk: Disk; readonly operations: readonly Operation[] },
    model: Model,
    called: (state: string, acknowledged: string | undefined) => Promise<void>,
  ): Promise<number> {
    const random = randomFrom(operations.length);
    const seen = new Set<string>();
    const faults: string[] = [];
    let acknowledged: string | undefined;
    for (const [at, operation] of operations.entries()) {
      disk.apply(operation);
      acknowledged = writtenBy(operation);
      const state = join(folder, 'state');
      disk.leave(state, model, random);
      const digest = digestOf(state);
      if (!seen.has(digest) || acknowledged !== undefined)
        await called(state, acknowledged).catch((error: Error) => {
          faults.push(`${model}, after ${at + 1} operations: ${error.message}`);
        });
      seen.add(digest);
      rmSync(state, { recursive: true, force: true });
      if (acknowledged !== undefined) break;
    }
    expect(faults.join('\n')).to.equal('');
    expect(acknowledged, 'the first write').to.not.equal(undefined);
    return seen.size;
  }

  /** Returns a state whose CURRENT names an empty MANIFEST: LevelDB cannot open it, and the server creates it again. */
  function leftIncomplete(operations: readonly Operation[]): string {
    const disk = new Disk();
    const named = operations.findIndex(({ type, two }) => type === 'R' && two.toString() === 'level/CURRENT');
    for (const operation of operations.slice(0, named + 1)) disk.apply(operation);
    const random = randomFrom(1);
    for (let draws = 0; draws < 1000; draws++) {
      const state = mkdtempSync(join(folder, 'left-'));
      disk.leave(state, 'ext4', random);
      const current = join(state, 'level/CURRENT');
      const manifest = existsSync(current) ? readFileSync(current, 'utf8').trim() : '';
      if (manifest !== '' && readFileSync(join(state, 'level', manifest)).every((byte) => byte === 0)) return state;
      rmSync(state, { recursive: true });
    }
    throw new Error('No state has an incomplete database.');
  }

  async function expectAll(log: Buffer, root: string, content?: string): Promise<void> {
    for (const model of ['posix', 'ext4'] as const) {
      const cut = { disk: new Disk(content), operations: [...operationsIn(log)] };
      const states = await cutAll(cut, model, (state, acknowledged) => expectStarts(state, root, acknowledged));
      expect(states).to.be.above(10);
    }
  }

  it('leaves states in which the server starts, in the stored recording (rule 6.22)', async () => {
    const log = brotliDecompressSync(readFileSync(recorded));
    const first = [...operationsIn(log)].map(writtenBy).find((iri) => iri !== undefined)!;
    await expectAll(log, new URL('/', first).href);
  });

  it('leaves states in which the server starts, also after a second cut (skipped without a C compiler) (rule 6.22)', async function () {
    const found = await record(writeFirst);
    if (!found) return this.skip();
    await expectAll(found.log, found.root);
    const left = leftIncomplete([...operationsIn(found.log)]);
    const again = await record(writeFirst, (dataDir) => new Disk(left).leave(dataDir, 'posix', randomFrom(1)));
    await expectAll(again!.log, again!.root, left);
  });
});
