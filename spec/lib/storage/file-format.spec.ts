/** The tables and examples of docs/internals/file-format.md are those of the source and of a store. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'chai';
import { Parser } from 'n3';
import { replace } from '../../../lib/resources/replace.js';
import { storeFormat } from '../../../lib/storage/graphs/format.js';
import { lengthAt, suffixLengths } from '../../../lib/storage/keys/key-layout.js';
import { encodeQuads } from '../../../lib/storage/keys/quad-keys.js';
import { packageRoot } from '../../../lib/tools/threads/package-root.js';
import { root } from '../../support/memory-store.js';
import { body, specStorage } from '../../support/storage.js';

const page = readFileSync(join(packageRoot, 'docs/internals/file-format.md'), 'utf8');

/** Cells of the rows of the table after a line. */
function table(head: string): readonly (readonly string[])[] {
  const [, text = ''] = page.split(`\n${head}\n`);
  const rows = text.split('\n\n', 1)[0]!.split('\n').slice(1);
  return rows.map((row) =>
    row
      .split('|')
      .slice(1, -1)
      .map((cell) => cell.trim()),
  );
}

const code = (cell: string): string => cell.slice(1, -1);

describe('docs/internals/file-format.md', () => {
  it('has the letters of terms, with their number of lengths', () => {
    const rows = table('| letter | term | its parts in the key | lengths |');
    const lengths = Object.fromEntries(rows.map(([letter, , , count]) => [code(letter!), 1 + 4 * Number(count)]));
    expect(lengths).to.deep.equal(suffixLengths);
  });

  it('has examples of keys', () => {
    const rows = table('| object | key |');
    expect(rows).to.have.lengthOf(7);
    for (const [object, shown] of rows) {
      const quads = new Parser({ blankNodePrefix: '' }).parse(`<http://s/a> <http://s/p> ${code(object!)} .`);
      const [{ key }] = encodeQuads('http://s/g', quads) as unknown as [{ key: string }];
      expect(key.replaceAll('\u0000', '·')).to.equal(code(shown!));
      const end = Number.parseInt(key.slice(-5), 36);
      expect(lengthAt(key, key.length - 5 - end + 1)).to.equal('http://s/g'.length);
    }
  });

  it('has the first parts of all keys of a store, and its format', async () => {
    const { storage, dispose } = await specStorage();
    const open = { ...storage, requireConditionalWrites: false };
    for (const [name, content, type] of [
      ['graph', '<#a> <#b> 1 .', 'text/turtle'],
      ['text', 'some text', 'text/plain'],
    ] as const)
      await replace(open, {
        ...{ iri: root + name, access: {}, preconditions: {}, model: undefined },
        body: body(content, type),
      });
    const found = new Set<string>();
    for await (const key of storage.store.level.keys()) found.add(key.split('\u0000', 1)[0]!);
    const named = table('| first part | key | value |').map(([first]) => code(first!));
    for (const first of found) expect(named).to.include(first);
    // Garbage, and the only part that a store of two resources lacks.
    expect(named.filter((first) => !found.has(first)).sort()).to.deep.equal(['E', 'G']);
    expect(page).to.include(`is the format of the storage (\`${storeFormat}\`)`);
    await dispose();
  });
});
