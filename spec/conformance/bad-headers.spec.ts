/** Bad input: malformed header fields. Each is rejected with 4xx, or ignored if its RFC allows that. */
import { expect } from 'chai';
import { describeStorage, ldp, type StorageUnderTest } from '../support/conformance.js';
import { expectProblem, expectUnparsed } from '../support/expectations.js';
import { exchange, head } from '../support/http.js';
import { mediaType } from '../support/rdf.js';

const raw = (s: StorageUnderTest, method: string, iri: string, fields: Record<string, string>, body = '') =>
  exchange(iri, [
    Buffer.from(
      head(iri, method, { Authorization: `Bearer ${s.token}`, Connection: 'close', ...fields }) + body,
      'latin1',
    ),
  ]);

const junk = ['', ',', ';', '=', '"', '"open', '\\', 'a'.repeat(5000), ';;;=,,"', '\u00e9\u00ff', '%', '<', '()', '\t'];

describeStorage('Bad input: header fields', (s) => {
  it('only the script of the server is allowed as a service worker, never a stored resource (rule 10.9)', async () => {
    const { iri } = await s.stored('text/javascript', 'onfetch = () => {};');
    const fields = { 'Service-Worker': 'script', 'Sec-Fetch-Dest': 'serviceworker' };
    for (const asked of [iri, s.root, `${s.root}app`, `${s.root}nothing.js`]) {
      const answer = await s.get(asked, fields);
      expectProblem(answer, 403, s);
      expect(answer.text).not.to.contain('onfetch');
    }
    expect((await s.get(iri)).text).to.equal('onfetch = () => {};');
  });

  for (const Accept of [
    ...junk,
    'text',
    'text/',
    '/',
    '*',
    'text/turtle;q',
    'text/turtle;q=x',
    'text/turtle;q=2',
    'text/turtle;q=-1',
    'a/b;c="',
    '*/turtle',
  ])
    it(`Bad input, Accept: "${Accept.slice(0, 30)}" is ignored or partly parsed: 200`, async () => {
      const { iri } = await s.stored('text/turtle', '<> a <#C> .');
      const answer = await s.get(iri, { Accept });
      expect(answer.status).to.equal(200);
      expect(mediaType(answer)).to.match(/turtle|json|n-triples|xml|trig/);
      expect((await s.get(s.scratch, { Accept })).status).to.equal(200);
      expect((await s.get(s.root, { Accept })).status).to.equal(200);
    });

  for (const tag of [
    ...junk.filter((value) => value.trim() !== ''),
    'abc',
    'W/',
    "'a'",
    '"a" "b"',
    '"a"b',
    '*, "a"',
    '**',
    'w/"a"',
    '"a',
    '\u0022\u00e9\u0022',
  ])
    it(`Bad input, If-Match: ${tag.slice(0, 30)} never permits a write: 400 or 412`, async () => {
      const { iri, etag } = await s.stored('text/plain', 'x');
      expectProblem(await s.put(iri, 'text/plain', 'y', { 'If-Match': tag }), [400, 412], s);
      expectProblem(await s.delete(iri, { 'If-Match': tag }), [400, 412], s);
      const iri2 = s.fresh();
      expectProblem(await s.put(iri2, 'text/plain', 'y', { 'If-Match': tag }), [400, 412], s);
      await s.expectAbsent(iri2);
      expect(await s.tag(iri)).to.equal(etag);
    });

  for (const tag of ['abc', '"open', '*, "a"', ',,"'])
    it(`Bad input, If-None-Match: ${tag} matches nothing on a read and permits no replacement`, async () => {
      const { iri } = await s.stored('text/plain', 'x');
      expect((await s.get(iri, { 'If-None-Match': tag })).status).to.be.oneOf([200, 400]);
      expectProblem(await s.put(iri, 'text/plain', 'y', { 'If-None-Match': tag }), [400, 412, 428], s);
      expect((await s.get(iri)).text).to.equal('x');
    });

  for (const date of ['yesterday', '0', '2026-01-01T00:00:00Z', 'Mon, 99 Foo 2026 99:99:99 GMT', '', '9'.repeat(400)])
    it(`Bad input, RFC 9110 13.1.3: If-Modified-Since: ${date.slice(0, 30)} is not a date and is ignored`, async () => {
      const { iri } = await s.stored('text/plain', 'x');
      expect((await s.get(iri, { 'If-Modified-Since': date })).status).to.equal(200);
      expect((await s.get(iri, { 'If-Unmodified-Since': date })).status).to.equal(200);
    });

  for (const link of [
    '<',
    '<x',
    'x; rel=type',
    '<>; rel',
    `<${ldp}Container>; rel="type`,
    `<${ldp}Container> rel="type"`,
    ',,,',
    '<x>;;;',
    `<${ldp}Container>; rel=`,
  ])
    it(`Bad input, Link: ${link.slice(-30)} is 400 or ignored`, async () => {
      const iri = s.fresh();
      const answer = await s.put(iri, 'text/plain', 'x', { Link: link });
      expect(answer.status, answer.text).to.be.oneOf([201, 400]);
      if (answer.status === 400) expectProblem(answer, 400, s);
      expect((await s.get(iri)).status).to.equal(answer.status === 201 ? 200 : 404);
    });

  for (const Prefer of [...junk, 'set-linkset=', 'include="', 'return=minimal; foo="', 'wait=x'])
    it(`Bad input, RFC 7240: Prefer: ${Prefer.slice(0, 30)} is ignored`, async () => {
      const { iri } = await s.stored('text/turtle', '');
      expect((await s.get(iri, { Prefer })).status).to.equal(200);
      expect((await s.get(`${iri}.meta`, { Prefer })).status).to.equal(200);
      expect((await s.put(s.fresh(), 'text/plain', 'x', { Prefer })).status).to.equal(201);
    });

  for (const field of ['Want-Repr-Digest', 'Want-Content-Digest'])
    it(`Bad input, RFC 9530: a malformed ${field} is ignored`, async () => {
      const { iri } = await s.stored('text/plain', 'x');
      for (const value of [...junk, 'sha-256=99', 'sha-256=:x:', 'sha-256=1.5']) {
        const answer = await s.get(iri, { [field]: value });
        expect(answer.status, value.slice(0, 30)).to.equal(200);
        expect(answer.headers[field.slice(5).toLowerCase()], value.slice(0, 30)).to.equal(undefined);
      }
    });

  for (const type of [
    'text',
    'text/',
    '/',
    ';',
    'text/turtle; charset="',
    'text/*',
    '*/*',
    'text/turtle, text/plain',
    'a b/c',
    '"text/turtle"',
    'te\u00e9/x',
  ])
    it(`Bad input, Content-Type: ${type} is 400 or 415 and stores nothing`, async () => {
      const iri = s.fresh();
      expectProblem(await s.put(iri, type, '<> a <#C> .'), [400, 415], s);
      await s.expectAbsent(iri);
    });

  it('Bad input, Slug: every value leads to a valid name', async () => {
    for (const Slug of [
      ...junk.filter((value) => !value.includes('<')),
      'a'.repeat(5000),
      '%00',
      '%2e%2e',
      '%2F',
      '..%2f..',
      '.'.repeat(300),
      'CON',
      'a\tb',
    ]) {
      const container = await s.container();
      const answer = await s.post(container, 'text/plain', 'x', { Slug });
      expect(answer.status, Slug.slice(0, 30)).to.equal(201);
      const iri = new URL(answer.headers['location']!, container).href;
      expect(iri.startsWith(container) && iri.length > container.length, iri).to.equal(true);
      expect((await s.get(iri)).text).to.equal('x');
    }
  });

  it('Bad input, Depth: values other than infinity are ignored', async () => {
    const container = await s.container();
    await s.stored('text/plain', 'x', `${container}x`);
    for (const Depth of ['', '-1', 'infinit', 'infinity1', '"infinity"', 'a'.repeat(5000)])
      expectProblem(await s.delete(container, { Depth }), 409, s);
  });

  for (const [what, fields, body] of [
    ['a non-numeric Content-Length', { 'Content-Length': 'x' }, 'abc'],
    ['a negative Content-Length', { 'Content-Length': '-1' }, 'abc'],
    ['a Content-Length with a sign', { 'Content-Length': '+3' }, 'abc'],
    ['two different lengths', { 'Content-Length': '3, 4' }, 'abc'],
    [
      'a Content-Length with Transfer-Encoding',
      { 'Content-Length': '3', 'Transfer-Encoding': 'chunked' },
      '3\r\nabc\r\n0\r\n\r\n',
    ],
    ['an unknown Transfer-Encoding', { 'Transfer-Encoding': 'x' }, 'abc'],
    ['a non-numeric chunk size', { 'Transfer-Encoding': 'chunked' }, 'xyz\r\nabc\r\n0\r\n\r\n'],
    ['a field with a NUL', { Slug: 'a\u0000b', 'Content-Length': '0' }, ''],
    ['a field name with a blank', { 'Bad Name': 'x', 'Content-Length': '0' }, ''],
    ['a bare CR in a field', { Slug: 'a\rb', 'Content-Length': '0' }, ''],
    ['an obsolete line folding with a NUL', { Slug: 'a\r\n \u0000', 'Content-Length': '0' }, ''],
  ] as const)
    it(`Bad input, RFC 9112: ${what} is 4xx with a problem document and stores nothing`, async () => {
      const iri = s.fresh();
      expectUnparsed(await raw(s, 'PUT', iri, fields as Record<string, string>, body), [400, 411]);
      await s.expectAbsent(iri);
    });

  it('Bad input, extreme lengths: 100 kB of header fields are 431 with a problem document', async () => {
    expectProblem(await raw(s, 'GET', s.scratch, { 'X-Long': 'a'.repeat(100_000) }), 431);
  });

  it('Bad input, Expect: values other than 100-continue are 417 or ignored', async () => {
    const iri = s.fresh();
    const answer = await raw(s, 'PUT', iri, { Expect: 'miracles', 'Content-Length': '1' }, 'x');
    expect(answer?.status).to.be.oneOf([201, 417]);
    if (answer?.status === 417) expectProblem(answer, 417);
  });
});
