/** Rule 4.1 with Web Access Control: unreadable and nonexistent resources get the same response, for every method and auxiliary resource. */
import { expect } from 'chai';
import { describeStorage, type Sender, type StorageUnderTest } from '../support/conformance.js';
import { expectProblem } from '../support/expectations.js';
import { creations, type Probe, probes, visible } from '../support/masking.js';
import { agent, alice, anybody, as, inWac, ownerRule, rule, setAcl, setBareAcl } from '../support/wac.js';

/** Unreadable resources of every kind, with names as long as those of `absents`. */
const kinds: Readonly<Record<string, (s: StorageUnderTest, iri: string) => Promise<unknown>>> = {
  hideRDF: (s, iri) => s.stored('text/turtle', '<> a <#C> .', iri),
  hidJSON: (s, iri) => s.stored('application/json', '{"a":1}', iri),
  'hidAll/': async (s, iri) => {
    await s.container(iri);
    await s.stored('text/plain', 'x', `${iri}member`);
    await s.container(`${iri}inner/`);
  },
};
const absentOf = (name: string): string => (name.endsWith('/') ? 'absent/' : 'absents');
const ends = (name: string): readonly string[] =>
  name.endsWith('/')
    ? ['', '.meta', '.acl', '?page=7', 'member', 'inner/x.meta', 'new/']
    : ['', '.meta', '.acl', '.meta.acl', '.acl.meta', '?page=x', '/below', '/below/'];

/** ACLs that give only the owner access, own or inherited. */
type Hiding = 'by its own ACL' | 'by the ACL of its parent';

async function fill(s: StorageUnderTest, container: string, hiding: Hiding): Promise<void> {
  for (const [name, make] of Object.entries(kinds)) {
    await make(s, container + name);
    if (hiding === 'by its own ACL') await setBareAcl(s, container + name, [ownerRule]);
  }
  await s.stored('text/turtle', '', `${container}shown`);
  await setAcl(s, `${container}shown`, rule('Read', anybody));
}

const send = (s: StorageUnderTest, { method, headers, body }: Probe, iri: string, sender: Sender) =>
  s.send(method, iri, headers, body, sender);

/** Asserts that a request gets the same response for both. */
async function expectAlike(s: StorageUnderTest, container: string, probe: Probe, sender: Sender): Promise<void> {
  // Responses for nonexistent resources, the same for all kinds.
  const absent = new Map<string, unknown>();
  for (const name of Object.keys(kinds))
    for (const end of ends(name)) {
      const other = absentOf(name);
      const answer = await send(s, probe, container + name + end, sender);
      expect(answer.status, name + end)
        .to.be.within(400, 499)
        .and.not.be.oneOf([412, 428, 415]);
      const wanted = absent.get(other + end) ?? visible(await send(s, probe, container + other + end, sender), other);
      absent.set(other + end, wanted);
      expect(visible(answer, name), name + end).to.deep.equal(wanted);
    }
}

