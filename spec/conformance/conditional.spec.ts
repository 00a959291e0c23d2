/** Rules 8.1, 8.3. */
import { expect } from 'chai';
import { describeStorage, type StorageUnderTest } from '../support/conformance.js';
import { expectProblem } from '../support/expectations.js';
import type { Answer } from '../support/http.js';
import { rdfTypes } from '../support/rdf.js';

const kinds = [
  ['text/turtle', '<> a <#C> .'],
  ['application/json', '{"a":1}'],
  ['text/plain', 'x'],
] as const;
const future = new Date(Date.now() + 3_600_000).toUTCString();
const past = new Date(Date.now() - 3_600_000).toUTCString();

/** Exactly one of several concurrent writes with the same ETag may succeed. */
function expectOneWinner(answers: readonly Answer[], won: number): void {
  const statuses = answers.map(({ status }) => status).sort();
  expect(statuses).to.deep.equal([won, ...answers.slice(1).map(() => 412)]);
}

const times = <T>(count: number, make: (i: number) => Promise<T>): Promise<T[]> =>
  Promise.all(Array.from({ length: count }, (_, i) => make(i)));

function notModified(s: StorageUnderTest): void {
  for (const [type, body] of kinds)
    it(`Conditional requests rule 2: a satisfied If-None-Match on ${type} is 304 with ETag and no body`, async () => {
      const { iri } = await s.stored(type, body);
      const { headers } = await s.get(iri);
      for (const value of [headers['etag']!, '*', `"other", ${headers['etag']}`, `W/${headers['etag']}`]) {
        const answer = await s.get(iri, { 'If-None-Match': value });
        expect([answer.status, answer.bytes.length], value).to.deep.equal([304, 0]);
        expect(answer.headers['etag']).to.equal(headers['etag']);
        expect(answer.headers['vary']).to.equal(headers['vary']);
        expect(answer.headers['cache-control']).to.equal(headers['cache-control']);
      }
      expect((await s.head(iri, { 'If-None-Match': headers['etag']! })).status).to.equal(304);
      expect((await s.get(iri, { 'If-None-Match': '"other"' })).status).to.equal(200);
    });

  it('Conditional requests rule 2: 304 reflects the current state, also when repeated', async () => {
    const { iri } = await s.stored('text/turtle', '<> a <#C> .');
    const before = await s.tag(iri);
    const fields = { 'If-None-Match': before };
    const first = await s.get(iri, fields);
    const again = await s.get(iri, fields);
    expect([first.status, again.status]).to.deep.equal([304, 304]);
    const lasting = ({ headers: { date: _date, 'lws-request-id': _id, ...others } }: Answer) => others;
    expect(lasting(again)).to.deep.equal(lasting(first));
    expect((await s.get(iri, { 'If-None-Match': before.slice(0, -1) })).status).to.equal(200);
    expect((await s.put(iri, 'text/turtle', '<> a <#D> .', { 'If-Match': before })).status).to.equal(204);
    const now = await s.get(iri, fields);
    expect([now.status, now.text.includes('#D')]).to.deep.equal([200, true]);
    const { status, headers } = await s.get(iri, { 'If-None-Match': now.headers['etag']! });
    expect([status, headers['etag']]).to.deep.equal([304, now.headers['etag']]);
  });

  it('Conditional requests rule 2: a satisfied If-None-Match on a container is 304', async () => {
    const container = await s.container();
    const tag = await s.tag(container);
    expect((await s.get(container, { 'If-None-Match': tag })).status).to.equal(304);
    await s.stored('text/plain', 'x', `${container}x`);
    expect((await s.get(container, { 'If-None-Match': tag })).status).to.equal(200);
  });

  it('Conditional requests rule 2: a satisfied If-Modified-Since is 304', async () => {
    const { iri } = await s.stored('text/plain', 'x');
    const modified = (await s.get(iri)).headers['last-modified']!;
    expect((await s.get(iri, { 'If-Modified-Since': modified })).status).to.equal(304);
    expect((await s.head(iri, { 'If-Modified-Since': modified })).status).to.equal(304);
    expect((await s.get(iri, { 'If-Modified-Since': past })).status).to.equal(200);
  });

  it('If-Modified-Since is ignored if If-None-Match is present (rule 8.3)', async () => {
    const { iri, etag } = await s.stored('text/plain', 'x');
    const modified = (await s.get(iri)).headers['last-modified']!;
    const fields = { 'If-None-Match': '"other"', 'If-Modified-Since': modified };
    expect((await s.get(iri, fields)).status).to.equal(200);
    expect((await s.get(iri, { 'If-None-Match': etag, 'If-Modified-Since': past })).status).to.equal(304);
  });

  it('If-None-Match is per representation (rule 8.3)', async () => {
    const { iri } = await s.stored('text/turtle', '<> a <#C> .');
    const turtle = await s.tag(iri, { Accept: 'text/turtle' });
    const other = { Accept: 'application/ld+json', 'If-None-Match': turtle };
    expect((await s.get(iri, other)).status).to.equal(200);
    expect((await s.get(iri, { ...other, Accept: 'text/turtle' })).status).to.equal(304);
  });
}

