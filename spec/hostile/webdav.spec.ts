/** Multistatus documents of many members with many names: the body of a stranger must not occupy the server (rule 25.4). */
import { expect } from 'chai';
import { wholeOf, writerOf } from '../../components/webdav/properties.js';

describe('WebDAV responses', () => {
  it('repeat short names only, in parts between which other work runs (rule 25.4)', async () => {
    const names = Array.from({ length: 64 }, (_, i) => ({ namespace: '"'.repeat(290), localName: `p${i}` }));
    const member = (i: number) => ({
      ...{ iri: `https://storage.example/c/m${i}`, mediaType: 'text/plain', size: 1, created: 0, modified: 0 },
      isContainer: false,
    });
    const writer = writerOf({ kind: 'named', names }, 'https://storage.example');
    const members = Array.from({ length: 1_000 }, (_, i) => member(i));
    const sizes: number[] = [];
    let turns = 0;
    let timer = setImmediate(function turn() {
      turns += 1;
      timer = setImmediate(turn);
    });
    let text = '';
    for await (const part of wholeOf(writer, member(-1), [members])) {
      sizes.push(part.length);
      text += part;
    }
    clearImmediate(timer);
    expect(Math.max(...sizes)).to.be.below(64 << 10);
    expect(turns).to.be.at.least(sizes.length - 1);
    expect(text.split('&quot;').length - 1, 'one declaration').to.equal(290);
    expect(text.split('<D:response>').length - 1).to.equal(1_001);
    expect(text.length).to.be.below(1_001 * 1_024);
  });
});
