/** Rule 17.2: documents of access requests and grants: validation and storage. */
import { expect } from 'chai';
import { describeStorage, lws, type StorageUnderTest } from '../support/conformance.js';
import { expectChallenge, expectProblem, linked } from '../support/expectations.js';
import { constraint, documentOf, grantsOf, policy, postDocument, requestsOf, revoke } from '../support/grants.js';
import { mediaType } from '../support/rdf.js';
import { lwsContext, lwsJson } from '../support/search.js';
import { alice, as, bob, owner } from '../support/wac.js';

type Kind = 'AccessGrant' | 'AccessRequest';
const kinds: readonly Kind[] = ['AccessRequest', 'AccessGrant'];
const endpointOf = (s: StorageUnderTest, kind: Kind): string => (kind === 'AccessGrant' ? grantsOf(s) : requestsOf(s));

/** Invalid documents, derived from a valid one. */
const refused: Readonly<Record<string, (s: StorageUnderTest) => object>> = {
  'no storage': () => ({ storage: undefined }),
  'a foreign storage': () => ({ storage: 'https://elsewhere.example/' }),
  'an array of storages': (s) => ({ storage: [s.root, 'https://elsewhere.example/'] }),
  'a container as the storage': (s) => ({ storage: s.scratch }),
  'no access': () => ({ access: undefined }),
  'empty access': () => ({ access: [] }),
  'access that is text': () => ({ access: 'read' }),
  'a policy that is null': () => ({ access: [null] }),
  'an unknown action': (s) => ({ access: [{ ...policy(alice, 'read', s.scratch), action: ['own'] }] }),
  'control as an action': (s) => ({ access: [policy(alice, 'control', s.scratch)] }),
  'an unknown action beside a known one': (s) => ({ access: [policy(alice, ['read', 'own'], s.scratch)] }),
  'no action': (s) => ({ access: [{ ...policy(alice, 'read', s.scratch), action: undefined }] }),
  'empty actions': (s) => ({ access: [policy(alice, [], s.scratch)] }),
  'an action of the prototype': (s) => ({ access: [policy(alice, 'constructor', s.scratch)] }),
  'no assignee': (s) => ({ access: [{ ...policy(alice, 'read', s.scratch), assignee: undefined }] }),
  'an assignee that is no URI': (s) => ({ access: [policy('alice', 'read', s.scratch)] }),
  'an assignee that is a number': (s) => ({ access: [{ ...policy(alice, 'read', s.scratch), assignee: 7 }] }),
  'no target': (s) => ({ access: [{ ...policy(alice, 'read', s.scratch), target: undefined }] }),
  'a target without value': (s) => ({
    access: [{ ...policy(alice, 'read', s.scratch), target: { type: 'Container' } }],
  }),
  'a target without values': () => ({ access: [policy(alice, 'read', [])] }),
  'a target without type': (s) => ({ access: [{ ...policy(alice, 'read', s.scratch), target: { value: s.scratch } }] }),
  'a target of an unknown type': (s) => ({ access: [policy(alice, 'read', s.scratch, 'Everything')] }),
  'a target outside of the storage': () => ({ access: [policy(alice, 'read', 'https://elsewhere.example/')] }),
  'a target whose IRI only begins like the storage': (s) => ({
    access: [policy(alice, 'read', `${s.root.slice(0, -1)}.example/`)],
  }),
  'a target outside beside one inside': (s) => ({
    access: [policy(alice, 'read', [s.scratch, 'https://elsewhere.example/'])],
  }),
  'a target that is no IRI': () => ({ access: [policy(alice, 'read', 'everything')] }),
  'a second policy without target': (s) => ({
    access: [policy(alice, 'read', s.scratch), { action: 'read', assignee: alice.did }],
  }),
  'a constraint without leftOperand': (s) => ({
    access: [policy(alice, 'read', s.scratch, 'Container', { operator: 'eq', rightOperand: 'x' })],
  }),
  'a constraint without operator': (s) => ({
    access: [policy(alice, 'read', s.scratch, 'Container', { leftOperand: 'client', rightOperand: 'x' })],
  }),
  'a constraint without rightOperand': (s) => ({
    access: [policy(alice, 'read', s.scratch, 'Container', { leftOperand: 'client', operator: 'eq' })],
  }),
  'a constraint that is text': (s) => ({
    access: [{ ...policy(alice, 'read', s.scratch), constraint: ['client'] }],
  }),
  'an inbox that is no URL': () => ({ inbox: 'inbox' }),
  'an inbox of another scheme': () => ({ inbox: 'ftp://inbox.example/' }),
  'an inbox that is a number': () => ({ inbox: 7 }),
  'an inbox that nothing is delivered to': () => ({ inbox: 'http://127.0.0.1:9/inbox' }),
  'a policy without a type': (s) => ({ access: [{ ...policy(alice, 'read', s.scratch), type: undefined }] }),
  'a policy of another type': (s) => ({
    access: [policy(alice, 'read', s.scratch), { ...policy(alice, 'read', s.scratch), type: ['Permission'] }],
  }),
};

