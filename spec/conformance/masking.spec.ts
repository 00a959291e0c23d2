/** Rule 4.3: existence masking for unauthorized callers, for every method. */
import { expect } from 'chai';
import { describeStorage, type Sender, type StorageUnderTest } from '../support/conformance.js';
import { expectChallenge, expectProblem } from '../support/expectations.js';
import { type Probe, visible } from '../support/masking.js';

const turtle = { 'Content-Type': 'text/turtle' };
const update = { 'Content-Type': 'application/sparql-update' };
const jsonPatch = { 'Content-Type': 'application/json-patch+json' };

/** Requests that could reveal if a resource exists. */
const probes: Readonly<Record<string, Probe>> = {
  GET: { method: 'GET' },
  HEAD: { method: 'HEAD' },
  OPTIONS: { method: 'OPTIONS' },
  PUT: { method: 'PUT', headers: turtle, body: '' },
  'PUT of malformed RDF': { method: 'PUT', headers: turtle, body: '<> a' },
  'PUT with If-Match': { method: 'PUT', headers: { ...turtle, 'If-Match': '"x"' }, body: '' },
  'PUT with If-Match: *': { method: 'PUT', headers: { ...turtle, 'If-Match': '*' }, body: '' },
  'PUT with If-None-Match: *': { method: 'PUT', headers: { ...turtle, 'If-None-Match': '*' }, body: '' },
  POST: { method: 'POST', headers: turtle, body: '' },
  PATCH: { method: 'PATCH', headers: update, body: 'INSERT DATA { <a> <b> <c> }' },
  'PATCH with a stale tag': {
    method: 'PATCH',
    headers: { ...update, 'If-Match': '"x"' },
    body: 'INSERT DATA { <a> <b> <c> }',
  },
  'PATCH with a syntax error': { method: 'PATCH', headers: update, body: 'INSERT' },
  'PATCH of a foreign type': { method: 'PATCH', headers: { 'Content-Type': 'text/n3' }, body: 'x' },
  'PATCH with a failing test': { method: 'PATCH', headers: jsonPatch, body: '[{"op":"test","path":"/a","value":9}]' },
  DELETE: { method: 'DELETE' },
  'DELETE with a stale tag': { method: 'DELETE', headers: { 'If-Match': '"x"' } },
  'DELETE with Depth': { method: 'DELETE', headers: { Depth: 'infinity' } },
  'GET with If-None-Match: *': { method: 'GET', headers: { 'If-None-Match': '*' } },
  'GET with If-Match': { method: 'GET', headers: { 'If-Match': '"x"' } },
  'GET with a range': { method: 'GET', headers: { Range: 'bytes=999-' } },
  PROPFIND: { method: 'PROPFIND' },
};

/** Unreadable and nonexistent paths with names of equal length. */
const pairs: Readonly<Record<string, (s: StorageUnderTest, container: string) => Promise<void>>> = {
  present: async (s, container) => void (await s.stored('text/turtle', '<> a <#C> .', `${container}present`)),
  prejson: async (s, container) => void (await s.stored('application/json', '{"a":1}', `${container}prejson`)),
  prebyte: async (s, container) => void (await s.stored('text/plain', 'x', `${container}prebyte`)),
  'prebox/': async (s, container) => {
    await s.container(`${container}prebox/`);
    await s.stored('text/plain', 'x', `${container}prebox/member`);
  },
};
const absentName = (name: string): string => (name.endsWith('/') ? 'absent/' : 'absents');

