/** ZIPs and folders with path traversal and memory bombs. */
import { execFileSync } from 'node:child_process';
import { hash } from 'node:crypto';
import { mkdir, mkdtemp, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect } from 'chai';
import {
  headBytes,
  headFile,
  partFile,
  trailerBytes,
  trailerFile,
} from '../../components/data/transfer/formats/archive-format.js';
import { openFolderSink } from '../../components/data/transfer/trees/folder-sink.js';
import { openFolderTree } from '../../components/data/transfer/trees/folder-tree.js';
import { openZipTree } from '../../components/data/transfer/trees/zip-tree.js';
import type { FileTree } from '../../lib/exchange/file-tree.js';
import { by, startOwned } from '../support/attack.js';
import { request } from '../support/http.js';
import { ed25519Identity } from '../support/identity.js';
import type { ReportedImport } from '../support/imports.js';
import type { ServerProcess } from '../support/process.js';
import { type ZipEntry, zipOf } from '../support/zip.js';

const owner = ed25519Identity();

const text = async (content: AsyncIterable<Uint8Array>): Promise<string> => {
  const chunks: Uint8Array[] = [];
  for await (const chunk of content) chunks.push(chunk);
  return Buffer.concat(chunks).toString();
};

/** Each path with its content, or the reason for its rejection. */
async function shown(tree: FileTree): Promise<string[]> {
  const lines: string[] = [];
  for await (const found of tree.files())
    lines.push(`${found.path}: ${'refused' in found ? found.refused : await text(found.open())}`);
  return lines;
}

