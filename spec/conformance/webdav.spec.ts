/** WebDAV (rules 25.1 to 25.6; RFC 4918). */
import { createRequire } from 'node:module';
import { expect } from 'chai';
import { describeStorage, type Sender, type StorageUnderTest } from '../support/conformance.js';
import { expectProblem } from '../support/expectations.js';
import type { Answer } from '../support/http.js';
import { agent, alice, as, inWac, ownerRule, rule, setAcl } from '../support/wac.js';

interface Element {
  readonly localName: string;
  readonly textContent: string;
  readonly childNodes: ArrayLike<Element>;
  getElementsByTagNameNS(namespace: string, name: string): ArrayLike<Element>;
}
interface Xmldom {
  readonly DOMParser: new () => { parseFromString(text: string, type: string): { readonly documentElement: Element } };
}
// Not `import`: the package's types would add browser globals to the whole program.
const { DOMParser } = createRequire(import.meta.url)('@xmldom/xmldom') as Xmldom;

const on = { 'webdav.enabled': 'true' };
const xml = { 'Content-Type': 'application/xml' };
const dav = 'DAV:';

/** Properties of the response elements by path: their text, or the status if it is not 200. */
function multistatus(answer: Answer): Map<string, Record<string, string>> {
  expect(answer.status, answer.text).to.equal(207);
  const document = new DOMParser().parseFromString(answer.text, 'text/xml');
  const all = (node: Element, name: string): Element[] => Array.from(node.getElementsByTagNameNS(dav, name));
  return new Map(
    all(document.documentElement, 'response').map((response) => {
      const found: Record<string, string> = {};
      for (const stat of all(response, 'propstat')) {
        const status = all(stat, 'status')[0]!.textContent;
        for (const property of Array.from(all(stat, 'prop')[0]!.childNodes))
          found[property.localName] = status === 'HTTP/1.1 200 OK' ? property.textContent : status;
      }
      return [all(response, 'href')[0]!.textContent, found];
    }),
  );
}

const propfind = (s: StorageUnderTest, iri: string, depth = '0', body?: string, who?: Sender): Promise<Answer> =>
  s.send('PROPFIND', iri, { Depth: depth, ...(body === undefined ? {} : xml) }, body, who);
const prop = (names: string): string =>
  `<D:propfind xmlns:D="DAV:" xmlns:x="urn:x"><D:prop>${names}</D:prop></D:propfind>`;
const pathOf = (iri: string): string => new URL(iri).pathname;