describeStorage(
  'Masking with WAC',
  (s) => {
    /** Container readable by the owner only, and a publicly readable one that only the owner may append to. */
    let [closed, open] = ['', ''];
    before(async () => {
      [closed, open] = [await s.container(), await s.container()];
      await setAcl(s, open, rule('Read', anybody));
      await fill(s, closed, 'by the ACL of its parent');
      await fill(s, open, 'by its own ACL');
    });
    const stranger = (): Sender => s.stranger;
    const everything = { ...probes, ...creations };

    for (const [title, probe] of Object.entries(everything)) {
      it(`Masking, rule 4.3: in an unreadable container ${title} does not reveal members`, async () => {
        await expectAlike(s, closed, probe, 'anonymous');
        await expectAlike(s, closed, probe, stranger());
      });

      it(`Masking, rule 4.3: in a readable container ${title} does not reveal unreadable members to a principal`, async () => {
        await expectAlike(s, open, probe, stranger());
      });
    }

    it('Masking, rule 4.3: a readable resource in an unreadable container does not reveal its parent', async () => {
      for (const sender of ['anonymous', s.stranger] as const) {
        expect((await s.send('GET', `${closed}shown`, {}, undefined, sender)).status).to.equal(200);
        const status = sender === 'anonymous' ? 401 : 404;
        expect((await s.send('GET', closed, {}, undefined, sender)).status).to.equal(status);
      }
    });

    for (const [title, probe] of Object.entries(creations))
      it(`${title}, unreadable or nonexistent, is 403 for a reader of the parent without append (rule 4.4)`, async () => {
        for (const name of [...Object.keys(kinds), 'absents', 'absent/']) {
          if (title === 'PUT of links') continue;
          const answer = await send(s, probe, open + name, s.stranger);
          // Invalid container requests are rejected before authentication.
          if (name.endsWith('/') && [400, 409].includes(answer.status)) continue;
          expect(answer.status, name).to.equal(403);
        }
      });

    it('anonymous readers of the parent get 401 for unreadable, 404 for nonexistent names (rule 4.1)', async () => {
      for (const method of ['GET', 'HEAD', 'DELETE', 'PATCH', 'OPTIONS'])
        for (const name of Object.keys(kinds)) {
          const at = async (path: string) => (await s.send(method, open + path, {}, undefined, 'anonymous')).status;
          expect([await at(name), await at(absentOf(name))], `${method} ${name}`).to.deep.equal([401, 404]);
        }
    });

    it('Masking: errors do not reveal members to callers with append but without read', async () => {
      const c = await s.container();
      await setAcl(s, c, rule('Append', agent(alice)));
      await s.stored('text/turtle', '<> a <#C> .', `${c}taken`);
      for (const headers of [{}, { 'If-Match': '*' }, { 'If-Match': '"x"' }, { 'If-None-Match': '*' }]) {
        const answer = await s.send(
          'PUT',
          `${c}taken`,
          { 'Content-Type': 'text/plain', ...headers },
          'x',
          as(s, alice),
        );
        expect(answer.status, JSON.stringify(headers)).to.equal(404);
      }
      expect((await s.get(`${c}taken`)).text).to.include('#C');
    });

    it('answers a PATCH that creates nothing the same for unreadable and nonexistent names, also to callers with append (rule 4.2)', async () => {
      const patches = [
        ['application/sparql-update', 'DELETE DATA { <a> <b> <c> }'],
        ['application/sparql-update', 'INSERT { <a> <b> ?c } WHERE { ?a ?b ?c }'],
        ['application/json-patch+json', '[]'],
        ['text/plain', 'x'],
      ] as const;
      for (const modes of ['Append', 'Read Append']) {
        const c = await s.container();
        await setAcl(s, c, rule(modes, agent(alice), 'accessTo'));
        await s.stored('text/turtle', '<> a <#C> .', `${c}hidden`);
        for (const [type, body] of patches) {
          const ask = async (name: string) =>
            visible(await s.send('PATCH', c + name, { 'Content-Type': type }, body, as(s, alice)), name);
          const hidden = (await ask('hidden')) as { readonly status: number };
          expect(hidden.status).to.equal(404);
          expect(hidden, body).to.deep.equal(await ask('absent'));
        }
      }
    });

    it('PUT on an unreadable name is 404 for callers with read and append on the container, like other methods (rule 4.4)', async () => {
      const c = await s.container();
      await setAcl(s, c, rule('Read Append', agent(alice), 'accessTo'));
      await s.stored('text/plain', 'x', `${c}hidden`);
      for (const method of ['GET', 'PUT', 'PATCH', 'DELETE'])
        for (const headers of [{}, { 'If-Match': '*' }, { 'If-None-Match': '*' }]) {
          const fields = { 'Content-Type': 'text/plain', ...headers };
          const answer = await s.send(method, `${c}hidden`, fields, method === 'GET' ? undefined : 'y', as(s, alice));
          expectProblem(answer, 404, s);
          expect(JSON.parse(answer.text).title).to.equal('Not found');
        }
      expect((await s.send('PUT', `${c}absent`, {}, 'y', as(s, alice))).status).to.equal(201);
    });

    it('Masking, rule 2.1: no method succeeds on an unreadable resource or changes it', async () => {
      for (const container of [closed, open]) {
        const names = [...Object.keys(kinds), 'shown'];
        expect(await s.members(container)).to.have.members(names.map((name) => container + name));
        expect((await s.get(`${container}hidJSON`)).text).to.equal('{"a":1}');
        expect(await s.members(`${container}hidAll/`)).to.have.length(2);
      }
    });
  },
  inWac(),
);

describeStorage(
  'Masking with WAC, disabled',
  (s) => {
    for (const [title, probe] of Object.entries({ ...probes, ...creations }))
      it(`with lws.mask-forbidden-as-not-found=false, ${title} of an unreadable resource is 403 to a principal, 401 to anonymous callers (rule 4.2)`, async () => {
        if (['POST', 'QUERY', 'PROPFIND'].includes(title)) return;
        const { iri } = await s.stored('text/turtle', '<> a <#C> .');
        for (const end of title === 'PUT of links' ? ['.meta'] : ['', '.acl']) {
          expect((await send(s, probe, iri + end, s.stranger)).status, end).to.equal(403);
          expect((await send(s, probe, iri + end, 'anonymous')).status, end).to.equal(401);
        }
      });

    it('a nonexistent resource is still 404 (rule 4.1)', async () => {
      for (const end of ['', '.meta', '.acl'])
        expect((await s.send('GET', s.fresh() + end, {}, undefined, s.stranger)).status, end).to.equal(404);
    });
  },
  inWac({ 'mask-forbidden-as-not-found': 'false' }),
);
