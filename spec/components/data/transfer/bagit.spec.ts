/** BagIt: round trip, and rejection of bags that are incomplete or differ from their manifests. */
import { hash } from 'node:crypto';
import { expect } from 'chai';
import fc from 'fast-check';
import { formatTools } from '../../../../components/data/exchange/format-tools.js';
import { writeTools } from '../../../../components/data/exchange/write-tools.js';
import { bagReader, isBag } from '../../../../components/formats/bagit-reader.js';
import { BagWriter } from '../../../../components/formats/bagit-writer.js';
import type { Member } from '../../../../lib/exchange/member.js';
import {
  arbitraryResources,
  base,
  bytesMember,
  comparable,
  contentsOf,
  readAll,
  writeAll,
} from '../../../support/members.js';
import { type Files, memorySink, memoryTree } from '../../../support/memory-tree.js';
import '../../../support/random-seed.js';
import { runs } from '../../../support/speed.js';

async function bagOf(members: readonly Member[]): Promise<Files> {
  const { sink, files } = memorySink();
  await writeAll(new BagWriter(sink, { of: base, made: new Date('2026-01-02T03:04:05Z'), tools: writeTools }), members);
  return files;
}

const sha1 = (text: string): string => hash('sha1', text, 'hex');

/** Returns a bag as written by another program. */
const foreign = (): Files =>
  new Map(
    Object.entries({
      'bagit.txt': 'BagIt-Version: 0.97\nTag-File-Character-Encoding: UTF-8\n',
      'manifest-sha1.txt': `${sha1('a')} *data/a.txt\r\n${sha1('b').toUpperCase()}\t./data/50%25%0A.txt\r\n`,
      'data/a.txt': 'a',
      'data/50%25\n.txt': 'b',
    }).map(([path, text]) => [path, Buffer.from(text)]),
  );

