/** Names of entries in ZIP files (APPNOTE 4.4.4, 4.6.9, D.1, D.2). */
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { crc32 } from 'node:zlib';
import { expect } from 'chai';
import { openZipTree } from '../../../../components/data/transfer/trees/zip-tree.js';
import { type ZipEntry, zipOf } from '../../../support/zip.js';

/** Info-ZIP Unicode Path Extra Field. @param of name in the header */
function unicodePath(name: string | Uint8Array, of: Uint8Array, { version = 1, checksum = crc32(of) } = {}): Buffer {
  const bytes = Buffer.from(name as string);
  const head = Buffer.alloc(9);
  head.writeUInt16LE(0x7075, 0);
  head.writeUInt16LE(5 + bytes.length, 2);
  head.writeUInt8(version, 4);
  head.writeUInt32LE(checksum, 5);
  return Buffer.concat([head, bytes]);
}

describe('Names in a ZIP', () => {
  async function names(entries: readonly ZipEntry[]): Promise<string[]> {
    const folder = await mkdtemp(join(tmpdir(), 'zip-names-'));
    try {
      await writeFile(join(folder, 'a.zip'), zipOf(entries));
      const tree = await openZipTree(join(folder, 'a.zip'));
      const found: string[] = [];
      for await (const file of tree.files())
        found.push('refused' in file ? `${file.path}: ${file.refused}` : file.path);
      await tree.close();
      return found;
    } finally {
      await rm(folder, { recursive: true });
    }
  }
  const dos = Buffer.from([0x67, 0x72, 0x94, 0xe1, 0x65]);

  it('are code page 437 without the flag for UTF-8 (APPNOTE D.1)', async () => {
    expect(await names([{ name: dos, flags: 0 }])).to.deep.equal(['größe'.replace('ß', '\u00df')]);
    // Unicode's mapping CP437.TXT: 0x80 is U+00C7, 0xE0 is U+03B1, 0xFF is U+00A0.
    expect(await names([{ name: Buffer.from([0x80, 0xe0, 0xff]), flags: 0 }])).to.deep.equal(['\u00c7\u03b1\u00a0']);
  });

  it('are UTF-8 with the flag, and without it if they are valid UTF-8 (APPNOTE D.2)', async () => {
    for (const flags of [0, 0x800]) expect(await names([{ name: 'größe', flags }])).to.deep.equal(['größe']);
    expect(await names([{ name: dos }])).to.deep.equal(['gr??e: It is rejected: its name is not UTF-8.']);
  });

  it('are those of the Unicode Path field if its CRC-32 is that of the name (APPNOTE 4.6.9)', async () => {
    const entry = { name: dos, flags: 0 };
    expect(await names([{ ...entry, extra: unicodePath('größe €', dos) }])).to.deep.equal(['größe €']);
    const other = Buffer.from([1, 0, 2, 0, 7, 7]);
    const extra = Buffer.concat([other, unicodePath('größe €', dos)]);
    expect(await names([{ ...entry, extra }])).to.deep.equal(['größe €']);
    for (const wrong of [{ checksum: 1 }, { version: 2 }])
      expect(await names([{ ...entry, extra: unicodePath('x', dos, wrong) }])).to.deep.equal(['größe']);
    expect(await names([{ name: 'a', extra: unicodePath('x', Buffer.from('a')) }]), 'flag').to.deep.equal(['a']);
  });

  it('are checked after they are decoded', async () => {
    const plain = Buffer.from('plain');
    const refused = async (name: string | Uint8Array): Promise<string> =>
      (await names([{ name: plain, flags: 0, extra: unicodePath(name, plain) }])).join();
    expect(await refused('../x')).to.match(/leads out of the directory/);
    expect(await refused('/x')).to.match(/its name is absolute/);
    expect(await refused('a\\x')).to.match(/backslash/);
    expect(await refused(Buffer.from([0xff]))).to.match(/not UTF-8/);
    const same = [{ name: 'größe' }, { name: dos, flags: 0, extra: unicodePath('größe', dos) }];
    expect(await names(same)).to.deep.equal(['größe', 'größe: It is rejected: another entry has the same name.']);
  });
});
