/** File trees: files written to a directory or a ZIP are read back. */
import fc from 'fast-check';
import '../../../support/random-seed.js';
import { createWriteStream } from 'node:fs';
import { mkdtemp, readFile, rm, stat } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { PassThrough, Writable } from 'node:stream';
import { expect } from 'chai';
import { openFolderSink } from '../../../../components/data/transfer/trees/folder-sink.js';
import { openFolderTree } from '../../../../components/data/transfer/trees/folder-tree.js';
import { ZipSink } from '../../../../components/data/transfer/trees/zip-sink.js';
import { openZipTree } from '../../../../components/data/transfer/trees/zip-tree.js';
import type { FileTree, TreeFile, TreeSink } from '../../../../lib/exchange/file-tree.js';
import { runs } from '../../../support/speed.js';

async function contentOf(content: AsyncIterable<Uint8Array>): Promise<Buffer> {
  const chunks: Uint8Array[] = [];
  for await (const chunk of content) chunks.push(chunk);
  return Buffer.concat(chunks);
}

type Files = Readonly<Record<string, string>>;

async function written(files: Files, sink: TreeSink): Promise<void> {
  for (const [path, content] of Object.entries(files)) {
    const bytes = Buffer.from(content);
    // Half of the files are written in pieces.
    const pieces = async function* (): AsyncGenerator<Uint8Array> {
      for (let at = 0; at < bytes.length; at += 3) yield bytes.subarray(at, at + 3);
    };
    await sink.add(path, content.length % 2 === 0 ? bytes : pieces(), { modified: 1_700_000_000_000 });
  }
  await sink.end();
}

async function read(tree: FileTree, after?: string): Promise<[string, string][]> {
  const found: [string, string][] = [];
  for await (const file of tree.files(after)) {
    if ('refused' in file) throw new Error(`${file.path}: ${file.refused}`);
    found.push([file.path, (await contentOf(file.open())).toString()]);
  }
  return found;
}

/** Returns the files with all their directories, in tree order. */
function expected(files: Files): [string, string][] {
  const all = new Map<string, string>();
  for (const [path, content] of Object.entries(files)) {
    for (let at = path.indexOf('/'); at >= 0; at = path.indexOf('/', at + 1)) all.set(path.slice(0, at + 1), '');
    if (!path.endsWith('/')) all.set(path, content);
  }
  return [...all].sort(([a], [b]) => (a < b ? -1 : 1));
}

describe('File trees', () => {
  let folder: string;
  beforeEach(async () => {
    folder = await mkdtemp(join(tmpdir(), 'trees-'));
  });
  afterEach(() => rm(folder, { recursive: true }));

  const trees: Readonly<Record<string, (files: Files, name: string) => Promise<FileTree>>> = {
    'in a directory': async (files, name) => {
      await written(files, await openFolderSink(join(folder, name)));
      return openFolderTree(join(folder, name));
    },
    'in a ZIP': async (files, name) => {
      const file = join(folder, `${name}.zip`);
      await written(files, new ZipSink(createWriteStream(file)));
      return openZipTree(file);
    },
  };

  for (const [where, make] of Object.entries(trees))
    it(`${where} contain the written files, from any position on`, async () => {
      const name = fc.constantFrom('a', 'a.ttl', 'a b', 'ä', '💩', '-', '~', 'A', '%41', '"', '\n');
      const leaf = fc.tuple(fc.array(name, { maxLength: 2 }), name, fc.boolean()).map(([folders, last, isFolder]) => {
        return `${[...folders.map((each) => `d${each}/`), isFolder ? `d${last}/` : last].join('')}`;
      });
      let run = 0;
      await fc.assert(
        fc.asyncProperty(fc.dictionary(leaf, fc.string({ maxLength: 10 }), { maxKeys: 8 }), async (files) => {
          const tree = await make(files, `run${run++}`);
          const all = expected(files);
          expect(await read(tree)).to.deep.equal(all);
          for (const [index, [path]] of all.entries())
            expect(await read(tree, path)).to.deep.equal(all.slice(index + 1));
          for (const [path] of all)
            expect((await tree.file(path))?.path).to.equal(path.endsWith('/') ? undefined : path);
          expect(tree.total).to.equal(all.reduce((sum, [, content]) => sum + Buffer.byteLength(content), 0));
          await tree.close();
        }),
        { numRuns: runs(25) },
      );
    });

  it('preserve dates, and are accessible to their owner only', async () => {
    const dated: Files = { 'a/b': 'content' };
    for (const make of Object.values(trees)) {
      const tree = await make(dated, 'dated');
      expect(((await tree.file('a/b')) as TreeFile).modified).to.equal(1_700_000_000_000);
      await tree.close();
    }
    expect((await stat(join(folder, 'dated', 'a', 'b'))).mode & 0o777).to.equal(0o600);
    expect((await stat(join(folder, 'dated', 'a'))).mode & 0o777).to.equal(0o700);
  });

  it('result in the same ZIP for the same files', async () => {
    for (const name of ['one', 'two']) await (await trees['in a ZIP']!({ a: '1', 'b/c': '22' }, name)).close();
    expect(await readFile(join(folder, 'one.zip'))).to.deep.equal(await readFile(join(folder, 'two.zip')));
  });

  it('apply backpressure when streamed as a ZIP', async () => {
    const out = new PassThrough({ highWaterMark: 1 << 16 });
    const sink = new ZipSink(out);
    let given = 0;
    const endless = async function* (): AsyncGenerator<Uint8Array> {
      for (; given < 1_000; given++) yield Buffer.from(Array.from({ length: 65_536 }, () => Math.random() * 256));
    };
    const adding = sink.add('a', endless());
    const turn = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));
    while (!out.writableNeedDrain) await turn();
    for (let turns = 0; turns < 500; turns++) await turn();
    expect(given).to.be.below(100);
    out.destroy();
    expect(await adding.catch((error: Error) => error.message)).to.be.a('string');
    expect(await sink.end().catch((error: Error) => error.message)).to.be.a('string');
  });

  it('fail if the output or a content fails', async () => {
    const full = new Writable({
      write: (_chunk, _encoding, done) => done(new Error('the disk is full')),
    });
    const sink = new ZipSink(full);
    const failing = async (): Promise<void> => {
      for (let index = 0; index < 200; index++) await sink.add(`a${index}`, Buffer.from('a'));
      await sink.end();
    };
    expect(await failing().catch((error: Error) => error.message)).to.equal('the disk is full');
    const other = new ZipSink(new PassThrough().resume());
    const broken = async function* (): AsyncGenerator<Uint8Array> {
      yield Buffer.from('a');
      throw new Error('the source is gone');
    };
    expect(await other.add('a', broken()).catch((error: Error) => error.message)).to.equal('the source is gone');
    expect(await other.end().catch((error: Error) => error.message)).to.equal('the source is gone');
  });
});