describe('Hostile archives', () => {
  let folder: string;
  beforeEach(async () => {
    folder = await mkdtemp(join(tmpdir(), 'archives-'));
  });
  afterEach(() => rm(folder, { recursive: true }));

  async function opened(bytes: Uint8Array, bounds?: { entries: number; bytes: number }): Promise<FileTree> {
    const file = join(folder, 'a.zip');
    await writeFile(file, bytes);
    return openZipTree(file, bounds);
  }
  const refusal = (work: Promise<unknown>): Promise<string> =>
    work.then(
      () => 'none',
      (error: Error) => error.message,
    );

  it('report and skip entries with path traversal, links, devices, encryption or duplicate names', async () => {
    const entries: [ZipEntry, string][] = [
      [{ name: '../a' }, '../a: It is rejected: its name leads out of the directory (..).'],
      [{ name: 'b/../../b' }, 'b/../../b: It is rejected: its name leads out of the directory (..).'],
      [{ name: '/c' }, '/c: It is rejected: its name is absolute.'],
      [{ name: 'C:/c' }, 'C:/c: It is rejected: its name is absolute.'],
      [{ name: 'd\\..\\d' }, 'd\\..\\d: It is rejected: its name contains a backslash, a separator on some systems.'],
      [{ name: 'e\0f' }, 'e\0f: It is rejected: its name contains the character U+0000.'],
      [{ name: 'g//h' }, 'g//h: It is rejected: its name has an empty segment.'],
      [{ name: './i' }, './i: It is rejected: its name has the segment ".".'],
      [
        { name: 'j', content: '/etc/passwd', mode: 0o120777 },
        'j: It is rejected: it is a symbolic link; these are not followed.',
      ],
      [{ name: 'k', mode: 0o060660 }, 'k: It is rejected: it is neither a file nor a directory.'],
      [{ name: 'l', flags: 0x801 }, 'l: It is rejected: it is encrypted.'],
      [
        { name: 'm', method: 12 },
        'm: It is rejected: it is compressed with method 12; supported methods are 0 (none) and 8 (deflate).',
      ],
      [{ name: Buffer.from([0x6e, 0xff]) }, 'n?: It is rejected: its name is not UTF-8.'],
      [{ name: 'o'.repeat(5_000) }, `${'o'.repeat(200)}: It is rejected: its path is too long.`],
      [{ name: 'z' }, 'z: It is rejected: another entry has the same name.'],
    ];
    const tree = await opened(zipOf([{ name: 'z', content: 'last' }, ...entries.map(([entry]) => entry)]));
    expect(await shown(tree)).to.have.members(['z: last', ...entries.map(([, line]) => line)]);
    await tree.close();
  });

  it('are rejected completely with too many entries or bytes, also with overlapping entries', async () => {
    const many = zipOf([{ name: 'a' }, { name: 'b' }, { name: 'c' }]);
    expect(await refusal(opened(many, { entries: 2, bytes: 100 }))).to.match(/has 3 entries; the limit is 2\.$/);
    const large = zipOf([{ name: 'a', content: 'a'.repeat(101) }]);
    expect(await refusal(opened(large, { entries: 2, bytes: 100 }))).to.match(/bytes would become 101\.$/);
    const content = Buffer.alloc(1 << 20);
    const shared = Array.from({ length: 300 }, (_, index) => ({ name: `a${index}`, content, sharedWith: 0 }));
    const overlapping = zipOf([{ name: 'a', content }, ...shared]);
    expect(await refusal(opened(overlapping))).to.match(/is rejected: its \d+ bytes would become 315621376\.$/);
  });

  it('are no memory bombs, by announced and by actual size', async () => {
    const content = Buffer.alloc(40 << 20);
    const announced = await opened(
      zipOf([
        { name: 'a', content },
        { name: 'b', content: Buffer.from(Array.from({ length: 60_000 }, (_, index) => (index * 7_919) % 251)) },
      ]),
    );
    expect((await shown(announced))[0]).to.match(/^a: It is rejected: \d+ bytes would become 41943040\.$/);
    await announced.close();
    const silent = await opened(zipOf([{ name: 'a', content, size: 10 }]));
    expect(await refusal(shown(silent))).to.equal('a in the ZIP has more bytes than its 10.');
    await silent.close();
  });

  it('are reported with the position of the damage', async () => {
    const whole = zipOf([{ name: 'a', content: 'a'.repeat(100) }]);
    expect(await refusal(opened(whole.subarray(0, -1)))).to.match(/is not a valid ZIP: /);
    expect(await refusal(opened(whole.subarray(0, 40)))).to.match(/is not a valid ZIP: /);
    expect(await refusal(opened(zipOf([{ name: 'a' }], 3)))).to.match(/is not a valid ZIP: /);
    const cases: [ZipEntry, RegExp][] = [
      [{ name: 'a', content: 'a', checksum: 5 }, /^a in the ZIP is damaged: its CRC-32 differs\.$/],
      [{ name: 'a', content: 'a', size: 5 }, /^a in the ZIP has fewer bytes than its 5\.$/],
    ];
    for (const [entry, message] of cases) {
      const tree = await opened(zipOf([entry]));
      expect(await refusal(shown(tree))).to.match(message);
      await tree.close();
    }
    const broken = Buffer.from(whole);
    broken.fill(0xff, 31, 34);
    const tree = await opened(broken);
    expect(await refusal(shown(tree))).to.match(/^a in the ZIP is damaged: /);
    await tree.close();
  });

  it('have no entry that is both file and folder', async () => {
    const tree = await opened(
      zipOf([
        { name: 'a', content: 'x' },
        { name: 'a/b', content: 'y' },
      ]),
    );
    expect(await shown(tree)).to.deep.equal(['a: It is rejected: it is also a directory.', 'a/: ', 'a/b: y']);
    await tree.close();
  });

  it('skip links, pipes and invalid names in folders', async () => {
    const root = join(folder, 'root');
    await mkdir(join(root, 'b'), { recursive: true });
    await symlink('/etc/passwd', join(root, 'a'));
    await symlink('/etc', join(root, 'b', 'etc'));
    await symlink('..', join(root, 'b', 'up'));
    execFileSync('mkfifo', [join(root, 'c')]);
    await writeFile(Buffer.concat([Buffer.from(`${root}/`), Buffer.from([0x64, 0xff])]), 'x');
    await writeFile(join(root, 'e'), 'whole');
    const tree = await openFolderTree(root);
    const link = 'It is a symbolic link; these are not followed.';
    expect(await shown(tree)).to.deep.equal([
      `a: ${link}`,
      'b/: ',
      `b/etc: ${link}`,
      `b/up: ${link}`,
      'c: It is neither a file nor a directory.',
      'd?: Its name is not UTF-8.',
      'e: whole',
    ]);
    for (const path of ['a', 'b/etc/passwd', 'b/up/e', '../root/e', '/etc/passwd', 'c', 'b', 'none'])
      expect(await tree.file(path), path).to.equal(undefined);
    expect((await tree.file('e'))?.size).to.equal(5);
  });

  it('never write outside of the folder, over existing files, or under invalid names', async () => {
    const root = join(folder, 'root');
    const sink = await openFolderSink(root);
    const bytes = Buffer.from('x');
    for (const path of ['../a', '/a', 'a/../../b', 'a//b', '.', '', 'e\0f'])
      expect(await refusal(sink.add(path, bytes)), path).to.match(/ cannot be written: /);
    await sink.add('a', bytes);
    expect(await refusal(sink.add('a', bytes))).to.equal('a cannot be written: another file has the same name.');
    expect(await refusal(sink.add('ä'.repeat(128), bytes))).to.match(
      / has 256 bytes; the limit of file systems is 255\.$/,
    );
    await sink.end();
    expect(await shown(await openFolderTree(folder))).to.deep.equal(['root/: ', 'root/a: x']);
    expect(await refusal(openFolderSink(root))).to.match(/ is not empty\./);
  });

  describe('with a million triples in one line', function () {
    this.timeout(120_000);
    let server: ServerProcess;
    before(async () => {
      server = await startOwned(owner);
    });
    after(async () => {
      await server.kill();
      await rm(server.dataDir, { recursive: true, force: true });
    });

    /** Archive with one line. */
    function archive(line: object): Buffer {
      const content = Buffer.from(`${JSON.stringify(line)}\n`);
      const part = { bytes: content.length, sha256: hash('sha256', content, 'base64') };
      const trailer = trailerBytes({ parts: [part], members: 1, triples: 1, files: 0 });
      return zipOf([
        { name: headFile, content: headBytes({ storage: server.root, container: server.root, made: '' }) },
        { name: partFile(0), content },
        { name: trailerFile, content: trailer },
      ]);
    }
    const triples = (): string =>
      Array.from({ length: 1_000_000 }, (_, at) => `<http://e.example/s> <http://e.example/p> "${at}" .\n`).join('');

    for (const [place, lineOf, failure] of [
      [
        'a graph',
        () => ({ path: 'g', kind: 'rdf', triples: triples() }),
        /:1: Its triples have \d{8} characters; the limit of a line is 1048576/,
      ],
      [
        'an access list',
        () => ({ path: 'c/', kind: 'container', acl: { triples: triples() } }),
        /requires more than 512 MiB of memory/,
      ],
    ] as const)
      it(`fail with a report and leave the server unchanged: ${place}`, async () => {
        const headers = { ...by(server, owner), 'Content-Type': 'application/zip' };
        const begun = await request(`${server.root}.lws/import?acls=yes`, {
          ...{ method: 'POST', headers, body: archive(lineOf()) },
        });
        expect(begun.status, begun.text).to.equal(202);
        const lines = { ...by(server, owner), Accept: 'application/x-ndjson' };
        const { text: told } = await request(begun.headers['location']!, { headers: lines });
        const outcome = JSON.parse(told.trim().split('\n').at(-1)!) as ReportedImport;
        expect(outcome.status).to.equal('failed');
        expect(outcome.failure).to.match(failure);
        expect(outcome.created).to.equal(0);
        expect(server.output.stdout, 'warnings and errors in the log').to.equal('');
        const put = { method: 'PUT', headers: { ...by(server, owner), 'If-None-Match': '*' }, body: 'x' };
        expect((await request(`${server.root}after-${place.length}`, put)).status).to.equal(201);
      });
  });
});
