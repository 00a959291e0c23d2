/** Complete states written by earlier versions: a backup with an increment, an archive, a checkpoint. */
import { execFileSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { gunzipSync, gzipSync } from 'node:zlib';
import { expect } from 'chai';
import { archiveReader } from '../../../../components/data/transfer/formats/archive-reader.js';
import { openZipTree } from '../../../../components/data/transfer/trees/zip-tree.js';
import { lastCheckpoint, linesOf, writeCheckpoint } from '../../../../components/shared-storage/checkpoint.js';
import type { Connection } from '../../../../components/shared-storage/connection.js';
import { Replica } from '../../../../lib/storage/graphs/replica.js';
import type { Entry } from '../../../../lib/storage/graphs/state-blocks.js';
import { openLevel } from '../../../../lib/storage/level/durable-level.js';
import { packageRoot } from '../../../../lib/tools/threads/package-root.js';
import { entriesOf, runBackup } from '../../../support/backups.js';
import { comparable, readAll } from '../../../support/members.js';

const forms = join(packageRoot, 'spec/stores/forms');
const root = 'http://localhost:42657/';
const moved = 'https://moved.example/deep/';

describe('Complete state of an earlier version', () => {
  const base = mkdtempSync(join(tmpdir(), 'quadpod-forms-'));
  let count = 0;
  const fresh = (): string => join(base, String(++count));
  after(() => rmSync(base, { recursive: true, force: true }));

  const entriesIn = async (dataDir: string): Promise<Entry[]> => {
    const level = await openLevel(join(dataDir, 'level'));
    return entriesOf(level).finally(() => level.close());
  };

  describe('as a back-up', () => {
    const unpacked = (name = 'backup-2'): string => {
      const folder = fresh();
      mkdirSync(folder);
      execFileSync('tar', ['-C', folder, '-xzf', join(forms, `${name}.tar.gz`)]);
      return folder;
    };

    it('is verified and restored, its increment included', async () => {
      const [folder, dataDir] = [unpacked(), fresh()];
      const options = { folder, dataDir, root };
      expect((await runBackup('verify', options)).join('\n')).to.match(
        /^9 resources of .* 12 triples, 3 blobs, .* all in order\.$/,
      );
      const lines = await runBackup('restore', options);
      expect(lines, lines.join('\n')).to.have.length(2);
      const entries = await entriesIn(dataDir);
      expect(entries.filter(([key]) => key.startsWith('R'))).to.have.length(9);
      const later = entries.filter(([key]) => key.startsWith('GSPO') && key.includes(`\u0000${root}c/later\u0000`));
      expect(later.map(([key]) => key.includes('data.json') || key.includes('50002.'))).to.deep.equal([true, true]);
    });

    it('is restored under another base IRI, including relation names and access control lists', async () => {
      const [folder, dataDir] = [unpacked(), fresh()];
      const lines = await runBackup('restore', {
        folder,
        dataDir,
        root: moved,
        flags: { rewrite: `${root}=${moved}` },
      });
      expect(lines, lines.join('\n')).to.have.length(2);
      const entries = await entriesIn(dataDir);
      expect(entries.filter((entry) => JSON.stringify(entry).includes(':42657'))).to.deep.equal([]);
      const links = entries.find(([key]) => key === `E\u0000links\u0000${moved}c/graph`)!;
      expect(JSON.parse(links[1])).to.have.deep.property(`${moved}c/rel`, [{ href: 'urn:x' }]);
    });

    it('is restored with its versions, and continued by an increment of this version', async () => {
      const options = { folder: unpacked('backup-2-versions'), dataDir: fresh(), root: 'http://localhost:15723/' };
      expect((await runBackup('verify', options)).join('\n')).to.match(/, 5 triples, 2 blobs, .* all in order\.$/);
      const lines = await runBackup('restore', options);
      expect(lines, lines.join('\n')).to.have.length(2);
      const entries = await entriesIn(options.dataDir);
      const ofSpace = (space: string) => entries.filter(([key]) => key.startsWith(`E\u0000${space}\u0000`));
      expect([ofSpace('versions').length, ofSpace('versions-data').length]).to.deep.equal([4, 3]);
      const [line] = await runBackup('backup', options);
      expect(line).to.include('no changed graphs since');
      expect((await runBackup('verify', options)).join('\n')).to.match(/^[^\n]* all in order\.$/);
      const again = { ...options, dataDir: fresh() };
      await runBackup('restore', again);
      expect(await entriesIn(again.dataDir)).to.deep.equal(entries);
    });

    it('is rejected with an unknown section, by its name', async () => {
      const folder = unpacked();
      const manifestFile = join(folder, 'quadpod-backup.json');
      const manifest = JSON.parse(readFileSync(manifestFile, 'utf8')) as { state: string };
      const file = join(folder, manifest.state);
      const lines = gunzipSync(readFileSync(file)).toString().split('\n');
      writeFileSync(file, gzipSync([lines[0], '["tombs","x"]', ...lines.slice(1)].join('\n')));
      const options = { folder, dataDir: fresh(), root };
      expect((await runBackup('verify', options)).join('\n')).to.contain('a section unknown to this version, "tombs".');
    });
  });

  describe('as an archive', () => {
    it('has all members, their links, dates and access control lists, and the state of components', async () => {
      const { members, contents, error } = await readAll(
        archiveReader(await openZipTree(join(forms, 'archive-1.zip'))),
        { into: `${moved}c/`, rewrite: [{ from: root, to: moved }] },
      );
      expect(error).to.equal(undefined);
      const found = comparable(members, contents);
      expect(Object.keys(found).map((name) => name.replace(/(?<=\u0000)[^\u0000]{36}$/, 'ID'))).to.have.members([
        ...['', 'd/', 'd/long', 'd/short', 'data.json', 'graph', 'later', 'new'],
        ...['state E\u0000access-grants\u0000ID', 'state E\u0000subscriptions\u0000ID'],
      ]);
      expect(JSON.stringify(found)).to.not.contain(':42657');
      const { graph } = found;
      expect(graph!['prefixes']).to.deep.equal({ own: `${moved}c/` });
      expect(graph!['links']).to.have.deep.property(`${moved}c/rel`, [{ href: 'urn:x' }]);
      expect(graph!['triples']).to.have.length(6);
      expect((graph!['acl'] as { triples: string[] }).triples).to.have.length(10);
      expect(contents.get('d/long')!.toString()).to.equal('long '.repeat(2000));
    });
  });

  describe('as a checkpoint', () => {
    const entries: readonly Entry[] = [
      ['E\u0000a\u0000b', '{"x":1}'],
      [
        `GSPO\u0000\u0000${root}g\u0000\u0000urn:s\u0000\u0000urn:p\u0000\u0000urn:o\u0000\u0000000050000500005000050000k`,
        '',
      ],
      ['M\u0000storage', root],
      ['M\u0000version', '2'],
      ['R\u0000http://\u0000x/', '{}'],
    ];
    /** As the version wrote it: the last line of a part has no line end. */
    const parts = [entries.slice(0, 2), entries.slice(2)].map((part) =>
      part.map(([key, value]) => JSON.stringify(key.startsWith('GSPO') ? key : [key, value])).join('\n'),
    );
    const facts = { key: -5, seq: 7, parts: 2, bytes: 100 };
    const kept = {
      query: async (statement: string, values: readonly unknown[] = []) =>
        statement.includes('FROM meta')
          ? { rows: [{ value: JSON.stringify(facts) }] }
          : { rows: [{ body: gzipSync(parts[values[1] as number]!) }] },
    } as unknown as Connection;

    it('is loaded, and written in the same form', async () => {
      const level = await openLevel(fresh());
      try {
        const replica = new Replica(level);
        const { seq, ...facts } = (await lastCheckpoint(kept))!;
        await replica.rebuild(
          { journal: 'spec', storage: root, seq },
          linesOf(kept, { seq, ...facts }, () => {}),
        );
        expect(replica.place.seq).to.equal(7);
        expect(await entriesOf(level)).to.deep.equal(entries);
        const written: string[] = [];
        const taken = {
          query: async (statement: string, values: readonly unknown[] = []) => {
            if (statement.startsWith('INSERT INTO checkpoint'))
              written.push(gunzipSync(values[2] as Buffer).toString());
            return { rows: [], rowCount: 1 };
          },
        } as unknown as Connection;
        await writeCheckpoint(replica, taken, 0);
        expect(written).to.deep.equal([parts.join('\n')]);
      } finally {
        await level.close();
      }
    });
  });
});
