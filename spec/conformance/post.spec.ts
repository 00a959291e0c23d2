/** Rules 6.1 and 7.2: POST. */
import { expect } from 'chai';
import { asContainer, describeStorage, ldp, lws, type StorageUnderTest } from '../support/conformance.js';
import { expectProblem, linked, linksOf } from '../support/expectations.js';
import { type Answer, exchange, head } from '../support/http.js';

const located = (answer: Answer, container: string): string => {
  expect(answer.status, answer.text).to.equal(201);
  return new URL(answer.headers['location'] ?? '', container).href;
};

async function slugged(s: StorageUnderTest, Slug: string, headers: Record<string, string> = {}): Promise<string> {
  const container = await s.container();
  const iri = located(await s.post(container, 'text/plain', 'x', { Slug, ...headers }), container);
  expect(iri.startsWith(container), iri).to.equal(true);
  return iri.slice(container.length);
}

describeStorage('POST', (s) => {
  it('only the first 1000 characters of a Slug are processed (rule 6.2)', async () => {
    for (const slug of [`${'-'.repeat(9_000)}a`, '%20'.repeat(3_000)]) {
      const answer = await s.post(s.scratch, 'text/plain', 'x', { Slug: slug });
      expect(answer.status).to.equal(201);
    }
    const { headers } = await s.post(s.scratch, 'text/plain', 'x', { Slug: `${'-'.repeat(999)}b${'/'.repeat(9_000)}` });
    expect(headers['location']).to.equal(`${s.scratch}b`);
  });

  it('POST, rule 6.1: 201 with Location, ETag, Last-Modified, Links and an empty body', async () => {
    const answer = await s.post(s.scratch, 'text/turtle', '<> a <#C> .');
    const iri = located(answer, s.scratch);
    expect(answer.bytes.length).to.equal(0);
    expect(answer.headers['etag']).to.equal(await s.tag(iri));
    expect(answer.headers['last-modified']).to.equal((await s.get(iri)).headers['last-modified']);
    expect(linked(answer, 'up')).to.deep.equal([s.scratch]);
    expect(linked(answer, 'type')).to.include.members([`${lws}DataResource`, `${ldp}RDFSource`]);
    const linkset = linksOf(answer).find(({ rel }) => rel === 'linkset');
    expect(linkset).to.include({ uri: `${iri}.meta`, type: 'application/linkset+json' });
  });

  it('POST: the new resource is a member of the container', async () => {
    const container = await s.container();
    const iri = located(await s.post(container, 'text/plain', 'x'), container);
    expect(await s.members(container)).to.deep.equal([iri]);
    expect((await s.get(iri)).text).to.equal('x');
  });

  it('POST: two resources without a Slug get different names', async () => {
    const container = await s.container();
    const first = located(await s.post(container, 'text/plain', '1'), container);
    const second = located(await s.post(container, 'text/plain', '2'), container);
    expect(first).not.to.equal(second);
    expect((await s.get(first)).text + (await s.get(second)).text).to.equal('12');
  });

  for (const [slug, name] of [
    ['report.txt', 'report.txt'],
    ['a_b-c.D9', 'a_b-c.D9'],
    ['hello world!.txt', 'hello-world-.txt'],
    ['a!!b', 'a-b'],
    ['!a!', 'a'],
    ['a%20b', 'a%20b'],
    ['a%zzb', 'a-zzb'],
    ['100%', '100'],
    ['a/b', 'a-b'],
    ['../x', '..-x'],
    ['x%2Eacl', 'x%2Eacl'],
    ['a?b#c', 'a-b-c'],
    ['x.acl.txt', 'x.acl.txt'],
    ['acl', 'acl'],
  ])
    it(`POST, rule 6.2: Slug ${slug} becomes ${name}`, async () => {
      expect(await slugged(s, slug!)).to.equal(name);
    });

  for (const slug of ['', '.', '..', '...', '!!!', '-'])
    it(`POST, rule 6.2: Slug "${slug}" is not usable and a name is generated`, async () => {
      expect(await slugged(s, slug)).to.match(/^[A-Za-z0-9._-]*[A-Za-z0-9][A-Za-z0-9._-]*\/?$/);
    });

  it('POST, rule 6.2: a Slug in UTF-8 bytes is accepted', async () => {
    const container = await s.container();
    const fields = {
      Authorization: `Bearer ${s.token}`,
      Slug: 'caf\u00c3\u00a9',
      'Content-Length': '0',
      Connection: 'close',
    };
    const bytes = Buffer.from(head(container, 'POST', fields), 'latin1');
    const answer = await exchange(container, [bytes]);
    expect(new URL(answer?.headers['location'] ?? '', container).href).to.match(/\/caf-?[^/]*$/);
  });

  it('POST, rule 6.3: a used name becomes name-2, then name-3', async () => {
    const container = await s.container();
    const names: string[] = [];
    for (let i = 0; i < 3; i++)
      names.push(located(await s.post(container, 'text/plain', 'x', { Slug: 'taken' }), container));
    expect(names).to.deep.equal([`${container}taken`, `${container}taken-2`, `${container}taken-3`]);
  });

  it('POST, rule 6.3: POST never fails because of a used name', async () => {
    const container = await s.container();
    const posts = Array.from({ length: 12 }, () => s.post(container, 'text/plain', 'x', { Slug: 'same' }));
    const names = (await Promise.all(posts)).map((answer) => located(answer, container));
    expect(new Set(names).size).to.equal(12);
    expect(await s.members(container)).to.have.members(names);
  });

  for (const type of [`${lws}Container`, `${ldp}Container`, `${ldp}BasicContainer`])
    it(`POST, Resource kinds: Link type ${type} creates a container`, async () => {
      const answer = await s.send('POST', s.scratch, { Slug: 'box', Link: `<${type}>; rel="type"` });
      const iri = located(answer, s.scratch);
      expect(iri).to.match(/\/box(-\w+)?\/$/);
      expect(await s.members(iri)).to.deep.equal([]);
      expect(linked(answer, 'type')).to.include(`${lws}Container`);
    });

  it('POST, Resource kinds: a trailing slash in the Slug creates a container', async () => {
    const container = await s.container();
    const iri = located(await s.send('POST', container, { Slug: 'sub/' }), container);
    expect(iri).to.equal(`${container}sub/`);
    expect(linked(await s.get(iri), 'type')).to.include(`${lws}Container`);
  });

  it('a container created with a body (POST) is 409 and creates nothing (rule 1.3)', async () => {
    const container = await s.container();
    expectProblem(await s.post(container, 'text/turtle', '<> a <#C> .', { Slug: 'c', ...asContainer }), 409, s);
    expectProblem(await s.post(container, 'text/turtle', '<> a <#C> .', { Slug: 'c/' }), 409, s);
    expect(await s.members(container)).to.deep.equal([]);
  });

  it('also if the body is sent without Content-Length (rule 1.3)', async () => {
    const container = await s.container();
    expectProblem(await s.post(container, 'text/plain', ['a', 'b'], asContainer), 409, s);
    expect(await s.members(container)).to.deep.equal([]);
  });

  it('POST, rule 6.5: a nonexistent container is 404', async () => {
    expectProblem(await s.post(s.fresh('/'), 'text/plain', 'x'), 404, s);
  });

  it('POST: an invalid body is 400 and leaves the container unchanged', async () => {
    const container = await s.container();
    const before = await s.tag(container);
    expectProblem(await s.post(container, 'text/turtle', '<> a', { Slug: 'bad' }), 400, s);
    expect(await s.members(container)).to.deep.equal([]);
    expect(await s.tag(container)).to.equal(before);
  });

  it('POST, rule 1.5: a Link type of RDFSource or NonRDFSource selects the resource kind', async () => {
    const fields = { Link: `<${ldp}NonRDFSource>; rel="type"` };
    const binary = located(await s.post(s.scratch, 'text/turtle', '<a> <b> <c> .', fields), s.scratch);
    expect(linked(await s.get(binary), 'type'))
      .to.include(`${ldp}NonRDFSource`)
      .and.not.to.include(`${ldp}RDFSource`);
    expect((await s.get(binary)).text).to.equal('<a> <b> <c> .');
  });

  for (const type of ['RDFSource', 'NonRDFSource'])
    it(`POST, rule 1.5: a Slug that ends in a slash creates a container, also with ${type}`, async () => {
      const fields = { Slug: 's/', Link: `<${ldp}${type}>; rel="type"` };
      const made = located(await s.send('POST', s.scratch, fields), s.scratch);
      expect(made).to.match(/\/$/);
      expect(linked(await s.get(made), 'type')).to.include(`${ldp}BasicContainer`);
      expectProblem(await s.post(s.scratch, 'text/plain', 'x', fields), 409, s);
    });
});