describeStorage(
  'WebDAV',
  (s) => {
    it('OPTIONS has DAV: 1, Allow lists the methods, and the description the capability (rule 25.1)', async () => {
      const answer = await s.options(s.scratch);
      expect(answer.headers['dav']).to.equal('1');
      expect(answer.headers['allow']).to.match(/, PROPFIND, PROPPATCH$/);
      const { capability } = JSON.parse((await s.get(s.root, { Accept: 'application/lws+cid' })).text);
      expect(capability).to.deep.include({ type: 'https://www.rfc-editor.org/info/rfc4918', complianceClass: ['1'] });
      expectProblem(await s.send('LOCK', s.scratch), 405, s);
    });

    it('PROPFIND returns the values of GET (rule 25.3)', async () => {
      for (const [name, type, content] of [
        ['a%20b%26c.txt', 'text/plain; charset=utf-8', 'words'],
        ['d.json', 'application/json', '{"a":1}'],
        ['e', 'text/turtle', '<> <#p> "x" .'],
      ] as const) {
        const { iri } = await s.stored(type, content, `${s.fresh('-')}${name}`);
        const got = await s.get(iri);
        const found = multistatus(await propfind(s, iri)).get(pathOf(iri))!;
        expect(found).to.include({
          resourcetype: '',
          displayname: decodeURIComponent(iri.slice(iri.lastIndexOf('/') + 1)),
          getcontentlength: String(got.bytes.length),
          getcontenttype: got.headers['content-type'],
          getetag: got.headers['etag'],
          getlastmodified: got.headers['last-modified'],
        });
        expect(Math.abs(Date.parse(found['creationdate']!) - Date.now())).to.be.below(600_000);
      }
    });

    it('PROPFIND of a container returns its members with Depth: 1 (rule 25.2)', async () => {
      const container = await s.container();
      const inner = await s.container(`${container}inner/`);
      await s.stored('text/plain', 'x', `${inner}deep`);
      const { iri } = await s.stored('text/plain', 'x', `${container}file`);
      expect([...multistatus(await propfind(s, container)).keys()]).to.deep.equal([pathOf(container)]);
      const found = multistatus(await propfind(s, container, '1'));
      expect([...found.keys()]).to.deep.equal([container, iri, inner].map(pathOf));
      expect(found.get(pathOf(inner))).to.have.keys('displayname', 'resourcetype', 'getlastmodified', 'creationdate');
      const answer = await propfind(s, container, '1');
      expect(answer.text).to.contain(`<D:href>${pathOf(inner)}</D:href><D:propstat><D:prop><D:displayname>inner<`);
      expect(answer.text).to.contain('<D:resourcetype><D:collection/></D:resourcetype>');
      expect([...multistatus(await propfind(s, iri, '1')).keys()]).to.deep.equal([pathOf(iri)]);
    });

    it('PROPFIND without the slash of a container is about the container (rule 25.2)', async () => {
      const container = await s.container();
      const answer = await propfind(s, container.slice(0, -1), '1');
      expect([...multistatus(answer).keys()]).to.deep.equal([pathOf(container)]);
      expect(answer.headers['content-location']).to.equal(container);
      expectProblem(await propfind(s, s.fresh()), 404, s);
    });

    it('PROPFIND with Depth: infinity, or without Depth, is 403 with propfind-finite-depth (rule 25.2)', async () => {
      for (const fields of [{}, { Depth: 'Infinity' }]) {
        const answer = await s.send('PROPFIND', s.scratch, fields);
        expect(answer.status).to.equal(403);
        expect(answer.text).to.contain('<D:error xmlns:D="DAV:"><D:propfind-finite-depth/></D:error>');
      }
      expectProblem(await propfind(s, s.scratch, '2'), 400, s);
    });

    it('PROPFIND returns the properties that it names, and 404 for others (rule 25.3)', async () => {
      const { iri } = await s.stored('text/plain', 'word');
      const asked = await propfind(s, iri, '0', prop('<D:getcontentlength/><D:lockdiscovery/><x:y/><z/>'));
      expect(multistatus(asked).get(pathOf(iri))).to.deep.equal({
        getcontentlength: '4',
        lockdiscovery: 'HTTP/1.1 404 Not Found',
        y: 'HTTP/1.1 404 Not Found',
        z: 'HTTP/1.1 404 Not Found',
      });
      expect(asked.text).to.contain('<ns1:y/><z/>').and.contain('<D:multistatus xmlns:D="DAV:" xmlns:ns1="urn:x">');
      const element = (kind: string): string => `<propfind xmlns="DAV:">${kind}</propfind>`;
      const names = multistatus(await propfind(s, iri, '0', element('<propname/>'))).get(pathOf(iri))!;
      const whole = multistatus(await propfind(s, iri)).get(pathOf(iri))!;
      expect(Object.keys(names)).to.deep.equal(Object.keys(whole));
      expect(Object.values(names).join('')).to.equal('');
      const included = element('<allprop/><include><quota-used-bytes/><getetag/></include>');
      expect(multistatus(await propfind(s, iri, '0', included)).get(pathOf(iri))).to.deep.equal({
        ...whole,
        'quota-used-bytes': 'HTTP/1.1 404 Not Found',
      });
    });

    it('rejects bodies that are malformed, too large or have a document type (rule 25.4)', async () => {
      const many = (count: number): string => prop(Array.from({ length: count }, (_, i) => `<D:p${i}/>`).join(''));
      const repeated = (namespace: string): string =>
        many(64)
          .replaceAll(/<D:p(?=\d)/g, '<x:p')
          .replace('"urn:x"', `'${namespace}'`);
      const entities = '<!DOCTYPE p [<!ENTITY a "aaaaaaaa"><!ENTITY b "&a;&a;&a;&a;">]>';
      for (const [body, status] of [
        ['<propfind xmlns="DAV:"><prop>', 400],
        ['<propfind xmlns="DAV:"/>', 400],
        ['<propfind xmlns="DAV:"><prop/><allprop/></propfind>', 400],
        ['<propfind><allprop/></propfind>', 400],
        ['<D:propfind xmlns:D="DAV:"><D:prop><u:y/></D:prop></D:propfind>', 400],
        ['<D:propfind xmlns:D="DAV:"><D:prop>&b;</D:prop></D:propfind>', 400],
        ['\u0000', 400],
        [`${entities}${prop('<D:getetag/>')}`, 400],
        [`${'<a>'.repeat(1_000)}${'</a>'.repeat(1_000)}`, 400],
        [prop(`<D:getetag/>${' '.repeat(9_000)}`), 413],
        [many(65), 422],
        [many(64), 207],
        [repeated('"'.repeat(290)), 207],
        [repeated('"'.repeat(320)), 422],
        [repeated('"'.repeat(6_000)), 422],
        [prop(`<D:${'a'.repeat(3_000)}/>`), 422],
        [`<?xml version="1.0" encoding="utf-8"?><!-- c -->${prop('<D:getetag/>')}`, 207],
      ] as const)
        expect((await propfind(s, s.scratch, '0', body)).status, body.slice(0, 100)).to.equal(status);
    });

    it('PROPPATCH refuses each property with 403 and stores nothing (rule 25.5)', async () => {
      const { iri, etag } = await s.stored('text/plain', 'word');
      const body =
        '<D:propertyupdate xmlns:D="DAV:"><D:set><D:prop><D:getlastmodified>now</D:getlastmodified></D:prop></D:set>' +
        '<D:remove><D:prop><y xmlns="urn:x">1</y></D:prop></D:remove></D:propertyupdate>';
      const answer = await s.send('PROPPATCH', iri, xml, body);
      expect(multistatus(answer).get(pathOf(iri))).to.deep.equal({
        getlastmodified: 'HTTP/1.1 403 Forbidden',
        y: 'HTTP/1.1 403 Forbidden',
      });
      expect(await s.tag(iri)).to.equal(etag);
      expectProblem(await s.send('PROPPATCH', iri, xml, prop('<D:getetag/>')), 400, s);
      expectProblem(await s.send('PROPPATCH', s.fresh(), xml, body), 404, s);
    });

    it('MKCOL creates a container: 405 if the name is used, 409 without a parent, 415 with a body (rule 25.6)', async () => {
      const container = s.fresh('/');
      const made = await s.send('MKCOL', container.slice(0, -1));
      expect([made.status, made.headers['location']]).to.deep.equal([201, container]);
      const { iri } = await s.stored('text/plain', 'x');
      for (const used of [container, container.slice(0, -1), iri, `${iri}/`]) {
        const answer = await s.send('MKCOL', used);
        expectProblem(answer, 405, s);
        const existing = used.startsWith(iri) ? iri : container;
        expect(answer.headers['allow'], used).to.equal((await s.options(existing)).headers['allow']);
      }
      expectProblem(await s.send('MKCOL', `${s.fresh('/')}b/`), 409, s);
      expectProblem(await s.send('MKCOL', `${iri}/b/`), 409, s);
      expectProblem(await s.send('MKCOL', `${s.scratch}x.meta/`), 409, s);
      expectProblem(await s.send('MKCOL', s.fresh('/'), xml, '<a/>'), 415, s);
    });

    it('MKCOL honours preconditions and has no query, as PUT (rule 25.6)', async () => {
      const container = await s.container();
      for (const [iri, fields, status] of [
        [s.fresh('/'), { 'If-Match': '"nope"' }, 412],
        [s.fresh('/'), { 'If-Match': '*' }, 412],
        [container, { 'If-None-Match': '*' }, 405],
        [`${s.fresh('/')}?x=y`, {}, 400],
        [`${s.fresh()}?x=y`, {}, 400],
        [s.fresh('/'), { 'If-None-Match': '*' }, 201],
      ] as const)
        expect((await s.send('MKCOL', iri, fields)).status, `${iri} ${JSON.stringify(fields)}`).to.equal(status);
    });
  },
  { settings: on },
);

