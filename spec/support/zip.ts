/** ZIP archives written byte by byte, including invalid ones. */
import { crc32, deflateRawSync } from 'node:zlib';

export interface ZipEntry {
  readonly name: string | Uint8Array;
  readonly content?: string | Uint8Array;
  /** Unix mode, including the file type. */
  readonly mode?: number;
  readonly flags?: number;
  readonly method?: number;
  /** Declared size, if it differs from the real one. */
  readonly size?: number;
  readonly checksum?: number;
  /** Extra field in the list of entries. */
  readonly extra?: Uint8Array;
  /** Index of the entry whose bytes it shares. */
  readonly sharedWith?: number;
}

/** Returns an archive with exactly these entries. @param count number of entries declared at its end */
export function zipOf(entries: readonly ZipEntry[], count = entries.length): Buffer {
  const parts: Buffer[] = [];
  const list: Buffer[] = [];
  const places: number[] = [];
  const contents: Buffer[] = [];
  let offset = 0;
  for (const entry of entries) {
    const { mode = 0o100644, flags = 0x800, method = 8, sharedWith } = entry;
    const name = Buffer.from(entry.name as string);
    const content = Buffer.from((entry.content ?? '') as string);
    const data = contents[sharedWith ?? -1] ?? (method === 8 ? deflateRawSync(content, { level: 9 }) : content);
    contents.push(data);
    const facts = Buffer.alloc(26);
    facts.writeUInt16LE(20, 0);
    facts.writeUInt16LE(flags, 2);
    facts.writeUInt16LE(method, 4);
    facts.writeUInt32LE(0x21_0000, 6);
    facts.writeUInt32LE(entry.checksum ?? crc32(content), 10);
    facts.writeUInt32LE(data.length, 14);
    facts.writeUInt32LE(entry.size ?? content.length, 18);
    facts.writeUInt16LE(name.length, 22);
    const at = sharedWith === undefined ? offset : places[sharedWith]!;
    places.push(at);
    const tail = Buffer.alloc(14);
    const extra = Buffer.from(entry.extra ?? []);
    const listed = Buffer.from(facts);
    listed.writeUInt16LE(extra.length, 24);
    tail.writeUInt32LE((mode << 16) >>> 0, 6);
    tail.writeUInt32LE(at, 10);
    list.push(Buffer.from('PK\x01\x02\x14\x03', 'latin1'), listed, tail, name, extra);
    if (sharedWith !== undefined) continue;
    const local = [Buffer.from('PK\x03\x04', 'latin1'), facts, name, data];
    parts.push(...local);
    offset += local.reduce((sum, { length }) => sum + length, 0);
  }
  const end = Buffer.alloc(22);
  end.write('PK\x05\x06', 'latin1');
  end.writeUInt16LE(count, 8);
  end.writeUInt16LE(count, 10);
  const directory = Buffer.concat(list);
  end.writeUInt32LE(directory.length, 12);
  end.writeUInt32LE(offset, 16);
  return Buffer.concat([...parts, directory, end]);
}
