/** Rules 2.1, 3.3, 17.3: revoked access ends immediately, between two requests and during an upload. */
import { expect } from 'chai';
import { describeStorage, type StorageUnderTest } from '../support/conformance.js';
import { grant, policy, revoke } from '../support/grants.js';
import { beginRequest, PersistentConnection } from '../support/persistent-connection.js';
import { aclOf, agent, alice, as, bob, inWac, ownerRule, rule, setAcl, setBareAcl } from '../support/wac.js';

const hasMember = '<http://www.w3.org/2006/vcard/ns#hasMember>';
const turtle = 'text/turtle';

/** Ways to give Alice full access to a container, each with its revocation. */
const ways: Readonly<Record<string, (s: StorageUnderTest, container: string) => Promise<() => Promise<unknown>>>> = {
  'an ACL': async (s, container) => {
    await setAcl(s, container, rule('Read Write', agent(alice)));
    return () => setAcl(s, container, rule('Read', agent(bob)));
  },
  'an ACL that is deleted': async (s, container) => {
    await setAcl(s, container, rule('Read Write', agent(alice)));
    return () => s.delete(aclOf(container));
  },
  'an inherited ACL, above which a nearer one is written': async (s, container) => {
    await setAcl(s, container, rule('Read Write', agent(alice)));
    return () => setAcl(s, `${container}d/`);
  },
  'a local group': async (s, container) => {
    const { iri } = await s.stored(turtle, `<#us> ${hasMember} <${alice.did}> .`);
    await setAcl(s, container, rule('Read Write', `acl:agentGroup <${iri}#us>`));
    return () => s.put(iri, turtle, '', { 'If-Match': '*' });
  },
  'a grant': async (s, container) => {
    const made = await grant(s, policy(alice, ['read', 'create', 'modify', 'delete'], container));
    return () => revoke(s, made);
  },
  'a grant whose issuer loses control': async (s, container) => {
    await setBareAcl(s, s.root, [ownerRule, rule('Control', agent(bob))]);
    await grant(s, policy(alice, ['read', 'create', 'modify', 'delete'], container), as(s, bob));
    return () => setBareAcl(s, s.root, [ownerRule]);
  },
  'a grant that ends': async (s, container) => {
    const end = { leftOperand: 'dateTime', operator: 'lt', rightOperand: new Date(Date.now() + 700).toISOString() };
    await grant(s, policy(alice, ['read', 'create', 'modify', 'delete'], container, 'StorageResource', end));
    return () => new Promise((resolve) => setTimeout(resolve, 700));
  },
};

describeStorage(
  'Revocation',
  (s) => {
    const credentials = (): Record<string, string> => ({
      Authorization: `Bearer ${(as(s, alice) as { token: string }).token}`,
    });
    const make = async (): Promise<string> => {
      const container = await s.container();
      await s.container(`${container}d/`);
      await s.stored(turtle, '<> a <#C> .', `${container}d/x`);
      await s.stored('application/json', '{}', `${container}d/j`);
      return container;
    };

    for (const [title, allow] of Object.entries(ways)) {
      it(`Revocation: of ${title}, between two requests on one connection`, async () => {
        const container = await make();
        const end = await allow(s, container);
        const connection = new PersistentConnection();
        const see = async () => [
          await connection.status('GET', `${container}d/x`, credentials()),
          await connection.status('HEAD', `${container}d/`, credentials()),
          await connection.status('OPTIONS', `${container}d/x.meta`, credentials()),
        ];
        expect(await see()).to.deep.equal([200, 200, 204]);
        await end();
        expect(await see()).to.deep.equal([404, 404, 404]);
        expect(connection.ports.size).to.equal(1);
        connection.close();
      });

      it(`Authorization is evaluated again inside the transaction, rule 2.6: revocation of ${title} during an upload`, async () => {
        const container = await make();
        const end = await allow(s, container);
        const begin = (method: string, path: string, type: string, first: string, more = {}) =>
          beginRequest(method, container + path, { ...credentials(), 'Content-Type': type, ...more }, first);
        const requests = await Promise.all([
          begin('PUT', 'd/x', turtle, '<> a ', { 'If-Match': '*' }),
          begin('PUT', 'd/new', turtle, '<> a '),
          begin('POST', 'd/', turtle, '<> a '),
          begin('PUT', 'd/bytes', 'text/plain', '<> a '),
          begin('PATCH', 'd/x', 'application/sparql-update', 'INSERT DATA { <> a '),
          begin('PATCH', 'd/j', 'application/merge-patch+json', '{"a":'),
          begin('PUT', 'd/x.meta', 'application/linkset+json', '{"linkset":[{"author":', { 'If-Match': '*' }),
        ]);
        await end();
        const rests = ['<#D> .', '<#D> .', '<#D> .', '<#D> .', '<#D> }', '1}', '"A"}]}'];
        const statuses = await Promise.all(requests.map((late, i) => late.finish(rests[i]!)));
        expect(statuses).to.deep.equal(rests.map(() => 404));
        const members = await s.members(`${container}d/`).catch(() => undefined);
        expect(members?.length).to.equal(2);
      });
    }

    it('Revocation: of control of the root, during the upload of a grant', async () => {
      await setBareAcl(s, s.root, [ownerRule, rule('Control', agent(bob))]);
      const document = JSON.stringify({
        '@context': 'https://www.w3.org/ns/lws/v1',
        type: 'AccessGrant',
        storage: s.root,
        access: [policy(alice, 'read', s.root)],
      });
      const Authorization = `Bearer ${(as(s, bob) as { token: string }).token}`;
      const iri = `${s.root}.lws/access-grants`;
      const headers = { Authorization, 'Content-Type': 'application/lws+json' };
      const late = await beginRequest('POST', iri, headers, document.slice(0, 20));
      await setBareAcl(s, s.root, [ownerRule]);
      expect(await late.finish(document.slice(20))).to.equal(403);
      expect((await s.send('GET', s.scratch, {}, undefined, as(s, alice))).status).to.equal(404);
    });

    it('Revocation: of control, during the upload of an ACL', async () => {
      const { iri } = await s.stored(turtle, '');
      await setAcl(s, iri, rule('Read Control', agent(alice)));
      const headers = { ...credentials(), 'Content-Type': turtle, 'If-Match': '*' };
      const late = await beginRequest('PUT', aclOf(iri), headers, '<> a ');
      await setAcl(s, iri, rule('Read', agent(alice)));
      expect(await late.finish('<#C> .')).to.equal(403);
    });

    it('Revocation: an ACL that is deleted and immediately written again applies', async () => {
      // The writes are in flight together, so that one batch may contain both.
      for (let round = 0; round < 10; round++) {
        const container = await s.container();
        await setAcl(s, container, rule('Read', agent(alice)));
        const iri = `${container}x`;
        await s.stored(turtle, '', iri);
        await setAcl(s, iri);
        const text = `@prefix acl: <http://www.w3.org/ns/auth/acl#> . ${ownerRule}`;
        const [deleted, ...written] = await Promise.all([
          s.delete(aclOf(iri)),
          ...[1, 2, 3, 4].map(() => s.put(aclOf(iri), turtle, text, { 'If-None-Match': '*' })),
        ]);
        expect(deleted.status).to.equal(204);
        const isThere = (await s.get(aclOf(iri))).status === 200;
        expect(isThere).to.equal(written.some(({ status }) => status === 201));
        const { status } = await s.send('GET', iri, {}, undefined, as(s, alice));
        expect(status, `round ${round}, the ACL is ${isThere ? '' : 'not '}there`).to.equal(isThere ? 404 : 200);
      }
    });
  },
  inWac(),
);
