/** Bad input: percent-encodings, control characters, dot segments, extreme lengths. */
import { expect } from 'chai';
import { describeStorage, type StorageUnderTest } from '../support/conformance.js';
import { expectProblem, expectUnparsed } from '../support/expectations.js';
import { type Answer, exchange } from '../support/http.js';

/** Sends a path below the scratch container unmodified, byte by byte. */
function rawly(s: StorageUnderTest, method: string, path: string, body = ''): Promise<Answer | undefined> {
  const { host, pathname } = new URL(s.scratch);
  const fields = `Host: ${host}\r\nAuthorization: Bearer ${s.token}\r\nContent-Length: ${body.length}\r\nConnection: close\r\n`;
  const target = path.startsWith('!') ? path.slice(1) : pathname + path;
  return exchange(s.root, [Buffer.from(`${method} ${target} HTTP/1.1\r\n${fields}\r\n${body}`, 'latin1')]);
}

const refused: Readonly<Record<string, readonly string[]>> = {
  'a malformed percent-encoding': ['%', 'a%', 'a%2', '%zz', '%g0', 'a%%41', '%u0041', 'x%2/y'],
  'an encoded NUL or control character': ['%00', 'a%00b', 'a%0Ab', '%0d%0aX: y', '%1f', '%7F', '%09'],
  'a NUL or control character': ['a\u0000b', 'a\u0001', 'a\u001fb', 'a\u007f', 'a\tb'],
  'a path that climbs': [
    '../x',
    '..',
    '../',
    './x',
    '.',
    './',
    'a/../b',
    'a/./b',
    '../../../../etc/passwd',
    'a/..',
    'a/.',
  ],
  'an encoded path that climbs': ['%2e%2e/x', '%2E%2e', '.%2e/x', '%2e./x', '%2e', 'a/%2e%2e/%2e%2e/b', '%2e/'],
  'an empty segment': ['/x', 'a//b', '//', 'a//', '!//x', '!///'],
  'characters that no URI has': ['a b', 'a"b', '<x>', 'a\\b', '..\\x', 'a^b', 'a`b', '{x}', 'a|b', '[x]', 'caf\u00e9'],
  'a target that is no path': ['!x', '!*', '!x/y', '!?x', '!ftp://e.example/x', '!http:', '!http://'],
};

describeStorage('Bad input: paths', (s) => {
  for (const [what, paths] of Object.entries(refused))
    for (const path of paths)
      it(`Bad input, paths: ${what} is 4xx with a problem document and stores nothing: ${JSON.stringify(path)}`, async () => {
        const before = await s.members(s.scratch);
        for (const method of ['GET', 'PUT', 'DELETE']) {
          const answer = await rawly(s, method, path, method === 'PUT' ? 'x' : '');
          expectUnparsed(answer, [400, 404, 409]);
          if (!/^(?:an empty|a target)/.test(what)) expect(answer!.status, method).to.equal(400);
        }
        expect(await s.members(s.scratch)).to.deep.equal(before);
      });

  it('Bad input, paths: a PUT with dot segments stores nothing outside', async () => {
    const before = await s.members(s.root);
    for (const path of ['../climbed', '%2e%2e/climbed', 'a/../../climbed', '..%2fclimbed2', '..%5cclimbed3'])
      await rawly(s, 'PUT', path, 'x');
    expect(await s.members(s.root)).to.deep.equal(before);
    for (const path of ['a%2F..%2F..%2Fclimbed', '%2e%2e%2fclimbed']) {
      const answer = await rawly(s, 'PUT', path, 'x');
      expect(answer!.status, path).to.be.oneOf([201, 400]);
    }
    expect(await s.members(s.root)).to.deep.equal(before);
  });

  for (const name of [
    'a%2Fb',
    'a%5Cb',
    '%C3%A9',
    'a%20b',
    'a+b',
    "a'b",
    'a(b)',
    'a,b;c=d',
    '~x',
    'a@b',
    'a:b',
    '%41',
    'x!',
    '$1',
    '...',
  ])
    it(`Paths: ${name} is a valid name, compared as sent`, async () => {
      const iri = (await s.container()) + name;
      const answer = await s.put(iri, 'text/plain', name);
      expect(answer.status, answer.text).to.equal(201);
      expect((await s.get(iri)).text).to.equal(name);
      expect(await s.members(iri.slice(0, -name.length))).to.deep.equal([iri]);
    });

  it('Paths: names that differ in their encoding are different names', async () => {
    const container = await s.container();
    await s.stored('text/plain', 'encoded', `${container}%41`);
    await s.expectAbsent(`${container}A`);
    await s.stored('text/plain', 'plain', `${container}A`);
    expect((await s.get(`${container}%41`)).text).to.equal('encoded');
  });

  it('Bad input, paths: percent-encoded bytes that are not UTF-8 cause no server error', async () => {
    for (const name of ['%ff', '%C0%AE%C0%AE', '%ED%A0%80']) {
      const iri = (await s.container()) + name;
      const answer = await s.put(iri, 'text/plain', 'x');
      expect(answer.status, name).to.be.oneOf([201, 400]);
      expect((await s.get(iri)).status, name).to.equal(answer.status === 201 ? 200 : 400);
      for (const Accept of ['application/lws+json', 'text/turtle', 'application/rdf+xml'])
        expect((await s.get(iri.slice(0, -name.length), { Accept })).status, Accept).to.equal(200);
    }
  });

  for (const length of [300, 5000, 60_000])
    it(`Bad input, extreme lengths: a name of ${length} characters is 4xx or accepted`, async () => {
      const iri = s.scratch + 'n'.repeat(length);
      const answer = await s.put(iri, 'text/plain', 'x');
      expect(answer.status, answer.text).to.be.oneOf([201, 400, 414, 431]);
      if (answer.status !== 201) return expectUnparsed(answer, [400, 414, 431]);
      expect((await s.get(iri)).text).to.equal('x');
      expect(await s.members(s.scratch)).to.include(iri);
    });

  it('Bad input, extreme lengths: a path of 2000 segments is 4xx', async () => {
    expectProblem(await s.put(`${s.scratch}${'a/'.repeat(2000)}x`, 'text/plain', 'x'), [400, 404, 414], s);
    expectProblem(await s.get(`${s.scratch}${'a/'.repeat(1500)}`), [400, 404, 414], s);
  });

  it('Bad input: a malformed or oversized query string is ignored or 4xx', async () => {
    const { iri } = await s.stored('text/plain', 'x');
    for (const query of [
      '?',
      '?%',
      '?%zz=1',
      '?a=%00',
      '?&&&',
      '?page',
      `?${'a'.repeat(3000)}`,
      '?page=1&page=2',
      '?page=%',
    ])
      for (const target of [iri, s.scratch]) {
        const answer = await rawly(s, 'GET', `!${new URL(target).pathname}${query}`);
        expect(answer?.status, query.slice(0, 20)).to.be.oneOf([200, 400, 404]);
        if (answer!.status !== 200) expectProblem(answer, answer!.status);
      }
  });

  it('Bad input: a fragment in the request target does not address another resource', async () => {
    const { iri } = await s.stored('text/plain', 'x');
    const { pathname } = new URL(iri);
    expectProblem(await rawly(s, 'DELETE', `!${pathname}#frag`), [400, 404]);
    expect((await s.get(iri)).text).to.equal('x');
  });
});
