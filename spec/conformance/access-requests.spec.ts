/** Rule 17.3: read and delete access to requests and grants, and the setting that disables both. */
import { expect } from 'chai';
import { describeStorage, type StorageUnderTest } from '../support/conformance.js';
import { expectChallenge, expectProblem } from '../support/expectations.js';
import {
  constraint,
  documentOf,
  file,
  grant,
  grantsOf,
  listed,
  policy,
  postDocument,
  publicAgentIri,
  requestsOf,
  revoke,
} from '../support/grants.js';
import { visible } from '../support/masking.js';
import { TrustedIssuer } from '../support/oauth.js';
import { remote } from '../support/remote.js';
import { aclOf, agent, alice, as, bob, inWac, owner, ownerRule, rule, setBareAcl } from '../support/wac.js';

const issuer = new TrustedIssuer();
const trusting = { ...remote.settings, 'oauth.trusted-issuers': issuer.issuer };
const [firstClient, secondClient] = ['https://one.example/app', 'https://two.example/app'];

/** User with her own client. */
const through = (s: StorageUnderTest, subject: string, client_id: string) => ({
  token: issuer.token(s.root, subject, { client_id }),
});

function views(s: StorageUnderTest): void {
  const see = async (iri: string, who: Parameters<typeof s.send>[4]) =>
    (await s.send('GET', iri, {}, undefined, who)).status;

  it('AccessRequest, rule 17.3: only its creator and controllers read and list it', async () => {
    const mine = await file(s, policy(bob, 'read', s.scratch), as(s, alice));
    const owners = await file(s, policy(alice, 'read', s.scratch));
    expect(await see(mine, as(s, alice))).to.equal(200);
    expect(await see(mine, undefined)).to.equal(200);
    for (const who of [as(s, bob), s.stranger]) {
      expect(await see(mine, who)).to.equal(404);
      expect(await listed(s, requestsOf(s), who)).to.deep.equal([]);
    }
    expect(await listed(s, requestsOf(s), as(s, alice)))
      .to.include(mine)
      .and.not.include(owners);
    expect(await listed(s, requestsOf(s))).to.include.members([mine, owners]);
    expect(await see(owners, as(s, alice)), 'one that asks for her').to.equal(404);
  });

  it('AccessRequest, rule 17.3: its creator and controllers delete it; other callers get 404', async () => {
    for (const who of [as(s, alice), undefined]) {
      const made = await file(s, policy(alice, 'read', s.scratch), as(s, alice));
      for (const other of [as(s, bob), s.stranger])
        expectProblem(await s.send('DELETE', made, {}, undefined, other), 404, s);
      expectChallenge(await s.send('DELETE', made, {}, undefined, 'anonymous'), s);
      await revoke(s, made, who);
    }
  });

  it('AccessRequest, rule 17.4: a request grants no access', async () => {
    await file(s, policy(alice, ['read', 'modify', 'create', 'delete'], s.scratch), as(s, alice));
    await file(s, policy(alice, 'read', s.scratch));
    expect(await see(s.scratch, as(s, alice))).to.equal(404);
  });

  it('AccessGrant, rule 17.3: only controllers and assignees read and list it', async () => {
    const made = await grant(s, [policy(alice, 'read', s.scratch), policy(bob, 'read', s.scratch)]);
    const others = await grant(s, policy(bob, 'read', s.scratch));
    for (const who of [undefined, as(s, alice), as(s, bob)]) {
      expect(await see(made, who)).to.equal(200);
      expect(await listed(s, grantsOf(s), who)).to.include(made);
    }
    expect(await see(others, as(s, alice))).to.equal(404);
    expect(await listed(s, grantsOf(s), as(s, alice))).not.to.include(others);
    expect(await see(made, s.stranger)).to.equal(404);
    expect(await listed(s, grantsOf(s), s.stranger)).to.deep.equal([]);
    for (const iri of [made, others]) await revoke(s, iri);
  });

  it('AccessGrant, rule 17.4: every principal can read a public grant', async () => {
    const container = await s.container();
    const made = await grant(s, policy(publicAgentIri, 'read', container));
    expect(await see(made, s.stranger)).to.equal(200);
    expectChallenge(await s.send('GET', made, {}, undefined, 'anonymous'), s);
    await revoke(s, made);
  });

  it('AccessGrant, rule 17.3: controllers delete it; its assignee gets 403, other callers 404', async () => {
    const made = await grant(s, policy(alice, 'read', s.scratch));
    expectProblem(await s.send('DELETE', made, {}, undefined, as(s, alice)), 403, s);
    expectProblem(await s.send('DELETE', made, {}, undefined, as(s, bob)), 404, s);
    expectChallenge(await s.send('DELETE', made, {}, undefined, 'anonymous'), s);
    expect(await see(s.scratch, as(s, alice))).to.equal(200);
    await revoke(s, made);
    expect(await see(s.scratch, as(s, alice))).to.equal(404);
  });

  it('AccessGrant, rule 17.3: a grant bound to a client is not readable with other clients of its assignee', async () => {
    const made = await grant(
      s,
      policy(alice.did, 'read', s.scratch, 'StorageResource', constraint('client', 'eq', firstClient)),
    );
    const [first, second] = [through(s, alice.did, firstClient), through(s, alice.did, secondClient)];
    expect(await see(made, first)).to.equal(200);
    expect(await listed(s, grantsOf(s), first)).to.include(made);
    for (const who of [second, as(s, alice)]) {
      expect(await see(made, who)).to.equal(404);
      expect(await listed(s, grantsOf(s), who)).not.to.include(made);
      expectProblem(await s.send('DELETE', made, {}, undefined, who), 404, s);
    }
    await revoke(s, made);
  });

  it('an unreadable request or grant gets the response of a nonexistent one (rules 4.3, 17.3)', async () => {
    const hidden = [await file(s, policy(bob, 'read', s.scratch)), await grant(s, policy(bob, 'read', s.scratch))];
    for (const iri of hidden) {
      const absent = iri.replace(/[^/]{6}$/, 'absent');
      for (const method of ['GET', 'HEAD', 'DELETE', 'OPTIONS', 'PUT', 'PATCH', 'POST', 'PROPFIND'])
        for (const who of [s.stranger, 'anonymous'] as const)
          for (const end of ['', '.meta', '.acl', '/', '?page=2']) {
            const answer = visible(await s.send(method, iri + end, {}, undefined, who), iri);
            const wanted = visible(await s.send(method, absent + end, {}, undefined, who), absent);
            expect(answer, `${method} ${iri}${end}`).to.deep.equal(wanted);
          }
    }
    await revoke(s, hidden[1]!);
  });

  it('read access to the whole storage does not include requests and grants (rule 17.3)', async () => {
    const made = await file(s, policy(bob, 'read', s.scratch));
    const whole = await grant(s, policy(alice, ['read', 'modify', 'create', 'delete'], s.root));
    for (const iri of [made, requestsOf(s)]) {
      const { status, text } = await s.send('GET', iri, {}, undefined, as(s, alice));
      expect(status === 404 || !text.includes(made), `${iri}: ${status}`).to.equal(true);
      expect((await s.send('DELETE', iri, {}, undefined, as(s, alice))).status).to.be.oneOf([404, 405]);
    }
    const access = [policy(alice, 'read', s.root)];
    expectProblem(await postDocument(s, grantsOf(s), documentOf(s, 'AccessGrant', access), as(s, alice)), 403, s);
    await revoke(s, whole);
  });
}