describeStorage(
  'Access documents',
  (s) => {
    for (const kind of kinds) {
      const endpoint = () => endpointOf(s, kind);
      const post = (changes: object, type?: string) =>
        postDocument(
          s,
          endpoint(),
          documentOf(s, kind, [policy(alice, 'read', s.scratch)], { ...changes }),
          undefined,
          type,
        );

      it(`${kind}, rule 17.1: POST is 201 with Location and the document`, async () => {
        const answer = await post({});
        expect(answer.status, answer.text).to.equal(201);
        expect(mediaType(answer)).to.equal(lwsJson);
        const location = new URL(answer.headers['location']!, s.root).href;
        expect(location.startsWith(`${endpoint()}/`), location).to.equal(true);
        const document = JSON.parse(answer.text);
        expect(document).to.deep.include({ '@context': lwsContext, id: location, type: [kind], storage: s.root });
        expect(document.access).to.deep.equal([policy(alice, 'read', s.scratch)]);
        const read = await s.get(location);
        expect(read.status).to.equal(200);
        expect(mediaType(read)).to.equal(lwsJson);
        expect(JSON.parse(read.text)).to.deep.equal(document);
        expect(linked(read, `${lws}storage`)).to.deep.equal([s.root]);
        expect((await s.head(location)).status).to.equal(200);
      });

      it(`${kind}, rule 17.1: single strings are accepted for arrays`, async () => {
        const single = { type: 'AccessPolicy', action: 'read', assignee: alice.did };
        const target = { type: 'StorageResource', value: s.scratch };
        const one = constraint('client', 'eq', 'https://app.example/');
        for (const access of [{ ...single, target }, [{ ...single, target, constraint: one }]]) {
          const answer = await post({ type: kind, access });
          expect(answer.status, answer.text).to.equal(201);
        }
      });

      it(`${kind}, rule 17.1: unknown members are preserved`, async () => {
        const extra = { note: { text: ['why', 1, null] }, 'https://e.example/p': 'x' };
        const answer = await post({ ...extra, access: [{ ...policy(alice, 'read', s.scratch), because: 'it is so' }] });
        expect(answer.status, answer.text).to.equal(201);
        const read = JSON.parse((await s.get(new URL(answer.headers['location']!, s.root).href)).text);
        expect(read).to.deep.include(extra);
        expect(read.access[0].because).to.equal('it is so');
      });

      it(`${kind}, rule 17.1: the server assigns the id and ignores the client's`, async () => {
        const answer = await post({ id: s.root, creator: 'https://e.example/', issuer: alice.did });
        expect(answer.status, answer.text).to.equal(201);
        const location = new URL(answer.headers['location']!, s.root).href;
        expect(JSON.parse(answer.text).id).to.equal(location);
      });

      for (const [title, changes] of Object.entries(refused))
        it(`${kind}, rule 17.2: ${title} is 400`, async () => {
          const answer = await post(changes(s));
          expectProblem(answer, 400, s);
        });

      it(`${kind}, rule 17.2: a grant with prohibition, obligation or duty is 400; a request may ask for it`, async () => {
        for (const member of ['prohibition', 'obligation', 'duty']) {
          const status = kind === 'AccessGrant' ? 400 : 201;
          const restricted = { ...policy(alice, 'read', s.scratch), [member]: [{ action: 'delete' }] };
          expect((await post({ access: [policy(bob, 'read', s.scratch), restricted] })).status).to.equal(status);
          expect((await post({ [member]: [] })).status).to.equal(status);
        }
      });

      it(`${kind}, rule 17.2: invalid JSON and non-objects are 400`, async () => {
        for (const text of ['', '{', '[]', 'null', '"x"', '\ufffe'])
          expectProblem(await s.post(endpoint(), lwsJson, text), 400, s);
        expectProblem(
          await s.post(endpoint(), lwsJson, Buffer.from([0x7b, 0x22, 0xff, 0x22, 0x3a, 0x31, 0x7d])),
          400,
          s,
        );
      });

      it(`${kind}, rule 17.2: another media type is 415`, async () => {
        for (const type of ['text/turtle', 'text/plain', 'application/x-www-form-urlencoded'])
          expectProblem(await post({}, type), 415, s);
        expectProblem(await s.send('POST', endpoint(), {}, '{}'), 415, s);
      });

      it(`${kind}, rule 17.1: the list is a container in application/lws+json`, async () => {
        const made = new URL((await post({})).headers['location']!, s.root).href;
        const answer = await s.get(endpoint());
        expect(mediaType(answer)).to.equal(lwsJson);
        const document = JSON.parse(answer.text);
        expect(document).to.deep.include({ '@context': lwsContext, id: endpoint(), type: 'Container' });
        expect(document.items.map(({ id }: { id: string }) => id)).to.include(made);
        expect(linked(answer, `${lws}storage`)).to.deep.equal([s.root]);
        expect(answer.headers['cache-control']).to.match(/\bprivate\b|\bno-store\b/);
      });

      it(`${kind}, rule 17.1: DELETE is 204; then GET is 404 and the list omits it`, async () => {
        const made = new URL((await post({})).headers['location']!, s.root).href;
        await revoke(s, made);
        for (const method of ['GET', 'HEAD', 'DELETE'])
          expect((await s.send(method, made)).status, method).to.equal(404);
        expect((await s.get(endpoint())).text).not.to.include(made);
      });

      it(`${kind}, rule 6.21: other methods are 405 with Allow`, async () => {
        const made = new URL((await post({})).headers['location']!, s.root).href;
        for (const [method, iri] of [
          ['PUT', endpoint()],
          ['DELETE', endpoint()],
          ['PUT', made],
          ['PATCH', made],
          ['POST', made],
        ] as const) {
          const answer = await s.send(method, iri, { 'Content-Type': lwsJson }, '{}');
          // PUT below the system prefix is a PUT of a reserved name.
          expect(answer.status, `${method} ${iri}`).to.be.oneOf(method === 'PUT' ? [405, 409] : [405]);
          if (answer.status === 405) expect(answer.headers['allow']).to.include('GET');
        }
      });

      it(`${kind}, rule 17.3: anonymous callers get 401 for the endpoint, a member and a nonexistent member`, async () => {
        const made = new URL((await post({})).headers['location']!, s.root).href;
        for (const iri of [endpoint(), made, `${endpoint()}/none`])
          for (const method of ['GET', 'DELETE', ...(iri === endpoint() ? ['POST'] : [])]) {
            const answer = await s.send(
              method,
              iri,
              { 'Content-Type': lwsJson },
              method === 'POST' ? '{}' : undefined,
              'anonymous',
            );
            if (method === 'DELETE' && iri === endpoint()) expect(answer.status).to.be.oneOf([401, 405]);
            else expectChallenge(answer, s);
          }
      });

      it(`${kind}: it survives a restart`, async () => {
        const made = new URL((await post({})).headers['location']!, s.root).href;
        const before = (await s.get(made)).text;
        await s.restart({ settings: { owners: owner.did }, owner });
        expect((await s.get(made)).text).to.equal(before);
      });
    }

    it('AccessRequest, rule 17.3: any authenticated principal may file one; a grant by an unauthorized caller is 403', async () => {
      for (const who of [s.stranger, as(s, alice)]) {
        const access = [policy(bob, 'read', s.scratch)];
        const filed = await postDocument(s, requestsOf(s), documentOf(s, 'AccessRequest', access), who);
        expect(filed.status).to.equal(201);
        expectProblem(await postDocument(s, grantsOf(s), documentOf(s, 'AccessGrant', access), who), 403, s);
        expectProblem(await postDocument(s, grantsOf(s), {}, who), 403, s);
        expectProblem(await s.send('POST', grantsOf(s), { 'Content-Type': 'text/plain' }, 'x', who), 403, s);
      }
    });

    it('a request filed as a grant, or a grant as a request, has no effect (rule 17.1)', async () => {
      const access = [policy(bob, 'read', s.scratch)];
      await postDocument(s, requestsOf(s), documentOf(s, 'AccessGrant', access));
      expect((await s.send('GET', s.scratch, {}, undefined, as(s, bob))).status).to.equal(404);
    });
  },
  { settings: { owners: owner.did }, owner },
);
