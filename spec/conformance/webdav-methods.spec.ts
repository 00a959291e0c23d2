/** DELETE, MOVE, COPY and `If` where WebDAV is on (rules 25.8 to 25.11; RFC 4918). */
import { expect } from 'chai';
import { describeStorage, type StorageUnderTest } from '../support/conformance.js';
import { expectProblem } from '../support/expectations.js';
import { agent, alice, as, inWac, ownerRule, rule, setAcl } from '../support/wac.js';

const on = { 'webdav.enabled': 'true' };
const bare = (container: string): string => container.slice(0, -1);

async function tree(s: StorageUnderTest): Promise<string> {
  const container = await s.container();
  await s.container(`${container}inner/`);
  await s.stored('text/plain', 'deep', `${container}inner/deep`);
  return container;
}

describeStorage(
  'Methods of WebDAV',
  (s) => {
    const relocate = (method: string, iri: string, to: string, fields: Record<string, string> = {}) =>
      s.send(method, iri, { Destination: to, ...fields });

    it('MOVE, COPY and DELETE accept a container without its slash (rule 25.8, RFC 4918 5.2)', async () => {
      const [container, moved, copied] = [await tree(s), s.fresh('/'), s.fresh('/')];
      const copy = await relocate('COPY', bare(container), bare(copied));
      expect([copy.status, copy.headers['location'], copy.headers['content-location']]).to.deep.equal([
        ...[201, copied, container],
      ]);
      const move = await relocate('MOVE', bare(container), moved);
      expect([move.status, move.headers['location'], move.headers['content-location']]).to.deep.equal([
        ...[201, moved, container],
      ]);
      await s.expectAbsent(container);
      expect((await s.get(`${moved}inner/deep`)).text).to.equal('deep');
      const deleted = await s.delete(bare(copied));
      expect([deleted.status, deleted.headers['content-location']]).to.deep.equal([204, copied]);
      await s.expectAbsent(`${copied}inner/deep`);
      for (const method of ['MOVE', 'COPY', 'DELETE'])
        expectProblem(await relocate(method, s.fresh(), s.fresh()), 404, s);
      const { iri, etag } = await s.stored('text/plain', 'x');
      expect((await s.send('DELETE', iri)).headers).not.to.have.property('content-location');
      expect((await s.put(`${bare(moved)}`, 'text/plain', 'x', { 'If-Match': etag })).status, 'PUT').to.equal(409);
    });

    it('gives a resource the form of the source at the Destination (rule 25.8)', async () => {
      const { iri } = await s.stored('text/plain', 'x');
      const to = s.fresh();
      expect((await relocate('MOVE', iri, `${to}/`)).headers['location']).to.equal(to);
    });

    it('DELETE of a container without Depth includes its members (rule 25.10, RFC 4918 9.6.1)', async () => {
      const container = await tree(s);
      for (const depth of ['0', '1', 'x']) expectProblem(await s.delete(container, { Depth: depth }), 409, s);
      expect((await s.delete(container)).status).to.equal(204);
      await s.expectAbsent(`${container}inner/deep`);
      expectProblem(await s.delete(s.root), 403, s);
    });

    for (const method of ['MOVE', 'COPY'])
      it(`${method} with Overwrite: T replaces a name of the other kind (rule 25.11, RFC 4918 9.8.4)`, async () => {
        const parent = await s.container();
        const container = await s.container(`${parent}c/`);
        await s.stored('text/plain', 'x', `${container}member`);
        const { iri } = await s.stored('text/turtle', '<#a> <#b> "words" .', `${parent}f`);
        expectProblem(await relocate(method, iri, container, { Overwrite: 'F' }), 412, s);
        expect((await s.get(`${container}member`)).status).to.equal(200);
        expect((await relocate(method, iri, container, { Overwrite: 'T' })).status).to.equal(204);
        expect((await s.get(bare(container), { Accept: 'application/n-triples' })).text).to.contain('"words"');
        await s.expectAbsent(container);
        await s.expectAbsent(`${container}member`);
        const left = [bare(container), ...(method === 'COPY' ? [iri] : [])];
        expect(await s.members(parent)).to.have.members(left);
        const other = await tree(s);
        expect((await relocate(method, other, bare(container), { Overwrite: 'T' })).status).to.equal(204);
        expect((await s.get(`${container}inner/deep`)).text).to.equal('deep');
        await s.expectAbsent(bare(container));
        expect(await s.members(parent)).to.have.members([container, ...left.slice(1)]);
        expect((await s.delete(parent)).status).to.equal(204);
      });

    it('MOVE and COPY are 409 for a missing parent, and for a name that contains the source (rule 25.11)', async () => {
      const container = await tree(s);
      const { iri } = await s.stored('text/plain', 'x', `${container}f`);
      for (const method of ['MOVE', 'COPY']) {
        expectProblem(await relocate(method, iri, `${s.fresh('/')}x`), 409, s);
        expectProblem(await relocate(method, bare(container), `${s.fresh('/')}x`), 409, s);
        for (const to of [container, bare(container)])
          expectProblem(await relocate(method, iri, to, { Overwrite: 'T' }), 409, s);
        expectProblem(await relocate(method, bare(container), iri, { Overwrite: 'T' }), 409, s);
        expectProblem(await relocate(method, iri, `${iri}/x`, { Overwrite: 'T' }), 409, s);
      }
      expect((await s.get(iri)).text).to.equal('x');
    });

    it('412 if no list of If holds, for every method (rule 25.9, RFC 4918 10.4)', async () => {
      const container = await tree(s);
      const { iri, etag } = await s.stored('text/plain', 'x');
      const other = await s.stored('text/plain', 'y');
      const to = s.fresh();
      for (const value of [
        '(["old"])',
        '(<urn:uuid:181d4fae-7d8c-11d0-a765-00a0c91e6bf2>)',
        `([${etag}] <urn:uuid:181d4fae-7d8c-11d0-a765-00a0c91e6bf2>)`,
        `(Not [${etag}])`,
        `([W/${etag}])`,
        `<${other.iri}> ([${etag}])`,
        `<https://elsewhere.example/> ([${etag}])`,
        `<${s.fresh()}> ([${etag}])`,
      ]) {
        for (const method of ['GET', 'HEAD', 'PUT', 'DELETE', 'COPY', 'MOVE', 'PROPPATCH', 'MKCOL'])
          expect((await relocate(method, iri, to, { If: value })).status, `${method} ${value}`).to.equal(412);
        expect((await s.send('PROPFIND', iri, { If: value, Depth: '0' })).status, value).to.equal(412);
        if (value.startsWith('(Not')) continue;
        expect((await s.post(container, 'text/plain', 'x', { If: value })).status, value).to.equal(412);
        expect((await s.delete(container, { If: value })).status, value).to.equal(412);
      }
      expect((await s.get(iri)).text).to.equal('x');
    });

    it('accepts If if one list holds, and as the condition of a PUT (rule 25.9)', async () => {
      const other = await s.stored('text/plain', 'y');
      const container = await s.container();
      for (const value of [
        (etag: string) => `([${etag}])`,
        (etag: string) => `(["old"]) ([${etag}] Not <DAV:no-lock>)`,
        (etag: string) => `<${other.iri}> (["old"]) </> (["x"]) <PATH> ([${etag}])`,
      ]) {
        const { iri, etag } = await s.stored('text/plain', 'x');
        const field = value(etag).replace('PATH', new URL(iri).pathname);
        const answer = await s.put(iri, 'text/plain', 'new', { If: field });
        expect(answer.status, `${field} ${answer.text}`).to.equal(204);
        expectProblem(await s.put(iri, 'text/plain', 'again', { If: field }), 412, s);
      }
      const { iri, etag } = await s.stored('text/plain', 'x');
      for (const value of [
        `<${other.iri}> ([${other.etag}])`,
        '(Not <DAV:no-lock>)',
        `<${bare(container)}> (Not ["x"])`,
      ]) {
        expect((await s.get(iri, { If: value })).status, value).to.equal(200);
        expectProblem(await s.put(iri, 'text/plain', 'x', { If: value }), 428, s);
        expect((await s.put(iri, 'text/plain', 'x', { If: value, 'If-Match': '"old"' })).status, value).to.equal(412);
      }
      expect((await s.send('PROPFIND', iri, { Depth: '0', If: `([${etag}])` })).status).to.equal(207);
      const tag = await s.tag(container);
      expect((await s.delete(container, { If: `([${tag}])` })).status).to.equal(204);
    });

    it('400 for a malformed If, 422 for one with too many resources (rule 25.9)', async () => {
      const { iri, etag } = await s.stored('text/plain', 'x');
      for (const value of ['garbage', '()', '(["x"', '([x])', `(["x"])<${iri}>(["x"])`, `<${s.root}a/../b> (["x"])`])
        for (const method of ['GET', 'PUT', 'DELETE', 'PROPFIND'])
          expect((await s.send(method, iri, { If: value, Depth: '0' })).status, `${method} ${value}`).to.equal(400);
      const lists = (count: number): string =>
        Array.from({ length: count }, (_, i) => `<${s.root}x${i}>([${etag}])`).join(' ');
      expectProblem(await s.delete(iri, { If: lists(17) }), 422, s);
      expectProblem(await s.delete(iri, { If: lists(16) }), 412, s);
    });
  },
  { settings: on },
);