function validators(s: StorageUnderTest): void {
  it('each RDF representation has its own strong ETag (rule 8.1)', async () => {
    const { iri } = await s.stored('text/turtle', '<> a <#C> .');
    const tags = await times(rdfTypes.length, (i) => s.tag(iri, { Accept: rdfTypes[i]! }));
    expect(new Set(tags).size).to.equal(rdfTypes.length);
    for (const tag of tags) expect(tag).to.match(/^"[\x21\x23-\x7e]+"$/);
  });

  it('the ETag of JSON and binary resources does not depend on Accept (rule 8.1)', async () => {
    for (const [type, body] of kinds.slice(1)) {
      const { iri, etag } = await s.stored(type, body);
      expect(await s.tag(iri, { Accept: 'text/turtle' })).to.equal(etag);
    }
  });

  for (const Accept of rdfTypes)
    it(`If-Match accepts the ETag of the ${Accept} representation (rule 8.1)`, async () => {
      const { iri } = await s.stored('text/turtle', '<> a <#C> .');
      const tag = await s.tag(iri, { Accept });
      expect((await s.put(iri, 'text/turtle', '<> a <#D> .', { 'If-Match': `"x", ${tag}` })).status).to.equal(204);
      expectProblem(await s.put(iri, 'text/turtle', '<> a <#E> .', { 'If-Match': tag }), 412, s);
    });

  it('a weak tag never satisfies If-Match (rule 8.1, RFC 9110 13.1.1)', async () => {
    const { iri, etag } = await s.stored('text/plain', 'x');
    expectProblem(await s.put(iri, 'text/plain', 'y', { 'If-Match': `W/${etag}` }), 412, s);
  });

  it('Conditional requests rule 3: a stale If-Match is 412 on reads too', async () => {
    const { iri, etag } = await s.stored('text/plain', 'x');
    expect((await s.get(iri, { 'If-Match': etag })).status).to.equal(200);
    expectProblem(await s.get(iri, { 'If-Match': '"stale"' }), 412, s);
  });

  it('If-Unmodified-Since is honoured (rule 8.3)', async () => {
    const { iri } = await s.stored('text/plain', 'x');
    expectProblem(await s.put(iri, 'text/plain', 'y', { 'If-Unmodified-Since': past }), 412, s);
    expectProblem(await s.delete(iri, { 'If-Unmodified-Since': past }), 412, s);
    expect((await s.get(iri)).text).to.equal('x');
    expect((await s.delete(iri, { 'If-Unmodified-Since': future })).status).to.equal(204);
  });

  it('RFC 9110 13.1.4: If-Unmodified-Since does not match if the state changed within the same second', async () => {
    for (let attempt = 0; ; attempt++) {
      const { iri, etag } = await s.stored('text/plain', 'first');
      const read = (await s.get(iri)).headers['last-modified']!;
      expect((await s.put(iri, 'text/plain', 'second', { 'If-Match': etag })).status).to.equal(204);
      // The second may end between the two.
      if ((await s.get(iri)).headers['last-modified'] !== read && attempt < 5) continue;
      expectProblem(await s.put(iri, 'text/plain', 'third', { 'If-Unmodified-Since': read }), 412, s);
      expectProblem(await s.delete(iri, { 'If-Unmodified-Since': read }), 412, s);
      const part = await s.get(iri, { Range: 'bytes=0-1', 'If-Range': read });
      return expect([part.status, part.text]).to.deep.equal([200, 'second']);
    }
  });

  it('Conditional requests rule 5: adding or removing a member changes the ETag of the container', async () => {
    const container = await s.container();
    const tags = [await s.tag(container)];
    const { iri } = await s.stored('text/plain', 'x', `${container}x`);
    tags.push(await s.tag(container));
    await s.stored('text/plain', 'y', `${container}y`);
    tags.push(await s.tag(container));
    await s.delete(iri);
    tags.push(await s.tag(container));
    expect(new Set(tags).size).to.equal(4);
  });

  for (const Accept of ['application/lws+json', 'application/json', ...rdfTypes])
    it(`the ETag of a container as ${Accept} satisfies If-Match (rule 8.4)`, async () => {
      const container = await s.container();
      const tag = await s.tag(container, { Accept });
      expect((await s.delete(container, { 'If-Match': tag })).status).to.equal(204);
    });
}