describeStorage('Existence masking', (s) => {
  let container = '';
  before(async () => {
    container = await s.container();
    for (const make of Object.values(pairs)) await make(s, container);
  });

  const senders: Readonly<Record<string, () => Sender>> = {
    anonymous: () => 'anonymous',
    'a stranger': () => s.stranger,
  };
  for (const [who, as] of Object.entries(senders))
    for (const [title, { method, headers, body }] of Object.entries(probes))
      it(`Masking, rule 4.1: to ${who}, ${title} gets the same response for unreadable and nonexistent resources`, async () => {
        const send = (path: string) => s.send(method, container + path, headers, body, as());
        for (const name of Object.keys(pairs)) {
          const absent = absentName(name);
          for (const end of ['', '.meta', '.acl', '?page=7', '/below']) {
            if (end === '.meta' && method === 'PUT') continue;
            const answer = await send(name + end);
            expect(answer.status, name + end).to.be.within(400, 499);
            const hidden = visible(answer, name);
            expect(hidden, name + end).to.deep.equal(visible(await send(absent + end), absent));
          }
        }
      });

  for (const title of [
    'GET',
    'HEAD',
    'PATCH',
    'DELETE',
    'PUT',
    'POST',
    'PUT with If-Match: *',
    'PATCH with a failing test',
  ])
    it(`Masking, rule 4.3: ${title} is 401 to anonymous and 404 to unauthorized callers, existing or not`, async () => {
      const { method, headers, body } = probes[title]!;
      for (const path of ['present', 'absents', 'prejson', 'prebyte']) {
        const anonymous = await s.send(method, container + path, headers, body, 'anonymous');
        const stranger = await s.send(method, container + path, headers, body, s.stranger);
        expect([anonymous.status, stranger.status], path).to.deep.equal([401, 404]);
        if (method === 'HEAD') continue;
        expectChallenge(anonymous, s);
        expectProblem(stranger, 404, s);
      }
    });

  it('Masking: the probes changed nothing', async () => {
    expect(await s.members(container)).to.have.members(Object.keys(pairs).map((name) => container + name));
    expect((await s.get(`${container}prejson`)).text).to.equal('{"a":1}');
  });
});

describeStorage(
  'Existence masking disabled',
  (s) => {
    for (const method of ['GET', 'HEAD', 'DELETE', 'PATCH'])
      it(`with lws.mask-forbidden-as-not-found=false, ${method} of an unreadable resource is 403 (rule 4.2)`, async () => {
        const { iri } = await s.stored('text/turtle', '<> a <#C> .');
        const answer = await s.send(method, iri, update, method === 'PATCH' ? 'INSERT DATA {}' : undefined, s.stranger);
        if (method === 'HEAD') expect(answer.status).to.equal(403);
        else expectProblem(answer, 403, s);
        expect((await s.send('GET', iri, {}, undefined, 'anonymous')).status).to.equal(401);
      });

    it('a nonexistent resource is still 404 (rule 4.1)', async () => {
      expectProblem(await s.send('GET', s.fresh(), {}, undefined, s.stranger), 404, s);
    });
  },
  { settings: { 'mask-forbidden-as-not-found': 'false' } },
);

describeStorage(
  'Existence masking for readers of the container',
  (s) => {
    it('an anonymous reader of the container gets a plain 404 for nonexistent names (rule 4.1)', async () => {
      for (const method of ['GET', 'HEAD', 'DELETE', 'PATCH']) {
        const answer = await s.send(method, s.fresh(), {}, undefined, 'anonymous');
        expect(answer.status, method).to.equal(404);
      }
    });

    it('a reader without the required mode gets 403, before 428 and 412 (rule 4.2)', async () => {
      const { iri } = await s.stored('text/turtle', '<> a <#C> .');
      for (const title of [
        'PUT',
        'PUT with If-Match',
        'PATCH with a stale tag',
        'DELETE with a stale tag',
        'PATCH with a syntax error',
      ]) {
        const { method, headers, body } = probes[title]!;
        expectProblem(await s.send(method, iri, headers, body, s.stranger), 403, s);
      }
    });

    it('PUT to a nonexistent name by a reader without append is 403 (rule 4.4)', async () => {
      for (const headers of [turtle, { ...turtle, 'If-Match': '*' }])
        expectProblem(await s.send('PUT', s.fresh(), headers, '', s.stranger), 403, s);
    });

    it('DELETE and PATCH of a nonexistent name by a reader is 404 (rule 4.1)', async () => {
      expectProblem(await s.send('DELETE', s.fresh(), {}, undefined, s.stranger), 404, s);
      expectProblem(await s.send('PATCH', s.fresh(), update, 'INSERT DATA {}', s.stranger), 404, s);
    });
  },
  { settings: { 'public-read': 'true' } },
);