describe('BagIt format', () => {
  it('round-trips members', async () => {
    await fc.assert(
      fc.asyncProperty(arbitraryResources({ blank: false, acl: false }), async (members) => {
        const tree = memoryTree(await bagOf(members), 7_000);
        expect(await isBag(tree)).to.equal(true);
        const found = await readAll(bagReader(tree, formatTools));
        expect(found.error).to.equal(undefined);
        expect(comparable(found.members, found.contents)).to.deep.equal(comparable(members, await contentsOf(members)));
      }),
      { numRuns: runs(40) },
    );
  });

  it('contains digests of all files, and a description', async () => {
    const files = await bagOf([bytesMember('a%0A%25.txt', 'text/plain', 'a')]);
    expect(String(files.get('manifest-sha256.txt'))).to.contain(`${hash('sha256', 'a', 'hex')}  data/`);
    expect(String(files.get('bag-info.txt'))).to.match(
      /^Bagging-Date: 2026-01-02\nExternal-Identifier: http:.*\nPayload-Oxum: \d+\.\d\n/,
    );
    const tags = String(files.get('tagmanifest-sha256.txt')).trim().split('\n');
    expect(tags.map((line) => line.slice(66))).to.deep.equal(['bagit.txt', 'bag-info.txt', 'manifest-sha256.txt']);
  });

  it('reads a bag of an older version and another program', async () => {
    const { contents, error } = await readAll(bagReader(memoryTree(foreign()), formatTools));
    expect(error).to.equal(undefined);
    expect([...contents].map(([path, bytes]) => `${path} ${bytes}`)).to.have.members(['a.txt a', '50%2525%0A.txt b']);
  });

  /** Puts all files into a directory. */
  const within = (folder: string, files: Files): Files =>
    new Map([...files].map(([path, bytes]) => [folder + path, bytes]));

  it('reads a bag in the only directory of a tree (RFC 8493 4)', async () => {
    const plain = await readAll(bagReader(memoryTree(foreign()), formatTools));
    const files = within('mybag/', foreign());
    for (const clutter of ['.DS_Store', '__MACOSX/._mybag', 'Thumbs.db']) files.set(clutter, Buffer.from('x'));
    expect(await isBag(memoryTree(files))).to.equal(true);
    const found = await readAll(bagReader(memoryTree(files), formatTools));
    expect([found.error, found.contents]).to.deep.equal([undefined, plain.contents]);
    expect(found.steps).to.have.length(plain.steps.length);
    for (const [index, { cursor }] of found.steps.entries()) {
      const { steps } = await readAll(bagReader(memoryTree(files), formatTools), { cursor });
      expect(steps).to.have.length(found.steps.length - index - 1);
    }
  });

  it('checks the digests of a bag in a directory (RFC 8493 3, 4)', async () => {
    for (const [path, message] of [
      ['data/a.txt', /^data\/a\.txt is damaged/],
      ['data/more', /^data\/more is in the bag, but not in its manifest/],
      ['fetch.txt', /^fetch\.txt: /],
    ] as const) {
      const files = foreign().set(path, Buffer.from('changed'));
      expect((await readAll(bagReader(memoryTree(within('mybag/', files)), formatTools))).error).to.match(message);
    }
  });

  it('does not take a tree with more than one directory for a bag, nor a bag deeper inside (RFC 8493 4)', async () => {
    for (const files of [
      new Map([...within('a/', foreign()), ...within('b/', foreign())]),
      within('a/', foreign()).set('readme.txt', Buffer.from('x')),
      within('a/b/', foreign()),
      new Map<string, Buffer>(),
    ]) {
      expect(await isBag(memoryTree(files))).to.equal(false);
      expect((await readAll(bagReader(memoryTree(files), formatTools))).error).to.match(/^bagit\.txt: .* missing/);
    }
  });

  it('rejects a bag that is incomplete or differs from its manifests, and names the file', async () => {
    const faults: [change: (files: Files) => unknown, message: RegExp][] = [
      [(files) => files.delete('data/a.txt'), /^data\/a\.txt is missing, but manifest-sha1\.txt lists it\.$/],
      [
        (files) => files.set('data/more', Buffer.from('')),
        /^data\/more is in the bag, but not in its manifest-sha1\.txt\.$/,
      ],
      [(files) => files.set('fetch.txt', Buffer.from('http://e.example/ 1 data/x')), /^fetch\.txt: .* not fetched/],
      [(files) => files.delete('manifest-sha1.txt'), /^The bag has no supported manifest/],
      [
        (files) => files.set('manifest-sha1.txt', Buffer.from('\nx data/a.txt')),
        /^manifest-sha1\.txt:2: The line must be a digest/,
      ],
      [(files) => files.set('bagit.txt', Buffer.from('BagIt-Version: x')), /^bagit\.txt: /],
      [
        (files) => files.set('bagit.txt', Buffer.from('BagIt-Version: 1.0\nTag-File-Character-Encoding: UTF-16')),
        /UTF-16/,
      ],
      [
        (files) => files.set('bag-info.txt', Buffer.from('Payload-Oxum: 2.3')),
        /^bag-info\.txt: The payload has 2 bytes in 2 files/,
      ],
      [
        (files) => files.set('tagmanifest-md5.txt', Buffer.from('00 bagit.txt')),
        /^bagit\.txt is damaged: .* tagmanifest-md5/,
      ],
      [
        (files) => files.set('tagmanifest-md5.txt', Buffer.from('00 gone.txt')),
        /^gone\.txt is missing, but tagmanifest-md5/,
      ],
      [(files) => files.set('manifest-md5.txt', Buffer.from('00 data/a.txt')), /not in its manifest-md5/],
    ];
    for (const [change, message] of faults) {
      const files = foreign();
      change(files);
      const { error, steps } = await readAll(bagReader(memoryTree(files), formatTools));
      expect(error).to.match(message);
      expect(steps).to.deep.equal([]);
    }
  });

  it('fails at a file with another digest', async () => {
    const files = foreign();
    files.set('data/a.txt', Buffer.from('c'));
    const { error, contents } = await readAll(bagReader(memoryTree(files), formatTools));
    expect(error).to.equal('data/a.txt is damaged: its digest differs from that in manifest-sha1.txt.');
    expect(contents.has('a.txt')).to.equal(false);
    const graph = foreign();
    graph.set('manifest-sha1.txt', Buffer.from(`${sha1('')} data/a.ttl`));
    for (const path of ['data/a.txt', 'data/50%25\n.txt']) graph.delete(path);
    graph.set('data/a.ttl', Buffer.from('<urn:a> <urn:b> <urn:c>.'));
    expect((await readAll(bagReader(memoryTree(graph), formatTools))).error).to.match(/^data\/a\.ttl is damaged/);
  });
});
