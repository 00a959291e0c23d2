/** MOVE and COPY (rules 6.23 to 6.27; RFC 4918 9.8, 9.9). */
import { expect } from 'chai';
import { describeStorage, type StorageUnderTest } from '../support/conformance.js';
import { expectProblem } from '../support/expectations.js';
import { imported } from '../support/imports.js';
import { isThorough } from '../support/speed.js';

const turtle = 'text/turtle';
const triples = async (s: StorageUnderTest, iri: string): Promise<string> =>
  (await s.get(iri, { Accept: 'application/n-triples' })).text;

describeStorage('MOVE and COPY', (s) => {
  const move = (iri: string, to: string, fields: Record<string, string> = {}) =>
    s.send('MOVE', iri, { Destination: to, ...fields });
  const copy = (iri: string, to: string, fields: Record<string, string> = {}) =>
    s.send('COPY', iri, { Destination: to, ...fields });

  /** A container with all kinds of resources, and a nested one. */
  async function tree(): Promise<{ container: string; names: readonly string[] }> {
    const container = await s.container();
    const inner = await s.container(`${container}inner/`);
    await s.stored(turtle, '<> a <#C> ; <#part> <inner/text> .', `${container}rdf`);
    await s.stored('application/json', '{"a":1}', `${inner}json`);
    await s.stored('text/plain', 'words', `${inner}text`);
    return { container, names: ['', 'inner/', 'rdf', 'inner/json', 'inner/text'] };
  }

  for (const [type, body] of [
    [turtle, '<> a <#C> .'],
    ['application/json', '{"a":1}'],
    ['text/plain', 'words'],
  ] as const) {
    it(`MOVE, rule 6.23: a ${type} resource has its new name only`, async () => {
      const { iri, etag } = await s.stored(type, body);
      const [to, before] = [s.fresh(), await s.get(iri)];
      const answer = await move(iri, to, { 'If-Match': etag });
      expect([answer.status, answer.headers['location']]).to.deep.equal([201, to]);
      await s.expectAbsent(iri);
      const after = await s.get(to);
      expect(after.headers['etag']).to.equal(answer.headers['etag']);
      expect(after.headers['etag']).not.to.equal(etag);
      expect(after.headers['last-modified']).to.equal(before.headers['last-modified']);
      // The triples are about the old name.
      if (type === turtle) expect(await triples(s, to)).to.contain(`<${iri}>`);
      else expect(after.text).to.equal(before.text);
      const members = await s.members(s.scratch);
      expect(members).to.include(to).and.not.to.include(iri);
      await s.stored(type, body, iri);
    });

    it(`COPY, rule 6.23: a ${type} resource has both names`, async () => {
      const { iri } = await s.stored(type, body);
      const to = s.fresh();
      expect((await copy(iri, to)).status).to.equal(201);
      const [before, after] = [await s.get(iri), await s.get(to)];
      expect([before.status, after.status]).to.deep.equal([200, 200]);
      expect(after.headers['content-type']).to.equal(before.headers['content-type']);
      if (type === turtle) expect(await triples(s, to)).to.equal(await triples(s, iri));
      else expect(after.text).to.equal(before.text);
      await s.delete(iri);
      expect((await s.get(to)).status).to.equal(200);
    });
  }

  it('the size of a moved RDF resource is that of its representation (rule 6.23)', async () => {
    const { iri } = await s.stored(turtle, '<#it> <#p> <#o> .');
    const to = s.fresh('-with-a-longer-name');
    await move(iri, to);
    const got = await s.get(to, { Accept: turtle });
    const listing = JSON.parse((await s.get(s.scratch, { Accept: 'application/lws+json' })).text) as {
      items: { id: string; size: number }[];
    };
    expect(listing.items.find(({ id }) => id === to)!.size).to.equal(got.bytes.length);
  });

  it('Prefer: rewrite-links rewrites the IRIs of what is moved, and no others (rule 6.27)', async () => {
    const { container } = await tree();
    await s.put(`${container}rdf`, turtle, `<#it> <#p> <${container}inner/text>, <${s.root}other>, <${container}> .`, {
      'If-Match': await s.tag(`${container}rdf`),
    });
    const to = s.fresh('/');
    const answer = await move(container, to, { Prefer: 'rewrite-links' });
    expect(answer.headers['preference-applied']).to.equal('rewrite-links');
    const lines = (await triples(s, `${to}rdf`)).trim().split('\n').sort();
    expect(lines).to.deep.equal(
      [`${to}inner/text`, `${s.root}other`, to].map((object) => `<${to}rdf#it> <${to}rdf#p> <${object}> .`).sort(),
    );
  });

  it('the name of a resource is not rewritten in longer names (rule 6.27)', async () => {
    const iri = s.fresh();
    await s.stored(turtle, `<#it> <${iri}2> <${iri}> .`, iri);
    const to = s.fresh();
    await move(iri, to, { Prefer: 'rewrite-links' });
    expect((await triples(s, to)).trim()).to.equal(`<${to}#it> <${iri}2> <${to}> .`);
  });

  it('a container is moved with everything in it (rule 6.23)', async () => {
    const { container, names } = await tree();
    const [to, texts] = [s.fresh('/'), new Map<string, string>()];
    for (const name of names.filter((each) => !/(?:^|\/)$/.test(each)))
      texts.set(name, (await s.get(container + name, { Accept: 'application/n-triples, */*;q=0.5' })).text);
    expect((await move(container, to)).status).to.equal(201);
    for (const name of names) await s.expectAbsent(container + name);
    for (const [name, text] of texts)
      expect((await s.get(to + name, { Accept: 'application/n-triples, */*;q=0.5' })).text, name).to.equal(text);
    expect((await s.members(to)).sort()).to.deep.equal([`${to}inner/`, `${to}rdf`]);
    expect((await s.delete(to, { Depth: 'infinity' })).status).to.equal(204);
  });

  it('COPY with Depth: 0 copies a container without its members (rule 6.23)', async () => {
    const { container } = await tree();
    const to = s.fresh('/');
    expect((await copy(container, to, { Depth: '0' })).status).to.equal(201);
    expect(await s.members(to)).to.deep.equal([]);
    expect((await s.delete(to)).status).to.equal(204);
  });

  it('linksets and declared types go along (rule 6.25)', async () => {
    const { iri } = await s.stored('text/plain', 'x');
    const links = {
      linkset: [{ anchor: iri, type: [{ href: 'http://example.org/T' }], license: [{ href: `${iri}-l` }] }],
    };
    const tag = await s.tag(`${iri}.meta`);
    const put = await s.put(`${iri}.meta`, 'application/linkset+json', JSON.stringify(links), { 'If-Match': tag });
    expect(put.status).to.be.oneOf([200, 204]);
    for (const [method, from] of [
      ['COPY', iri],
      ['MOVE', iri],
    ] as const) {
      const to = s.fresh();
      expect((await s.send(method, from, { Destination: to })).status).to.equal(201);
      const found = (await s.get(`${to}.meta`, { Accept: 'application/linkset+json' })).text;
      expect(found).to.contain('http://example.org/T').and.to.contain(`${iri}-l`).and.to.contain(to);
    }
    expectProblem(await s.get(`${iri}.meta`), 404, s);
  });

  it('an existing destination is replaced, or kept with Overwrite: F (rule 6.26)', async () => {
    const [{ iri }, { iri: to }] = [await s.stored('text/plain', 'new'), await s.stored(turtle, '<> a <#Old> .')];
    expectProblem(await move(iri, to, { Overwrite: 'F' }), 412, s);
    expect((await s.get(iri)).text).to.equal('new');
    const before = await s.tag(to);
    expect((await move(iri, to, { Overwrite: 'T' })).status).to.equal(204);
    const after = await s.get(to);
    expect([after.text, after.headers['etag'] === before]).to.deep.equal(['new', false]);
    await s.expectAbsent(iri);
    expect((await s.members(s.scratch)).filter((each) => each === to)).to.have.length(1);
  });

  it('a container replaces a container with its members (rule 6.26)', async () => {
    const [{ container, names }, { container: to }] = [await tree(), await tree()];
    await s.stored('text/plain', 'gone', `${to}more`);
    await s.put(`${to}inner/text`, 'text/plain', 'old', { 'If-Match': await s.tag(`${to}inner/text`) });
    expect((await copy(container, to, { Overwrite: 'T' })).status).to.equal(204);
    await s.expectAbsent(`${to}more`);
    expect((await s.get(`${to}inner/text`)).text).to.equal('words');
    expect((await s.members(to)).sort()).to.deep.equal([`${to}inner/`, `${to}rdf`]);
    for (const name of names) expect((await s.get(to + name)).status, name).to.equal(200);
  });

  it('rejects destinations that cannot be (rule 6.23)', async () => {
    const [{ iri }, { container }] = [await s.stored('text/plain', 'x'), await tree()];
    for (const [from, to, status] of [
      [iri, undefined, 400],
      [iri, 'https://elsewhere.example/x', 400],
      [iri, `${s.fresh()}?q`, 400],
      [iri, `${s.fresh()}#f`, 400],
      [iri, `${s.scratch}a//b`, 400],
      [iri, iri, 409],
      [container, `${container}inner/below/`, 409],
      [`${container}inner/`, container, 409],
      [iri, s.fresh('/'), 400],
      [container, s.fresh(), 400],
      [iri, `${s.fresh('/')}in-no-container`, 404],
      [iri, `${s.fresh()}.meta`, 409],
      [iri, container.slice(0, -1), 409],
      [`${iri}.meta`, s.fresh(), 405],
      [s.fresh(), s.fresh(), 404],
    ] as const)
      for (const method of ['MOVE', 'COPY'])
        expectProblem(await s.send(method, from, to === undefined ? {} : { Destination: to }), status, s);
    expectProblem(await s.send('MOVE', s.root, { Destination: s.fresh('/') }), 403, s);
    expectProblem(await move(container, s.fresh('/'), { Depth: '0' }), 400, s);
    expectProblem(await move(iri, s.fresh(), { Overwrite: 'perhaps' }), 400, s);
    expectProblem(await move(iri, s.fresh(), { 'If-Match': '"stale"' }), 412, s);
    expect((await s.get(iri)).text).to.equal('x');
  });

  if (isThorough)
    it('more than 25 000 resources are refused, and nothing is moved (rule 6.23)', async function () {
      this.timeout(60_000);
      const container = await s.container();
      const graphs = Array.from({ length: 25_000 }, (_, at) => `<a:s> <a:p> "x" <${container}n${at}> .\n`);
      expect((await imported(s, graphs.join(''))).created).to.equal(25_000);
      const to = s.fresh('/');
      for (const send of [move, copy]) expectProblem(await send(container, to), 422, s);
      await s.expectAbsent(to);
      expect((await s.delete(`${container}n0`)).status).to.equal(204);
      expect((await move(container, to)).status).to.equal(201);
      expect(JSON.parse((await s.get(to)).text)).to.have.property('totalItems', 24_999);
    });

  it('a much longer name is refused as for PUT (rule 6.23)', async () => {
    const lines = Array.from({ length: 5_000 }, (_, at) => `<#${at}> <#p> <#o${at}> .`).join('\n');
    const { iri } = await s.stored(turtle, lines);
    const to = s.scratch + 'x'.repeat(3_900);
    const put = await s.put(to, turtle, lines, { 'If-None-Match': '*' });
    expectProblem(put, 413, s);
    for (const Prefer of ['rewrite-links', 'return=minimal']) expectProblem(await copy(iri, to, { Prefer }), 413, s);
    expect((await copy(iri, s.fresh('-long'), { Prefer: 'rewrite-links' })).status).to.equal(201);
  });

  it('of 50 concurrent moves one succeeds, and no acknowledged member is lost (rule 6.23)', async () => {
    const container = await s.container();
    const kept = new Set<string>();
    for (let i = 0; i < 5; i++) kept.add((await s.stored('text/plain', `${i}`, `${container}m${i}`)).iri);
    const client = async (at: number): Promise<string | undefined> => {
      const name = `${container}n${at}`;
      const put = await s.put(name, 'text/plain', `${at}`, { 'If-None-Match': '*' });
      if (put.status === 201) kept.add(name);
      else expect(put.status, put.text).to.equal(404);
      const to = `${s.scratch}moved-${at}-${kept.size}/`;
      const { status, text } = await move(container, to);
      expect(status, text).to.be.oneOf([201, 404]);
      return status === 201 ? to : undefined;
    };
    const places = (await Promise.all(Array.from({ length: 50 }, (_, at) => client(at)))).filter((to) => to);
    expect(places).to.have.length(1);
    await s.expectAbsent(container);
    const [to] = places as [string];
    expect(await s.members(to)).to.have.members([...kept].map((iri) => to + iri.slice(container.length)));
    for (const iri of kept) {
      const name = iri.slice(container.length);
      expect((await s.get(to + name)).text).to.equal(name.slice(1));
    }
  });

  it('returns 400 for a Destination with user information (rule 6.23, RFC 9110 4.2.4)', async () => {
    const { iri } = await s.stored('text/turtle', '<> <urn:p> 1 .');
    for (const [index, info] of ['user@', 'user:secret@', '@', ':@', `${new URL(s.root).host}@`].entries()) {
      const to = s.fresh(`-${index}@at`);
      for (const method of ['COPY', 'MOVE'])
        expectProblem(await s.send(method, iri, { Destination: to.replace('//', `//${info}`) }), 400, s);
      expect((await s.send('COPY', iri, { Destination: to })).status).to.equal(201);
    }
    expect((await s.send('GET', iri)).status).to.equal(200);
  });

  it('the Destination may be written in other forms of the same origin (rule 6.23)', async () => {
    const { iri } = await s.stored('text/plain', 'x');
    const to = s.fresh();
    expect((await move(iri, to.replace('http://localhost', 'HTTP://LOCALHOST'))).headers['location']).to.equal(to);
    const path = new URL(iri).pathname;
    expect((await move(to, path)).headers['location']).to.equal(iri);
  });

  it('Allow names both methods (rule 6.23)', async () => {
    const { iri } = await s.stored('text/plain', 'x');
    expect((await s.send('OPTIONS', iri)).headers['allow']).to.match(/\bMOVE, COPY\b/);
    expect((await s.send('OPTIONS', s.root)).headers['allow']).not.to.match(/MOVE|COPY/);
  });

  it('callers without rights learn nothing (rule 6.24)', async () => {
    const { iri } = await s.stored('text/plain', 'x');
    const [hidden, absent] = [iri, s.fresh()];
    for (const method of ['MOVE', 'COPY']) {
      const [a, b] = await Promise.all(
        [hidden, absent].map((each) => s.send(method, each, { Destination: s.fresh() }, undefined, s.stranger)),
      );
      expect(a!.status).to.equal(b!.status);
    }
  });
});
