/** Rules 2.5, 2.9, 5.1: permissions in owner mode, with public-read, and in open mode. */
import { expect } from 'chai';
import { describeStorage, type Sender, type StorageUnderTest } from '../support/conformance.js';
import { expectChallenge, expectProblem } from '../support/expectations.js';
import { type Answer, request } from '../support/http.js';
import { credential, ed25519Identity } from '../support/identity.js';

/** Every request that needs a mode, on a new Turtle resource in a new container. */
async function attempts(s: StorageUnderTest, as: () => Sender): Promise<Record<string, () => Promise<Answer>>> {
  const container = await s.container();
  const { iri } = await s.stored('text/turtle', '<> a <#C> .', `${container}x`);
  const send =
    (method: string, target: string, headers = {}, body?: string) =>
    () =>
      s.send(method, target, headers, body, as());
  const turtle = { 'Content-Type': 'text/turtle' };
  return {
    'GET a resource': send('GET', iri),
    'HEAD a resource': send('HEAD', iri),
    'GET a container': send('GET', container),
    'GET a linkset': send('GET', `${iri}.meta`),
    'POST to a container': send('POST', container, turtle, ''),
    'PUT a new resource': send('PUT', `${container}new`, turtle, ''),
    'PUT a new container': send('PUT', `${container}new/`),
    'PUT an existing resource': send('PUT', iri, { ...turtle, 'If-Match': '*' }, ''),
    'PATCH a resource': send(
      'PATCH',
      iri,
      { 'Content-Type': 'application/sparql-update' },
      'INSERT DATA { <a> <b> <c> }',
    ),
    'DELETE a resource': send('DELETE', iri),
    'DELETE a tree': send('DELETE', container, { Depth: 'infinity' }),
  };
}
const names = [
  'GET a resource',
  'HEAD a resource',
  'GET a container',
  'GET a linkset',
  'POST to a container',
  'PUT a new resource',
  'PUT a new container',
  'PUT an existing resource',
  'PATCH a resource',
  'DELETE a resource',
  'DELETE a tree',
];
const reads = names.slice(0, 4);
const granted = (name: string): number => (reads.includes(name) ? 200 : /POST|new/.test(name) ? 201 : 204);

async function untouched(s: StorageUnderTest, attempt: (iri: string) => Promise<void>): Promise<void> {
  const before = [await s.members(s.scratch), await s.tag(s.scratch, { Accept: 'text/turtle' })];
  await attempt(s.scratch);
  expect([await s.members(s.scratch), await s.tag(s.scratch, { Accept: 'text/turtle' })]).to.deep.equal(before);
}

/** Rejected attempts change nothing, so all of them share one resource. */
function refusedAttempts(s: StorageUnderTest, as: () => Sender): (name: string) => Promise<Answer> {
  let made: ReturnType<typeof attempts> | undefined;
  return async (name) => {
    made ??= attempts(s, as);
    return (await made)[name]!();
  };
}

describeStorage('Owner mode', (s) => {
  const asAnonymous = refusedAttempts(s, () => 'anonymous');
  const asStranger = refusedAttempts(s, () => s.stranger);
  for (const name of names) {
    it(`Owner mode, rule 2.7: an owner may ${name}`, async () => {
      const answer = await (await attempts(s, () => ({ token: s.token! })))[name]!();
      expect(answer.status, answer.text).to.equal(granted(name));
    });

    it(`Owner mode, Challenge: without a credential, ${name} is 401 with a challenge`, async () => {
      const answer = await asAnonymous(name);
      if (name.startsWith('HEAD')) expect(answer.status).to.equal(401);
      else expectChallenge(answer, s);
    });

    it(`Owner mode, rule 4.3: for an unauthorized caller, ${name} is a masked 404`, async () => {
      const answer = await asStranger(name);
      if (name.startsWith('HEAD')) expect(answer.status).to.equal(404);
      else expectProblem(answer, 404, s);
    });
  }

  it('Owner mode: rejected writes change nothing', async () => {
    await untouched(s, async (container) => {
      for (const as of ['anonymous', s.stranger] as const) {
        await s.send('POST', container, { Slug: 'intruder' }, 'x', as);
        await s.send('PUT', `${container}intruder`, {}, 'x', as);
        await s.send('DELETE', container, { Depth: 'infinity' }, undefined, as);
      }
    });
  });

  it('Owner mode: the root is private, its description is public', async () => {
    expectChallenge(await request(s.root, { method: 'POST' }), s);
    expectChallenge(await request(s.root, { headers: { Accept: 'text/turtle' } }), s);
    expect((await request(s.root)).status).to.equal(200);
  });

  it('authorization is decided before a body is read (rule 2.6)', async () => {
    const body = Buffer.alloc(4 << 20, 'x');
    const headers = { 'Content-Type': 'text/turtle' };
    for (const answer of [
      await s.send('PUT', s.fresh(), headers, body.subarray(0, 1000), 'anonymous'),
      await s.send('PUT', s.fresh(), headers, '<> this is no Turtle', 'anonymous'),
    ])
      expectChallenge(answer, s);
    expectProblem(await s.send('PUT', s.fresh(), headers, '<> this is no Turtle', s.stranger), 404, s);
  });
});

describeStorage(
  'Public read',
  (s) => {
    const asAnonymous = refusedAttempts(s, () => 'anonymous');
    const asStranger = refusedAttempts(s, () => s.stranger);
    for (const name of names) {
      const mayRead = reads.includes(name);
      it(`Public read, rule 2.9: without a credential, ${name} is ${mayRead ? 200 : 401}`, async () => {
        const answer = await asAnonymous(name);
        if (mayRead) expect(answer.status).to.equal(200);
        else expectChallenge(answer, s);
      });

      it(`Public read, rule 4.2: for an unauthorized caller, ${name} is ${mayRead ? 200 : 403}`, async () => {
        const answer = await asStranger(name);
        if (mayRead) expect(answer.status).to.equal(200);
        else expectProblem(answer, 403, s);
      });
    }

    it('Public read: the listing of the root is public and shows its members', async () => {
      const answer = await request(s.root, { headers: { Accept: 'application/lws+json' } });
      expect(answer.status).to.equal(200);
      expect(answer.text).to.include(s.scratch);
    });

    it('an invalid credential is 401 even on a public resource (rule 4.6)', async () => {
      const wrong = { token: credential(ed25519Identity(), { aud: 'https://elsewhere.example' }) };
      expectChallenge(await s.send('GET', s.scratch, {}, undefined, wrong), s, 'invalid_token');
    });
  },
  { settings: { 'public-read': 'true' } },
);

describeStorage(
  'Open mode',
  (s) => {
    for (const name of names)
      for (const [who, as] of [
        ['anybody', () => 'anonymous'],
        ['a principal', () => s.stranger],
      ] as const)
        it(`Open mode, rule 2.10: ${who} may ${name}`, async () => {
          const answer = await (await attempts(s, as as () => Sender))[name]!();
          expect(answer.status, answer.text).to.equal(granted(name));
        });

    it('Open mode, rule 4.1: a nonexistent resource is a plain 404', async () => {
      expectProblem(await request(s.fresh()), 404, s);
    });

    it('Open mode, rule 4.6: an invalid credential is still 401', async () => {
      expectChallenge(await s.send('GET', s.scratch, {}, undefined, { token: 'a.b.c' }), s, 'invalid_token');
    });
  },
  { settings: { 'dev.open': 'true' } },
);
