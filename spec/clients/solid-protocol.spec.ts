/**
 * Solid Protocol without access control, under `lws.profile=solid`, after solid-contrib's specification-tests: methods, names,
 * parents, containment, types, CORS (rules 20.2, 20.4, 20.8, 20.9). Deviations of this service are at the end, with their rules.
 */
import { expect } from 'chai';
import { StorageUnderTest } from '../support/conformance.js';
import { linked, listOf } from '../support/expectations.js';
import type { Answer } from '../support/http.js';
import { graphOf, readRdf } from '../support/rdf.js';
import { inSolid } from '../support/wac.js';

const ldp = 'http://www.w3.org/ns/ldp#';
const asContainer = { Link: `<${ldp}BasicContainer>; rel="type"` };
const origin = { Origin: 'https://tester' };
const n3 =
  '@prefix solid: <http://www.w3.org/ns/solid/terms#> . _:p a solid:InsertDeletePatch ; solid:inserts { <> a <urn:Foo> } .';

type Send = (method: string, name: string, headers?: Record<string, string>, body?: string) => Promise<Answer>;

/** Requirements by title. Each runs in a container of its own with the members `c/`, `rdf` and `txt`. */
const requirements: Readonly<Record<string, (send: Send, container: string) => Promise<void>>> = {
  ...Object.fromEntries(
    ['', 'c/', 'rdf', 'txt'].flatMap((name) => [
      [
        `5.2: GET, HEAD and OPTIONS of ${name || 'a container'} return Allow`,
        async (send: Send) => {
          for (const [method, status] of [
            ['GET', 200],
            ['HEAD', 200],
            ['OPTIONS', 204],
          ] as const) {
            const answer = await send(method, name);
            expect(answer.status).to.equal(status);
            expect(listOf(answer, 'allow')).to.include.members(['get', 'head', 'options']);
          }
        },
      ],
      [
        `5: TRACE of ${name || 'a container'} is rejected`,
        async (send: Send) => expect((await send('TRACE', name)).status).to.be.oneOf([400, 405, 501]),
      ],
      [
        `8.1: CORS of ${name || 'a container'}`,
        async (send: Send) => {
          for (const method of ['GET', 'HEAD', 'OPTIONS']) {
            const answer = await send(method, name, { ...origin, Accept: 'text/turtle' });
            expect(answer.headers['access-control-allow-origin']).to.equal('https://tester');
            expect(listOf(answer, 'vary')).to.include('origin');
            expect(answer.headers['access-control-expose-headers']).to.not.be.oneOf([undefined, '*']);
          }
          for (const [requested, has, hasNot] of [
            ['X-CUSTOM, Content-Type', ['x-custom', 'content-type'], 'accept'],
            ['X-CUSTOM, Content-Type, Accept', ['accept'], 'authorization'],
          ] as const)
            for (const method of ['GET', 'POST', 'PUT', 'PATCH', 'DELETE']) {
              const preflight = {
                'Access-Control-Request-Method': method,
                'Access-Control-Request-Headers': requested,
              };
              const answer = await send('OPTIONS', name, { ...origin, ...preflight });
              expect([answer.status, answer.text]).to.deep.equal([204, '']);
              expect(listOf(answer, 'access-control-allow-methods')).to.include(method.toLowerCase());
              expect(listOf(answer, 'access-control-allow-headers'))
                .to.include.members([...has])
                .and.not.include(hasNot);
            }
        },
      ],
    ]),
  ),
  '3.1: a container and a resource cannot share a name': async (send) => {
    expect((await send('PUT', 'txt/', { 'Content-Type': 'text/turtle' })).status).to.equal(409);
    expect((await send('GET', 'txt/')).status).to.equal(404);
    expect((await send('PUT', 'c', { 'Content-Type': 'text/plain' }, 'x')).status).to.equal(409);
    expect((await send('GET', 'c')).status).to.equal(404);
    for (const [slug, headers] of [
      ['c', { 'Content-Type': 'text/plain' }],
      ['txt', asContainer],
    ] as const) {
      const { status, headers: made } = await send(
        'POST',
        '',
        { Slug: slug, ...headers },
        'Link' in headers ? undefined : 'x',
      );
      expect(status).to.equal(201);
      expect(made['location']).to.match(new RegExp(`/${slug}-2/?$`));
    }
  },
  '5.3: PUT and PATCH create the requested name': async (send, container) => {
    for (const [method, type, body] of [
      ['PUT', 'text/turtle', '<> a <urn:C> .'],
      ['PATCH', 'text/n3', n3],
    ] as const) {
      const answer = await send(method, `new-${method}`, { 'Content-Type': type }, body);
      expect([answer.status, answer.headers['location']]).to.deep.equal([201, `${container}new-${method}`]);
      expect((await send('GET', `new-${method}`)).status).to.equal(200);
    }
  },
  '5.3: POST assigns a name, from Slug if present': async (send, container) => {
    for (const headers of [{}, { Slug: 'wanted' }]) {
      const answer = await send('POST', '', { 'Content-Type': 'text/turtle', ...headers }, '<> a <urn:C> .');
      expect(answer.status).to.equal(201);
      expect(answer.headers['location']).to.match(
        new RegExp(`^${container}${'Slug' in headers ? 'wanted' : '[^/]+'}$`),
      );
    }
  },
  ...Object.fromEntries(
    (
      [
        ['PUT', 'text/plain', 'x'],
        ['PUT', 'text/turtle', '<> a <urn:C> .'],
        ['PATCH', 'application/sparql-update', 'INSERT DATA { <#a> <urn:p> 1 }'],
        ['PATCH', 'text/n3', n3],
      ] as const
    ).flatMap(([method, type, body]) => [
      [
        `5.3: ${method} of ${type} creates missing containers with containment triples`,
        async (send: Send, container: string) => {
          expect((await send(method, 'x/y/z', { 'Content-Type': type }, body)).status).to.equal(201);
          for (const [at, member] of [
            ['', 'x/'],
            ['x/', 'x/y/'],
            ['x/y/', 'x/y/z'],
          ] as const) {
            const quads = await graphOf(await send('GET', at, { Accept: 'text/turtle' }), container + at);
            const members = quads.filter(({ predicate }) => predicate.value === `${ldp}contains`);
            expect(members.map(({ object }) => object.value)).to.include(container + member);
          }
        },
      ],
      [
        `5.3: ${method} of ${type} below a resource returns 409`,
        async (send: Send) => {
          for (const name of ['txt/y', 'rdf/x/y'])
            expect((await send(method, name, { 'Content-Type': type }, body)).status).to.equal(409);
        },
      ],
    ]),
  ),
  '5.3: POST to an absent container returns 404 for every media type': async (send) => {
    for (const name of ['no/', 'no.ttl', 'no.json', 'no.foo', 'txt/no/'])
      for (const [type, body] of [
        ['text/turtle', ''],
        ['application/ld+json', '{}'],
        ['foo/bar', 'x'],
      ] as const) {
        expect((await send('POST', name, { 'Content-Type': type }, body)).status).to.equal(404);
        expect((await send('GET', name)).status).to.equal(404);
      }
  },
  '5.3: If-None-Match: * creates only': async (send) => {
    const put = (name: string) =>
      send('PUT', name, { 'Content-Type': 'text/turtle', 'If-None-Match': '*' }, '<> a <urn:New> .');
    expect((await put('rdf')).status).to.equal(412);
    expect((await send('GET', 'rdf')).text).to.not.include('urn:New');
    expect((await put('new')).status).to.equal(201);
    expect((await send('GET', 'new')).text).to.include('urn:New');
  },
  '5.3: a body without Content-Type returns 400': async (send) => {
    for (const [method, name] of [
      ['PUT', 'rdf'],
      ['PUT', 'new'],
      ['POST', ''],
      ['PATCH', 'rdf'],
    ] as const)
      for (const headers of [{}, { 'Content-Type': '' }] as Record<string, string>[])
        expect((await send(method, name, headers, '<> a <urn:C> .')).status).to.equal(400);
  },
  '5.4: DELETE removes the containment triple, and returns 409 for a container with members': async (
    send,
    container,
  ) => {
    await send('PUT', 'c/x', { 'Content-Type': 'text/plain' }, 'x');
    expect((await send('DELETE', 'c/')).status).to.equal(409);
    for (const name of ['c/x', 'c/']) {
      expect((await send('DELETE', name)).status).to.equal(204);
      expect((await send('GET', name)).status).to.equal(404);
    }
    const quads = await graphOf(await send('GET', '', { Accept: 'text/turtle' }), container);
    expect(quads.map(({ object }) => object.value)).to.not.include(`${container}c/`);
  },
  '5.4: the server manages containment triples': async (send, container) => {
    const quads = await graphOf(await send('GET', '', { Accept: 'text/turtle' }), container);
    const members = quads
      .filter(({ predicate }) => predicate.value === `${ldp}contains`)
      .map(({ object }) => object.value);
    expect(members.sort()).to.deep.equal([`${container}c/`, `${container}rdf`, `${container}txt`]);
    for (const [type, body] of [
      ['text/n3', n3],
      ['application/sparql-update', 'INSERT DATA {}'],
    ] as const)
      expect((await send('PATCH', '', { 'Content-Type': type }, body)).status).to.equal(415);
    expect((await send('PUT', '', { 'Content-Type': 'text/turtle' }, '<> a <urn:C> .')).status).to.equal(409);
  },
  '5.5: RDF is available as Turtle and as JSON-LD, regardless of the stored format': async (send, container) => {
    const json = '{"@id":"#it","http://example.org/name":[{"@value":"Ada"}]}';
    for (const [name, type, body] of [
      ['a', 'text/turtle', '<#it> <http://example.org/name> "Ada" .'],
      ['b', 'application/ld+json', json],
    ] as const) {
      await send('PUT', name, { 'Content-Type': type }, body);
      for (const accept of [
        'text/turtle',
        'application/ld+json',
        'application/ld+json;q=0.8, text/turtle;q=0.9',
        '*/*',
      ]) {
        const answer = await send('GET', name, { Accept: accept });
        const wanted = accept === 'application/ld+json' ? accept : 'text/turtle';
        expect(answer.headers['content-type']).to.include(wanted);
        const [quad, ...more] = await readRdf(answer.text, wanted, container + name);
        expect([quad?.subject.value, quad?.object.value, more.length]).to.deep.equal([
          `${container}${name}#it`,
          'Ada',
          0,
        ]);
      }
    }
  },
  '5.5: named graphs return 400': async (send) => {
    const graphs = '{"@id":"urn:g","@graph":[{"@id":"urn:s","urn:p":"x"}]}';
    expect((await send('PUT', 'g', { 'Content-Type': 'application/ld+json' }, graphs)).status).to.equal(400);
  },
  '4.1, Notifications 3: storage, storage description and channels are discoverable': async (send, container) => {
    const answer = await send('GET', 'rdf');
    const [description] = linked(answer, 'http://www.w3.org/ns/solid/terms#storageDescription');
    const [storage] = linked(answer, 'http://www.w3.org/ns/pim/space#storage');
    expect(container.startsWith(storage!)).to.equal(true);
    const response = await send('GET', description!, { Accept: 'text/turtle' });
    const quads = await graphOf(response, description!);
    const channel = quads.find(({ predicate }) => predicate.value.endsWith('notifications#subscription'))!.object.value;
    const document = (topic: string) =>
      JSON.stringify({
        '@context': ['https://www.w3.org/ns/solid/notification/v1'],
        type: 'http://www.w3.org/ns/solid/notifications#WebSocketChannel2023',
        topic,
      });
    const ask = (topic: string) => send('POST', channel, { 'Content-Type': 'application/ld+json' }, document(topic));
    const { receiveFrom } = JSON.parse((await ask(container)).text) as { receiveFrom: string };
    expect(receiveFrom).to.match(/^wss?:/);
    for (const method of ['GET', 'HEAD']) expect((await send(method, channel)).status).to.equal(200);
    expect((await ask(`${container}no`)).status).to.equal(404);
  },
  '4.2: the description of a container is RDF that can be patched (rule 20.12)': async (send, container) => {
    const [description] = linked(await send('GET', 'c/'), 'describedby');
    expect(description).to.equal(`${container}c/.meta`);
    const insertion = `INSERT DATA { <${container}c/> a <urn:C> }`;
    const patched = await send('PATCH', description!, { 'Content-Type': 'application/sparql-update' }, insertion);
    expect(patched.status, patched.text).to.equal(204);
    const quads = await graphOf(await send('GET', description!, { Accept: 'text/turtle' }), description!);
    expect(
      quads.some(({ subject, object }) => subject.value === `${container}c/` && object.value === 'urn:C'),
    ).to.equal(true);
  },
  /** Deviations from the specification-tests. */
  'a container is JSON by default (rule 7.2)': async (send) => {
    expect((await send('GET', '')).headers['content-type']).to.equal('application/lws+json');
  },
  'the description of a data resource is a linkset, not Turtle (rule 11.5)': async (send) => {
    expect(linked(await send('GET', 'rdf'), 'describedby')).to.deep.equal([]);
    expect(
      (await send('PUT', 'rdf.meta', { 'Content-Type': 'text/turtle', 'If-Match': '*' }, '<> a <urn:C> .')).status,
    ).to.equal(415);
  },
};

describe('Solid Protocol under the Solid profile', () => {
  const s = new StorageUnderTest();
  before(() => s.open(inSolid()));
  after(() => s.close());
  for (const [title, hold] of Object.entries(requirements))
    it(title.startsWith('Rule') ? title : `Solid Protocol ${title}`, async () => {
      const container = await s.container();
      await s.container(`${container}c/`);
      await s.stored('text/turtle', '<> a <urn:C> .', `${container}rdf`);
      await s.stored('text/plain', 'x', `${container}txt`);
      const send: Send = (method, name, headers = {}, body = undefined) =>
        s.send(method, /^https?:/.test(name) ? name : container + name, headers, body);
      await hold(send, container);
    });
});