function races(s: StorageUnderTest): void {
  for (const [type, body] of kinds)
    it(`Conditional requests rule 4: exactly one of the replacements of ${type} with one ETag succeeds`, async () => {
      const { iri, etag } = await s.stored(type, body);
      expectOneWinner(await times(8, () => s.put(iri, type, body, { 'If-Match': etag })), 204);
    });

  it('Conditional requests rule 4: exactly one of the patches with one ETag succeeds', async () => {
    const { iri, etag } = await s.stored('text/turtle', '');
    const type = 'application/sparql-update';
    const patch = (i: number) => s.patch(iri, type, `INSERT DATA { <> <#n> ${i} }`, { 'If-Match': etag });
    expectOneWinner(await times(8, patch), 204);
    expect((await s.get(iri)).text.match(/#n/g)).to.have.length(1);
  });

  it('Conditional requests rule 4: exactly one of the JSON patches with one ETag succeeds', async () => {
    const { iri, etag } = await s.stored('application/json', '{}');
    const type = 'application/merge-patch+json';
    expectOneWinner(await times(8, (i) => s.patch(iri, type, `{"n${i}":1}`, { 'If-Match': etag })), 204);
    expect(Object.keys(JSON.parse((await s.get(iri)).text))).to.have.length(1);
  });

  it('Conditional requests rule 4: a deletion and a replacement with one ETag do not both succeed', async () => {
    const { iri, etag } = await s.stored('text/plain', 'x');
    const fields = { 'If-Match': etag };
    const answers = await Promise.all([s.delete(iri, fields), s.put(iri, 'text/plain', 'y', fields)]);
    const statuses = answers.map(({ status }) => status);
    expect(statuses.filter((status) => status === 204)).to.have.length(1);
    // After the deletion, If-Match on a nonexistent resource (rule 6.9). After the replacement, a stale ETag.
    expect(statuses).to.include(412);
    expect((await s.get(iri)).status).to.equal(statuses[0] === 204 ? 404 : 200);
  });

  it('Conditional requests rule 4: exactly one of the creations with If-None-Match: * succeeds', async () => {
    const iri = s.fresh();
    expectOneWinner(await times(8, (i) => s.put(iri, 'text/plain', `${i}`, { 'If-None-Match': '*' })), 201);
  });

  it('exactly one of the unconditional creations succeeds (rules 6.7, 6.9)', async () => {
    const iri = s.fresh();
    const statuses = (await times(8, (i) => s.put(iri, 'text/plain', `${i}`))).map(({ status }) => status).sort();
    expect(statuses).to.deep.equal([201, 428, 428, 428, 428, 428, 428, 428]);
  });

  it('a member created during the deletion of its container is never orphaned (rule 6.22)', async () => {
    const container = await s.container();
    const [deletion] = await Promise.all([
      s.delete(container, { Depth: 'infinity' }),
      ...Array.from({ length: 6 }, (_, i) => s.put(`${container}m${i}`, 'text/plain', 'x')),
    ]);
    expect(deletion.status).to.equal(204);
    await s.expectAbsent(container);
    for (let i = 0; i < 6; i++) await s.expectAbsent(`${container}m${i}`);
  });
}

describeStorage(
  'Conditional requests',
  (s) => {
    notModified(s);
    validators(s);
    races(s);
  },
  { isOverHttp2: true },
);