describeStorage(
  'WebDAV, many members',
  (s) => {
    it('PROPFIND returns members of more than one page, with every member once (rule 25.2)', async () => {
      const container = await s.container();
      const names = Array.from({ length: 25 }, (_, i) => `${container}m${i}`);
      for (const iri of names) await s.stored('text/plain', 'x', iri);
      const seen = (who?: Sender): Promise<Map<string, unknown>> =>
        propfind(s, container, '1', undefined, who).then(multistatus);
      expect([...(await seen()).keys()].sort()).to.deep.equal([container, ...names].map(pathOf).sort());
      await setAcl(s, container, ownerRule, rule('Read', agent(alice)));
      await setAcl(s, names[7]!, ownerRule);
      const rest = [container, ...names].filter((iri) => iri !== names[7]);
      expect([...(await seen(as(s, alice))).keys()].sort()).to.deep.equal(rest.map(pathOf).sort());
    });

    it('does not reveal hidden resources (rules 25.2, 25.5, 25.6)', async () => {
      const container = await s.container();
      await s.stored('text/plain', 'x', `${container}x`);
      const who = as(s, alice);
      const probe = async (method: string, iri: string, body = ''): Promise<unknown> => {
        const { status, text } = await s.send(method, iri, { Depth: '1', ...xml }, body, who);
        const { instance: _instance, ...problem } = JSON.parse(text) as Record<string, unknown>;
        return JSON.parse(
          JSON.stringify({ status, problem })
            .replaceAll(iri, 'IRI')
            .replaceAll(container, 'C')
            .replaceAll(`${s.scratch}none/`, 'C'),
        );
      };
      const update = '<D:propertyupdate xmlns:D="DAV:"/>';
      for (const [method, body] of [['PROPFIND'], ['PROPPATCH', update], ['MKCOL']] as const)
        for (const [hidden, absent] of [
          [container, `${s.scratch}none/`],
          [container.slice(0, -1), `${s.scratch}none`],
          [`${container}x`, `${s.scratch}none/x`],
        ] as const)
          expect(await probe(method, hidden, body), `${method} ${hidden}`).to.deep.equal(
            await probe(method, absent, body),
          );
      for (const method of ['PROPFIND', 'PROPPATCH', 'MKCOL'])
        expect((await s.send(method, container, { Depth: '0' }, undefined, 'anonymous')).status, method).to.equal(401);
    });
  },
  inWac({ ...on, 'container.page-size': '10' }),
);

describeStorage('WebDAV, off', (s) => {
  it('the methods are 405, and OPTIONS has no DAV (rule 25.1)', async () => {
    for (const method of ['PROPFIND', 'PROPPATCH', 'MKCOL']) {
      const answer = await s.send(method, s.scratch, { Depth: '0' });
      expectProblem(answer, 405, s);
      expect(answer.headers['allow']).not.to.contain('PROP');
    }
    const options = await s.options(s.scratch);
    expect(options.headers).not.to.have.property('dav');
    expect(options.headers['allow']).not.to.contain('PROP');
    expect((await s.get(s.root, { Accept: 'application/lws+cid' })).text).not.to.contain('rfc4918');
  });
});
