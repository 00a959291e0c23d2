/** service.md, "Linkset resource" and "Linkset endpoint rules" 1: reading the links that the server manages. */
import { expect } from 'chai';
import { describeStorage, lws } from '../support/conformance.js';
import { expectProblem, listOf } from '../support/expectations.js';
import { mediaType } from '../support/rdf.js';

interface Links extends Record<string, unknown> {
  readonly anchor: string;
  readonly type: { href: string }[];
}
const linksIn = (text: string): Links => {
  const { linkset } = JSON.parse(text) as { linkset: Links[] };
  expect(linkset).to.have.length(1);
  return linkset[0]!;
};

describeStorage('Linkset', (s) => {
  for (const [type, body] of [
    ['text/turtle', '<> a <#C> .'],
    ['application/json', '{}'],
    ['text/plain', 'x'],
  ] as const)
    it(`Linkset rule 1: GET of the linkset of a ${type} resource`, async () => {
      const { iri } = await s.stored(type, body);
      const answer = await s.get(`${iri}.meta`);
      expect([answer.status, mediaType(answer)]).to.deep.equal([200, 'application/linkset+json']);
      const links = linksIn(answer.text);
      expect(links.anchor).to.equal(iri);
      expect(links.type[0]!.href).to.equal(`${lws}DataResource`);
      expect(links['up']).to.deep.equal([{ href: s.scratch }]);
      expect((links['linkset'] as { href: string }[])[0]!.href).to.equal(`${iri}.meta`);
      expect(links[`${lws}storage`]).to.deep.equal([{ href: s.root }]);
    });

  it('Linkset rule 1: the linkset of a container lies at .meta below it', async () => {
    const container = await s.container();
    const links = linksIn((await s.get(`${container}.meta`)).text);
    expect([links.anchor, links.type[0]!.href]).to.deep.equal([container, `${lws}Container`]);
    expect(links['up']).to.deep.equal([{ href: s.scratch }]);
  });

  it('Linkset resource: the root has no parent', async () => {
    const links = linksIn((await s.get(`${s.root}.meta`)).text);
    expect(links.anchor).to.equal(s.root);
    expect(links).not.to.have.property('up');
  });

  it('open-points 3: the members come in order: anchor, type, up, linkset, storage', async () => {
    const { iri } = await s.stored('text/plain', 'x');
    const keys = Object.keys(linksIn((await s.get(`${iri}.meta`)).text));
    expect(keys).to.deep.equal(['anchor', 'type', 'up', 'linkset', `${lws}storage`]);
  });

  it('Linkset rule 1: HEAD has the fields of GET and no body; If-None-Match gets 304', async () => {
    const iri = `${(await s.stored('text/plain', 'x')).iri}.meta`;
    const [head, get] = [await s.head(iri), await s.get(iri)];
    expect([head.status, head.bytes.length]).to.deep.equal([200, 0]);
    for (const name of ['content-type', 'etag', 'link']) expect(head.headers[name], name).to.equal(get.headers[name]);
    expect((await s.get(iri, { 'If-None-Match': get.headers['etag']! })).status).to.equal(304);
  });

  it('open-points 2.3: the linkset of an absent resource is 404', async () => {
    for (const iri of [s.fresh('.meta'), `${s.fresh('/')}.meta`]) expectProblem(await s.get(iri), 404, s);
  });

  it('open-points 3: OPTIONS is 204 with Allow; POST and DELETE are 405 with Allow', async () => {
    const iri = `${(await s.stored('text/plain', 'x')).iri}.meta`;
    const options = await s.options(iri);
    expect(options.status).to.equal(204);
    expect(listOf(options, 'allow')).to.include.members(['get', 'head', 'options']);
    for (const method of ['POST', 'DELETE']) {
      const answer = await s.send(method, iri);
      expectProblem(answer, 405, s);
      expect(listOf(answer, 'allow'), method).to.include('get').and.not.to.include(method.toLowerCase());
    }
  });

  it('Linkset resource: a linkset is in no listing', async () => {
    const container = await s.container();
    const { iri } = await s.stored('text/plain', 'x', `${container}x`);
    await s.get(`${iri}.meta`);
    expect(await s.members(container)).to.deep.equal([iri]);
  });
});