describeStorage(
  'Methods of WebDAV, access',
  (s) => {
    it('does not reveal hidden resources, nor replace them (rules 25.8, 25.9, 25.11)', async () => {
      const container = await s.container();
      await setAcl(s, s.scratch, ownerRule, rule('Read', agent(alice)), rule('Append', agent(alice)));
      const hidden = await s.container(`${container}hidden/`);
      await setAcl(s, container, ownerRule, rule('Read', agent(alice)), rule('Append', agent(alice)));
      await setAcl(s, hidden, ownerRule);
      const { iri } = await s.stored('text/plain', 'x', `${container}f`);
      const who = as(s, alice);
      const send = async (method: string, target: string, fields: Record<string, string>) =>
        (await s.send(method, target, fields, undefined, who)).status;
      for (const method of ['DELETE', 'MOVE', 'COPY'])
        expect(await send(method, bare(hidden), { Destination: `${container}y` }), method).to.equal(
          await send(method, `${container}absent`, { Destination: `${container}y` }),
        );
      expect(await send('COPY', iri, { Destination: bare(hidden), Overwrite: 'T' })).to.equal(404);
      const tag = await s.tag(hidden);
      expect(await send('GET', iri, { If: `<${hidden}> ([${tag}])` })).to.equal(412);
      expect(await send('GET', iri, { If: `<${hidden}> (Not [${tag}])` })).to.equal(200);
      expect((await s.get(hidden)).status).to.equal(200);
      const readable = await s.container(`${container}readable/`);
      expect(await send('COPY', iri, { Destination: bare(readable), Overwrite: 'T' })).to.equal(403);
      expect((await s.get(readable)).status).to.equal(200);
    });
  },
  inWac(on),
);

describeStorage('Methods of WebDAV, off', (s) => {
  it('ignores If, and keeps the rules of chapter 6 (rules 6.20, 6.23, 25.1)', async () => {
    const container = await tree(s);
    const { iri } = await s.stored('text/plain', 'x');
    expectProblem(await s.delete(bare(container)), 404, s);
    expectProblem(await s.delete(container), 409, s);
    expect((await s.get(iri, { If: 'garbage' })).status).to.equal(200);
    const fields = { Destination: bare(container), Overwrite: 'T' };
    expectProblem(await s.send('COPY', iri, fields), 409, s);
    expectProblem(await s.send('COPY', iri, { Destination: `${s.fresh('/')}x` }), 404, s);
    expectProblem(await s.send('MOVE', iri, { ...fields, Destination: container }), 400, s);
  });
});
