/** Detection of the format of a source, and the errors for unknown formats. */
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { PassThrough } from 'node:stream';
import { gzipSync } from 'node:zlib';
import { expect } from 'chai';
import { detectFormat, openReader, openWriter, type Source } from '../../../support/formats.js';
import { zipOf } from '../../../support/zip.js';

const into = 'http://new.example/';
const quad = `<${into}a> <${into}p> "o" <${into}a> .\n`;

describe('Format of a source', () => {
  let folder: string;
  beforeEach(async () => {
    folder = await mkdtemp(join(tmpdir(), 'formats-'));
  });
  afterEach(() => rm(folder, { recursive: true }));

  async function put(name: string, content: string | Uint8Array): Promise<string> {
    const path = join(folder, name);
    await writeFile(path, content);
    return path;
  }

  async function membersOf(source: Source, format?: string): Promise<string[]> {
    const reader = await openReader(source, format);
    const found: string[] = [];
    for await (const { member } of reader.read({ into, rewrite: [] }))
      found.push(
        member.kind === 'state' || member.kind === 'left-out' ? member.source : `${member.kind} ${member.path}`,
      );
    await reader.close();
    return found;
  }
  const refusal = (work: Promise<unknown>): Promise<string> =>
    work.then(
      () => 'none',
      (error: Error) => error.message,
    );

  it('is detected by name, media type and content', async () => {
    await mkdir(join(folder, 'files.nq'));
    await put('files.nq/a.ttl', '<> <#p> 1 .');
    const uploaded = await put('upload', quad);
    const cases: [Source, string, string[]][] = [
      [{ path: await put('a.nq', quad) }, 'nquads', ['rdf a']],
      [{ path: await put('a.nq.gz', gzipSync(quad)) }, 'nquads', ['rdf a']],
      // Downloaded by a client that decompresses it.
      [{ path: await put('b.nq.gz', quad) }, 'nquads', ['rdf a']],
      [{ path: await put('a.trig', `<${into}a> { <${into}a> <${into}p> 1 }`) }, 'trig', ['rdf a']],
      [{ path: uploaded, name: 'dump.nq' }, 'nquads', ['rdf a']],
      [{ path: uploaded, mediaType: 'application/n-quads; charset=utf-8' }, 'nquads', ['rdf a']],
      [{ path: join(folder, 'files.nq') }, 'folder', ['rdf a.ttl']],
      [{ path: await put('b', zipOf([{ name: 'b.txt' }])) }, 'zip', ['bytes b.txt']],
      [{ path: await put('none.zip', zipOf([])) }, 'zip', []],
      [{ path: await put('note.ttl', '<> <#p> 1 .') }, 'file', ['rdf note.ttl']],
      [{ path: await put('s.shc', 'PREFIX ex: <http://e.example/>\nshape ex:S {}') }, 'file', ['rdf s.shc']],
      [{ path: uploaded, name: '../note.nt' }, 'file', ['../note.nt'.slice(3)]],
    ];
    for (const [source, format, members] of cases) {
      expect(await detectFormat(source), source.path).to.equal(format);
      expect(await membersOf(source)).to.deep.equal(members);
    }
  });

  it('must be specified if it cannot be detected', async () => {
    const path = await put('a.txt', quad);
    expect(await refusal(openReader({ path }))).to.match(/^a\.txt is not a directory, a ZIP, .*: nquads, trig, zip/);
    expect(await membersOf({ path }, 'nquads')).to.deep.equal(['rdf a']);
    const page = await put('a.html', '<b>');
    expect(await refusal(openReader({ path: page }))).to.match(/^a\.html is not a directory.*\. Specify its format/);
    expect(await membersOf({ path: page }, 'file')).to.deep.equal(['bytes a.html']);
    expect(await refusal(openReader({ path }, 'toString'))).to.match(/^"toString" is not a readable format/);
    expect(await refusal(openReader({ path: join(folder, 'none') }))).to.match(/none is not readable \(ENOENT\)\.$/);
    expect(await refusal(openReader({ path: folder }, 'nquads'))).to.match(/ is not a file\.$/);
    expect(await refusal(openReader({ path }, 'zip'))).to.match(/is not a valid ZIP/);
    const stream = new PassThrough();
    expect(await refusal(openWriter('file', { stream }, { of: into }))).to.match(/^"file" is not a writable format/);
    expect(await refusal(openWriter('nquads', { folder }, { of: into }))).to.match(/^This format is a single file/);
  });
});