describeStorage('Access requests and grants, views', views, { settings: { owners: owner.did, ...trusting }, owner });

describeStorage(
  'Access requests and grants, views with WAC',
  (s) => {
    views(s);

    it('AccessGrant, rule 17.3: only callers with control on the root are controllers', async () => {
      const grants = (who: typeof alice) =>
        postDocument(s, grantsOf(s), documentOf(s, 'AccessGrant', [policy(bob, 'read', s.scratch)]), as(s, who));
      expectProblem(await grants(alice), 403, s);
      await setBareAcl(s, s.root, [ownerRule, rule('Control', agent(alice), 'default')]);
      expectProblem(await grants(alice), 403, s);
      expect((await s.send('GET', aclOf(s.scratch), {}, undefined, as(s, alice))).status).to.equal(404);
      await setBareAcl(s, s.root, [ownerRule, rule('Control', agent(alice), 'accessTo')]);
      const made = await grants(alice);
      expect(made.status).to.equal(201);
      const iri = new URL(made.headers['location']!, s.root).href;
      await setBareAcl(s, s.root, [ownerRule]);
      expectProblem(await grants(alice), 403, s);
      await revoke(s, iri, as(s, alice));
    });
  },
  inWac(trusting),
);

describeStorage(
  'Access requests and grants, open mode',
  (s) => {
    it('in open mode no caller has control, so a grant is 403 or 401 (rule 2.10)', async () => {
      const document = documentOf(s, 'AccessGrant', [policy(alice, 'read', s.scratch)]);
      expectProblem(await postDocument(s, grantsOf(s), document, s.stranger), 403, s);
      expectChallenge(await postDocument(s, grantsOf(s), document, 'anonymous'), s);
      await file(s, policy(alice, 'read', s.scratch), s.stranger);
    });
  },
  { settings: { 'dev.open': 'true' } },
);

describeStorage(
  'Access requests and grants, disabled',
  (s) => {
    it('with lws.access-requests.enabled=false they are neither enforced, nor routed, nor advertised (rule 12.5)', async () => {
      const { iri } = await s.stored('text/plain', 'x');
      const [made, asked] = [await grant(s, policy(alice, 'read', iri)), await file(s, policy(alice, 'read', iri))];
      expect((await s.send('GET', iri, {}, undefined, as(s, alice))).status).to.equal(200);
      await s.restart({ settings: { owners: owner.did, 'access-requests.enabled': 'false' }, owner });
      expect((await s.send('GET', iri, {}, undefined, as(s, alice))).status).to.equal(404);
      for (const at of [made, asked, grantsOf(s), requestsOf(s)]) {
        for (const method of ['GET', 'DELETE', 'OPTIONS']) expect((await s.send(method, at)).status, at).to.equal(404);
        expect((await s.post(at, 'application/lws+json', '{}')).status, at).to.be.oneOf([404, 409]);
      }
      const description = (await s.get(s.root)).text;
      for (const word of ['AccessRequestService', 'AccessGrantService', 'access-grants', 'AccessProfile'])
        expect(description).not.to.include(word);
      await s.restart({ settings: { owners: owner.did }, owner });
      expect((await s.get(s.root)).text)
        .to.include('AccessRequestService')
        .and.include('AccessGrantService');
      expect((await s.send('GET', iri, {}, undefined, as(s, alice))).status).to.equal(200);
    });
  },
  { settings: { owners: owner.did }, owner },
);
