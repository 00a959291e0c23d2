/** Links in header fields. Must not depend on the relations of the storage. */
import { expect } from 'chai';
import { formatLink, parseLinks } from '../../../../lib/tools/fields/link.js';

const read = (field: string) =>
  parseLinks(field)?.map(({ target, relations, attributes }) => [target, relations, Object.fromEntries(attributes)]);

describe('fields/link', () => {
  it('reads target, relation and attributes (RFC 8288 3)', () => {
    expect(read('<http://x/a>; rel="type"; title="A, \\"b\\"; c"')).to.deep.equal([
      ['http://x/a', ['type'], { title: 'A, "b"; c' }],
    ]);
    expect(read('<>;rel=self')).to.deep.equal([['', ['self'], {}]]);
  });

  it('reads several links, with commas and semicolons in their targets (RFC 8288 3)', () => {
    expect(read('<a,b;c> ; rel=x , <d>;rel=y')).to.deep.equal([
      ['a,b;c', ['x'], {}],
      ['d', ['y'], {}],
    ]);
  });

  it('tolerates empty list elements, and an empty field (RFC 9110 5.6.1.2)', () => {
    expect(read(', <a>;rel=x,, ')).to.deep.equal([['a', ['x'], {}]]);
    expect(read('')).to.deep.equal([]);
  });

  it('separates relations by white space (RFC 8288 3.3)', () => {
    expect(read('<a>; rel=" start  http://x/Rel\tnext "')).to.deep.equal([
      ['a', ['start', 'http://x/Rel', 'next'], {}],
    ]);
  });

  it('lower-cases registered relations, and keeps IRIs unchanged (RFC 8288 2.1, 3.3)', () => {
    expect(read('<a>; REL="Type HTTP://X/Y"')).to.deep.equal([['a', ['type', 'HTTP://X/Y'], {}]]);
  });

  it('uses the first rel only (RFC 8288 3.3)', () => {
    expect(read('<a>; rel=one; rel=two')).to.deep.equal([['a', ['one'], {}]]);
  });

  it('uses the first of a repeated attribute, in any case (RFC 8288 3.4.1)', () => {
    expect(read('<a>; rel=x; Type="a/b"; type="c/d"')).to.deep.equal([['a', ['x'], { type: 'a/b' }]]);
  });

  it('keeps the anchor among the attributes (RFC 8288 3.2)', () => {
    expect(read('<a>; rel=x; anchor="#foo"')).to.deep.equal([['a', ['x'], { anchor: '#foo' }]]);
  });

  it('reads a link without rel as one without relations (RFC 8288 3.3)', () => {
    expect(read('<a>')).to.deep.equal([['a', [], {}]]);
    expect(read('<a>; rel; x')).to.deep.equal([['a', [], { x: '' }]]);
  });

  it('allows white space around the sign, and attributes without a value (RFC 8288 3)', () => {
    expect(read('<a> ;rel = "x" ; crossorigin ;; y\t=\tz;')).to.deep.equal([['a', ['x'], { crossorigin: '', y: 'z' }]]);
  });

  it('reads the unquoted values that RFC 5988 allowed (RFC 5988 5)', () => {
    expect(read('<a>; rel=http://x/y?z=1; type=text/turtle')).to.deep.equal([
      ['a', ['http://x/y?z=1'], { type: 'text/turtle' }],
    ]);
  });

  it('keeps an extended attribute undecoded, under its own name (RFC 8288 3.4.1)', () => {
    expect(read("<a>; rel=x; title*=UTF-8''%C3%A9")).to.deep.equal([['a', ['x'], { 'title*': "UTF-8''%C3%A9" }]]);
  });

  it('rejects malformed fields as a whole (RFC 8288 3)', () => {
    for (const field of [
      'a',
      '<a',
      'a>',
      '<a b>',
      '<a<b>',
      '<a">',
      '<a\n>',
      '<a> rel=x',
      '<a>; rel="x',
      '<a>; rel=',
      '<a>; =x',
      '<a>; rel="x"y',
      '<a> <b>',
      '<a>; rel=x <b>',
      '<a>, b',
      '<a>; rel=x"y"',
    ])
      expect(read(field), field).to.equal(undefined);
  });

  it('writes target, relation and attributes (RFC 8288 3)', () => {
    expect(formatLink('http://x/a', 'describedby', { type: 'text/turtle' })).to.equal(
      '<http://x/a>; rel="describedby"; type="text/turtle"',
    );
    expect(formatLink('', 'self')).to.equal('<>; rel="self"');
  });

  it('escapes attribute values as quoted strings (RFC 9110 5.6.4)', () => {
    expect(formatLink('a', 'x', { title: 'a "b" \\c' })).to.equal('<a>; rel="x"; title="a \\"b\\" \\\\c"');
  });

  it('writes values beyond ASCII in the extended notation (RFC 8187 3.2.1, RFC 8288 3.4.1)', () => {
    expect(formatLink('a', 'x', { title: "é'(*)€ 😀" })).to.equal(
      '<a>; rel="x"; title*=UTF-8\'\'%C3%A9%27%28%2A%29%E2%82%AC%20%F0%9F%98%80',
    );
    expect(formatLink('a', 'x', { title: '\ud800' })).to.contain("title*=UTF-8''%EF%BF%BD");
  });

  it('prevents injection by a target, relation or value (RFC 8288 3)', () => {
    const field = formatLink('http://x/>; rel="y" é', 'a"\r\nX: y', { title: 'b\r\nX: y' });
    expect(field).to.match(/^[\x20-\x7e]+$/);
    expect(read(field)).to.deep.equal([
      ['http://x/%3E;%20rel=%22y%22%20%C3%A9', ['a"%0D%0AX:', 'y'], { 'title*': "UTF-8''b%0D%0AX%3A%20y" }],
    ]);
  });
});
