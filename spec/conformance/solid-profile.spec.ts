/** Effects of `lws.profile=solid` on writes, errors, fields and CORS (rules 20.2, 20.3, 20.4, 20.7, 20.8, 20.9). */
import { expect } from 'chai';
import { describeStorage, type Sender, type StorageUnderTest } from '../support/conformance.js';
import { expectChallenge, expectProblem, linked, listOf } from '../support/expectations.js';
import { grant, policy } from '../support/grants.js';
import type { Answer } from '../support/http.js';
import { graphOf } from '../support/rdf.js';
import { agent, alice, anybody, as, bob, inSolid, rule, setAcl } from '../support/wac.js';

const turtle = { 'Content-Type': 'text/turtle' };
const put = (s: StorageUnderTest, iri: string, sender?: Sender, headers = {}): Promise<Answer> =>
  s.send('PUT', iri, { ...turtle, ...headers }, iri.endsWith('/') ? undefined : '<> a <urn:Deep> .', sender);
const deep = 'a/b/c/d';

describeStorage(
  'Implicit parent containers',
  (s) => {
    it('PUT creates them with the metadata of a container (rule 20.4)', async () => {
      const base = s.fresh('/');
      const answer = await put(s, base + deep);
      expect([answer.status, answer.headers['location']], answer.text).to.deep.equal([201, base + deep]);
      expect(await s.members(s.scratch)).to.include(base);
      expect(await s.members(base)).to.deep.equal([`${base}a/`]);
      expect(await s.members(`${base}a/`)).to.deep.equal([`${base}a/b/`]);
      expect(await s.members(`${base}a/b/c/`)).to.deep.equal([base + deep]);
      expect(linked(await s.get(`${base}a/b/`), 'up')).to.deep.equal([`${base}a/`]);
      // The new containers are in the type index and in the graph of their parent.
      const search = `${s.root}.lws/type-search?type=${encodeURIComponent('https://www.w3.org/ns/lws#Container')}`;
      expect((await s.get(search)).text).to.include(`"${base}a/b/c/"`);
      const quads = await graphOf(await s.get(`${base}a/`, { Accept: 'text/turtle' }), `${base}a/`);
      expect(quads.map(({ object }) => object.value)).to.include(`${base}a/b/`);
      expect((await put(s, base + deep)).status).to.equal(204);
      expect((await put(s, `${base}a/b/e/f`)).status).to.equal(201);
      expect((await s.delete(base, { Depth: 'infinity' })).status).to.equal(204);
      await s.expectAbsent(`${base}a/b/`);
    });

    it('so do containers, binaries and creating patches (rule 20.4)', async () => {
      const base = s.fresh('/');
      expect((await put(s, `${base}${deep}/`)).status).to.equal(201);
      expect((await s.put(`${base}x/y.bin`, 'image/png', 'x')).status).to.equal(201);
      const insertion = 'INSERT DATA { <#a> <urn:p> 1 }';
      expect((await s.patch(`${base}s/t/u`, 'application/sparql-update', insertion)).status).to.equal(201);
      const n3 = '@prefix solid: <http://www.w3.org/ns/solid/terms#> . <> a solid:InsertDeletePatch ; solid:inserts';
      expect((await s.patch(`${base}n/t/u`, 'text/n3', `${n3} { <#a> <urn:p> 1 } .`)).status).to.equal(201);
      expect(await s.members(base)).to.deep.equal(['a/', 'n/', 's/', 'x/'].map((name) => base + name));
      // POST creates only in an existing container.
      expectProblem(await s.post(`${base}no/such/`, 'text/turtle', ''), 404, s);
      await s.expectAbsent(`${base}no/`);
    });

    it('a rejected write creates none of them (rule 20.4)', async () => {
      const base = s.fresh('/');
      const refused: [number, Promise<Answer>][] = [
        [400, s.put(base + deep, 'text/turtle', 'no Turtle')],
        [412, put(s, base + deep, undefined, { 'If-Match': '*' })],
        [409, s.put(`${base}c/d/`, 'text/turtle', '<> a <urn:C> .')],
        [400, put(s, base + deep, undefined, { Link: '<http://www.w3.org/ns/ldp#BasicContainer>; rel="type"' })],
        [404, s.patch(base + deep, 'application/sparql-update', 'DELETE DATA { <#a> <urn:p> 1 }')],
        [400, s.patch(base + deep, 'application/sparql-update', 'INSERT')],
        [404, s.patch(base + deep, 'application/merge-patch+json', '{}')],
      ];
      for (const [status, answer] of refused) expectProblem(await answer, status, s);
      await s.expectAbsent(base);
    });

    it('a data resource with the name of a parent is 409 (rule 20.4)', async () => {
      const { iri } = await s.stored('text/turtle', '');
      const insertion = 'INSERT DATA { <#a> <urn:p> 1 }';
      for (const name of [`${iri}/x`, `${iri}/x/y/z`, `${iri}/x/`]) {
        expectProblem(await put(s, name), 409, s);
        if (!name.endsWith('/')) expectProblem(await s.patch(name, 'application/sparql-update', insertion), 409, s);
      }
      // And a container with the name of a data resource.
      const base = s.fresh('/');
      expect((await put(s, `${base}c/x`)).status).to.equal(201);
      expectProblem(await put(s, `${base}c`), 409, s);
    });

    it('a reserved name among them is 409 for every caller (rules 20.4, 1.3)', async () => {
      const insertion = 'INSERT DATA { <#a> <urn:p> 1 }';
      for (const name of ['c.acl/x', 'c.meta/x', 'c.ACL/x/y', 'a/c.acl/b/x', '.meta/x', '.acl/y/']) {
        const iri = s.scratch + name;
        for (const who of [undefined, s.stranger, 'anonymous'] as const) expectProblem(await put(s, iri, who), 409, s);
        if (!iri.endsWith('/')) expectProblem(await s.patch(iri, 'application/sparql-update', insertion), 409, s);
      }
      expect((await s.members(s.scratch)).filter((each) => /c\.|\/a\//.test(each))).to.deep.equal([]);
    });

    it('at most 32 are created (rule 20.4)', async () => {
      const base = await s.container();
      const below = (count: number): string => `${base}${'d/'.repeat(count)}x`;
      expectProblem(await put(s, below(33)), 409, s);
      expect(await s.members(base)).to.deep.equal([]);
      expect((await put(s, below(32))).status).to.equal(201);
      expect((await put(s, below(64))).status).to.equal(201);
      expectProblem(await put(s, below(97)), 409, s);
    });

    it('the nearest existing container must permit the write (rules 20.4, 2.2)', async () => {
      const open = await s.container();
      await setAcl(s, open, rule('Append Read', agent(bob)), rule('Read', anybody));
      expect((await put(s, open + deep, as(s, bob))).status).to.equal(201);
      expectProblem(await put(s, `${open}x/y`, as(s, alice)), 403, s);
      expectChallenge(await put(s, `${open}x/y`, 'anonymous'), s);
      const closed = await s.container();
      await setAcl(s, closed);
      for (const iri of [`${closed}x/y`, `${closed}x/y/`, `${closed}x`]) {
        expectProblem(await put(s, iri, as(s, bob)), 403, s);
        expectChallenge(await put(s, iri, 'anonymous'), s);
      }
      expect(await s.members(closed)).to.deep.equal([]);
      // Modes above the nearest container have no effect.
      await s.container(`${open}shut/`);
      await setAcl(s, `${open}shut/`);
      expectProblem(await put(s, `${open}shut/x/y`, as(s, bob)), 403, s);
      expect(await s.members(`${open}shut/`)).to.deep.equal([]);
      // An unreadable resource with the name of a container: the name cannot be used, like the resource itself.
      await s.stored('text/turtle', '', `${open}hidden`);
      await setAcl(s, `${open}hidden`);
      expectProblem(await put(s, `${open}hidden/x`, as(s, bob)), 403, s);
    });

    it('each has a notification, and all count as one write with the resource (rules 20.4, 16.6)', async () => {
      const base = await s.container();
      await put(s, base + deep);
      const { text } = await s.get(`${s.root}.lws/events?since=2020-01-01T00:00:00Z&follow=false`);
      const told = text.split('\n').flatMap((line) => /"id":"(http[^"]+)"/.exec(line)?.[1] ?? []);
      expect(told.filter((iri) => iri.startsWith(`${base}a`))).to.deep.equal([
        `${base}a/`,
        `${base}a/b/`,
        `${base}a/b/c/`,
        base + deep,
      ]);
    });

    it('two concurrent deep writes create them once (rules 20.4, 6.22)', async () => {
      const base = await s.container();
      const names = Array.from({ length: 8 }, (_, i) => `${base}a/b/${i}/x`);
      const answers = await Promise.all(names.map((name) => put(s, name)));
      expect(answers.map(({ status }) => status)).to.deep.equal(names.map(() => 201));
      expect(await s.members(base)).to.deep.equal([`${base}a/`]);
      expect((await s.members(`${base}a/b/`)).length).to.equal(8);
    });
  },
  inSolid(),
);

describeStorage(
  'Implicit parents with masking and a quota',
  (s) => {
    it('unreadable and nonexistent names get the same response (rules 20.4, 4.2)', async () => {
      const closed = await s.container();
      await setAcl(s, closed);
      await s.stored('text/turtle', '', `${closed}x`);
      const [hidden, absent] = [await put(s, `${closed}x/y`, as(s, bob)), await put(s, `${closed}z/y`, as(s, bob))];
      // A detail may repeat the requested name.
      const told = ({ status, text }: Answer) => [status, JSON.parse(text).detail.replace(/\/[xz]\//, '/NAME/')];
      expect(told(hidden)).to.deep.equal(told(absent));
      expectProblem(hidden, 404, s);
      const insertion = 'INSERT DATA { <#a> <urn:p> 1 }';
      const patched = async (name: string) =>
        told(
          await s.send('PATCH', closed + name, { 'Content-Type': 'application/sparql-update' }, insertion, as(s, bob)),
        );
      expect(await patched('x')).to.deep.equal(await patched('z'));
      expect((await patched('x'))[0]).to.equal(404);
      const { iri } = await s.stored('text/turtle', '');
      expectProblem(await s.patch(`${iri}/x`, 'application/sparql-update', insertion), 409, s);
      expectProblem(await s.send('GET', `${closed}x`, {}, undefined, as(s, bob)), 404, s);
      expectProblem(await s.send('GET', `${closed}no`, {}, undefined, as(s, bob)), 404, s);
    });

    it('a resource above the quota leaves none of them (rules 20.4, 10.3)', async () => {
      const base = s.fresh('/');
      expectProblem(await s.put(base + deep, 'application/octet-stream', 'x'.repeat(300_000)), 507, s);
      await s.expectAbsent(base);
      expect((await put(s, base + deep)).status).to.equal(201);
    });
  },
  inSolid({ 'mask-forbidden-as-not-found': 'true', 'quota.max-bytes': '200000' }),
);

describeStorage(
  'Unmasked errors',
  (s) => {
    it('are the same for nonexistent and unreadable resources without read access (rule 20.3)', async () => {
      const closed = await s.container();
      await setAcl(s, closed, rule('Append', agent(alice)));
      await s.stored('text/turtle', '', `${closed}there`);
      for (const name of ['there', 'absent', 'absent/', 'absent/deep'])
        for (const method of ['GET', 'HEAD', 'OPTIONS', 'DELETE', 'QUERY', 'POST']) {
          const status = [(await s.send(method, closed + name, {}, undefined, as(s, bob))).status];
          expect(status, `${method} ${name}`).to.deep.equal([403]);
          expect((await s.send(method, closed + name, {}, undefined, 'anonymous')).status).to.equal(401);
        }
      expect((await s.send('GET', `${closed}absent`, {}, undefined, as(s, alice))).status).to.equal(403);
      await s.expectAbsent(`${closed}absent`);
      const open = await s.container();
      await setAcl(s, open, rule('Read', agent(bob)));
      for (const [method, status] of [
        ['GET', 404],
        ['DELETE', 404],
        ['PUT', 403],
        ['PATCH', 403],
        ['POST', 404],
      ] as const)
        expectProblem(
          await s.send(
            method,
            `${open}absent`,
            { 'Content-Type': 'application/sparql-update' },
            'INSERT DATA {}',
            as(s, bob),
          ),
          status,
          s,
        );
      // A name that is not valid for a resource of this storage is not a secret.
      expectProblem(await s.send('GET', `${s.root}.lws/no-such`, {}, undefined, as(s, bob)), [403, 404], s);
    });

    it('a POST to a data resource is authorized before 405 (rule 20.8)', async () => {
      const { iri } = await s.stored('text/turtle', '');
      await setAcl(s, iri, rule('Read', agent(bob)), rule('Append', agent(alice)));
      expectProblem(await s.send('POST', iri, turtle, '<> a <urn:C> .', as(s, bob)), 403, s);
      expectChallenge(await s.send('POST', iri, turtle, '<> a <urn:C> .', 'anonymous'), s);
      for (const who of [undefined, as(s, alice)]) {
        const answer = await s.send('POST', iri, turtle, '<> a <urn:C> .', who);
        expectProblem(answer, 405, s);
        expect(listOf(answer, 'allow')).to.include('put').and.not.include('post');
      }
    });

    it('a body without Content-Type (rule 20.8)', async () => {
      const { iri } = await s.stored('text/turtle', '');
      const container = await s.container();
      for (const [method, target] of [
        ['PUT', iri],
        ['PUT', s.fresh()],
        ['PATCH', iri],
        ['POST', container],
      ] as const) {
        expectProblem(await s.send(method, target, {}, '<> a <urn:C> .'), 400, s);
        expectProblem(await s.send(method, target, {}, ['<> a ', '<urn:C> .']), 400, s);
        expectProblem(await s.send(method, target, { 'Content-Type': '' }, '<> a <urn:C> .'), 400, s);
      }
      expect(await s.members(container)).to.deep.equal([]);
      expect((await s.send('PUT', s.fresh('/'))).status).to.equal(201);
      expect((await s.send('PUT', s.fresh())).status).to.equal(201);
      expect(
        (await s.send('POST', container, { Link: '<http://www.w3.org/ns/ldp#BasicContainer>; rel="type"' })).status,
      ).to.equal(201);
    });

    it('accepts a container with a whitespace body, and rejects other bodies (rule 20.10)', async () => {
      const container = await s.container();
      const link = { ...turtle, Link: '<http://www.w3.org/ns/ldp#BasicContainer>; rel="type"' };
      const blanks = ['', ' ', '\r\n\t \n', [' \n', '\n'], ' '.repeat(1_024)];
      for (const body of blanks) {
        expect((await s.send('PUT', s.fresh('/'), turtle, body)).status).to.equal(201);
        expect((await s.send('POST', container, link, body)).status).to.equal(201);
      }
      expect(await s.members(container)).to.have.length(blanks.length);
      for (const body of ['<> a <urn:C> .', ' x', [' ', 'x'], '\u00a0', ' '.repeat(1_025), ['  ', ' '.repeat(2_000)]]) {
        const iri = s.fresh('/');
        expectProblem(await s.send('PUT', iri, turtle, body), 409, s);
        expectProblem(await s.send('POST', container, link, body), 409, s);
        await s.expectAbsent(iri);
      }
      expect(await s.members(container)).to.have.length(blanks.length);
    });

    it('DELETE needs write on the container too (rule 20.7)', async () => {
      const container = await s.container();
      const { iri } = await s.stored('text/turtle', '', `${container}x`);
      const remove = (who?: Sender, at = iri, headers = {}) => s.send('DELETE', at, headers, undefined, who);
      await setAcl(s, iri, rule('Read Write', agent(bob)));
      await setAcl(s, container, rule('Read Append', agent(bob)));
      expectProblem(await remove(as(s, bob)), 403, s);
      await setAcl(s, iri, rule('Read', agent(bob)));
      await setAcl(s, container, rule('Read Write', agent(bob), 'accessTo'));
      expectProblem(await remove(as(s, bob)), 403, s);
      expectChallenge(await remove('anonymous'), s);
      await setAcl(s, iri, rule('Read Write', agent(bob)));
      expect((await remove(as(s, bob))).status).to.equal(204);
      await s.expectAbsent(iri);
      // For the container itself, on its parent.
      await setAcl(s, container, rule('Read Write', agent(bob)));
      expectProblem(await remove(as(s, bob), container, { Depth: 'infinity' }), 403, s);
      expectProblem(await s.delete(s.root), 403, s);
    });

    it('a grant of delete alone does not permit deleting from a container (rule 20.7)', async () => {
      const container = await s.container();
      await s.stored('text/turtle', '', `${container}c/x`);
      const give = (target: string, ...actions: string[]) => grant(s, policy(bob, actions, target));
      await give(`${container}c/`, 'read', 'delete');
      await give(container, 'read');
      expectProblem(await s.send('DELETE', `${container}c/x`, {}, undefined, as(s, bob)), 403, s);
      expectProblem(await s.send('DELETE', `${container}c/`, { Depth: 'infinity' }, undefined, as(s, bob)), 403, s);
      expect(await s.members(`${container}c/`)).to.deep.equal([`${container}c/x`]);
      await give(`${container}c/`, 'modify');
      expect((await s.send('DELETE', `${container}c/x`, {}, undefined, as(s, bob))).status).to.equal(204);
    });

    it('writes need no condition, but evaluate one (rules 20.2, 6.9)', async () => {
      const { iri, etag } = await s.stored('text/turtle', '');
      expect((await put(s, iri)).status).to.equal(204);
      expectProblem(await put(s, iri, undefined, { 'If-Match': etag }), 412, s);
      expectProblem(await put(s, iri, undefined, { 'If-None-Match': '*' }), 412, s);
      for (let time = 0; time < 2; time++) await setAcl(s, iri);
      // Linksets still need it (rule 11.7).
      expectProblem(await s.put(`${iri}.meta`, 'application/linkset+json', '{"linkset":[{}]}'), 428, s);
    });
  },
  inSolid(),
);

const app = 'https://app.example';
const preflight = { Origin: app, 'Access-Control-Request-Method': 'PATCH' };

describeStorage(
  'Fields and CORS',
  (s) => {
    it('every resource links the storage (rule 20.9)', async () => {
      const pim = 'http://www.w3.org/ns/pim/space#';
      const solid = 'http://www.w3.org/ns/solid/terms#storageDescription';
      const { iri } = await s.stored('text/turtle', '');
      const container = await s.container();
      for (const method of ['GET', 'HEAD'])
        for (const [target, accept] of [
          [iri, '*/*'],
          [container, 'text/turtle'],
          [s.root, 'text/turtle'],
          [s.root, '*/*'],
          [s.root, 'application/lws+json'],
        ] as const) {
          const answer = await s.send(method, target, { Accept: accept });
          expect(answer.status, answer.text).to.equal(200);
          expect(linked(answer, `${pim}storage`), `${method} ${target} ${accept}`).to.deep.equal([s.root]);
          expect(linked(answer, solid)).to.deep.equal([`${s.root}.well-known/solid`]);
          expect(linked(answer, 'type').includes(`${pim}Storage`)).to.equal(target === s.root);
          expect(linked(answer, 'acl')).to.deep.equal([`${target}.acl`]);
          if (accept !== '*/*' || target !== s.root) {
            expect(listOf(answer, 'allow')).to.include.members(['get', 'head', 'options']);
            expect(answer.headers['wac-allow']).to.equal('user="read append write control",public=""');
          }
        }
      const description = await s.send('GET', `${s.root}.well-known/solid`, {}, undefined, 'anonymous');
      const quads = await graphOf(description, `${s.root}.well-known/solid`);
      expect(quads.map(({ subject, object }) => `${subject.value} ${object.value}`)).to.include(
        `${s.root} ${pim}Storage`,
      );
    });

    it('every origin is echoed, with credentials (rule 20.2)', async () => {
      const { iri } = await s.stored('text/turtle', '');
      for (const origin of [app, 'http://localhost:3000', 'null'])
        for (const [method, who] of [
          ['GET', undefined],
          ['OPTIONS', undefined],
          ['GET', 'anonymous'],
        ] as const) {
          const answer = await s.send(method, iri, { Origin: origin }, undefined, who);
          expect(answer.headers).to.include({
            'access-control-allow-origin': origin,
            'access-control-allow-credentials': 'true',
          });
          expect(listOf(answer, 'vary')).to.include('origin');
          expect(listOf(answer, 'access-control-expose-headers')).to.include.members([
            'wac-allow',
            'accept-patch',
            'link',
          ]);
        }
      const same = await s.get(iri);
      expect(same.headers).to.not.have.property('access-control-allow-origin');
      expect(listOf(same, 'vary')).to.include('origin');
    });

    it('a preflight allows the requested fields, except invalid names (rule 20.2)', async () => {
      const { iri } = await s.stored('text/turtle', '');
      const asked = 'X-CUSTOM, content-type';
      const answer = await s.send(
        'OPTIONS',
        iri,
        { ...preflight, 'Access-Control-Request-Headers': asked },
        undefined,
        'anonymous',
      );
      expect(answer.status).to.equal(204);
      expect(answer.headers['access-control-allow-headers']).to.equal(asked);
      expect(answer.headers['access-control-allow-origin']).to.equal(app);
      expect(listOf(answer, 'access-control-allow-methods')).to.include.members(['patch', 'put', 'delete']);
      expect(listOf(answer, 'vary')).to.include.members(['origin', 'access-control-request-headers']);
      for (const bad of ['a"b', 'a;b', '<script>', 'a=b'])
        expect(
          listOf(
            await s.send('OPTIONS', iri, { ...preflight, 'Access-Control-Request-Headers': bad }),
            'access-control-allow-headers',
          ),
        )
          .to.include('authorization')
          .and.not.include(bad);
      expect(listOf(await s.send('OPTIONS', iri, preflight), 'access-control-allow-headers')).to.include(
        'authorization',
      );
    });

    it('the console accepts only its own origin (rules 20.2, 10.4)', async () => {
      for (const path of ['app', 'app/', 'callback', 'APP/'])
        for (const headers of [{ Origin: app }, { ...preflight, 'Access-Control-Request-Headers': 'x' }])
          for (const method of ['GET', 'OPTIONS'])
            expect(
              Object.keys((await s.send(method, s.root + path, headers, undefined, 'anonymous')).headers).filter(
                (name) => name.startsWith('access-control'),
              ),
            ).to.deep.equal([]);
    });
  },
  inSolid(),
);

describeStorage(
  'Settings that override the profile',
  (s) => {
    it('owner mode, conditions, masking, and a list of origins (rule 20.1)', async () => {
      const { iri } = await s.stored('text/turtle', '');
      expect(linked(await s.get(iri), 'acl')).to.deep.equal([]);
      expectProblem(await put(s, iri), 428, s);
      expectProblem(await s.send('GET', iri, {}, undefined, s.stranger), 404, s);
      expect((await s.send('GET', iri, { Origin: app })).headers).to.include({ 'access-control-allow-origin': app });
      const foreign = await s.send('GET', iri, { Origin: 'https://other.example' });
      expect(foreign.headers).to.not.have.property('access-control-allow-origin');
      // Additions of the profile remain.
      expect((await put(s, s.fresh('/x/y'))).status).to.equal(201);
      expect(listOf(await s.get(iri), 'accept-patch')).to.include('text/n3');
    });
  },
  inSolid({
    'access-control': 'owner',
    'require-conditional-writes': 'true',
    'mask-forbidden-as-not-found': 'true',
    'cors.allowed-origins': app,
  }),
);

describeStorage(
  'Owner mode with the profile',
  (s) => {
    it('creators have full access to created resources and parents; other callers are rejected (rules 20.1, 20.3, 20.4)', async () => {
      expectProblem(await s.send('GET', `${s.scratch}absent`, {}, undefined, s.stranger), 403, s);
      expectProblem(await s.send('PUT', `${s.scratch}a/b`, turtle, '', s.stranger), 403, s);
      expect((await put(s, `${s.scratch}a/b`)).status).to.equal(201);
      await s.expectAbsent(`${s.scratch}absent`);
    });

    it('an explicit * stays without credentials (rules 20.1, 10.8)', async () => {
      const answer = await s.send('GET', s.root, { Origin: app });
      expect(answer.headers['access-control-allow-origin']).to.equal('*');
      expect(answer.headers).to.not.have.property('access-control-allow-credentials');
    });
  },
  inSolid({ 'access-control': 'owner', 'cors.allowed-origins': '*' }),
);
