/** Self-service storages and their initial content (rules 21.6 to 21.8): invitations, sign-up by an OpenID issuer, templates. */

import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect } from 'chai';
import { Pod, type SpecDeployment, startDeployment } from '../../support/deployments.js';
import type { Answer } from '../../support/http.js';
import { ed25519Identity, type Identity } from '../../support/identity.js';
import type { Json } from '../../support/jwt.js';
import { remote } from '../../support/remote.js';
import { Provider, type Subject, webSubject } from '../../support/subjects.js';
import { until } from '../../support/until.js';

const json = { 'Content-Type': 'application/json' };
const wac = '@prefix acl: <http://www.w3.org/ns/auth/acl#> . @prefix foaf: <http://xmlns.com/foaf/0.1/> .\n';
const client = 'https://pods.example/client';

describe('Self-service storages', function () {
  this.timeout(60_000);
  const provider = new Provider();
  const templates = mkdtempSync(join(tmpdir(), 'quadpod-templates-'));
  let deployment: SpecDeployment;
  let home: Pod;

  before(async () => {
    const files: Readonly<Record<string, string>> = {
      'lab/profile.ttl': '<#me> <http://schema.org/name> "{{name}}" ; <http://schema.org/owns> <{{storage}}> .',
      'lab/notes/readme.txt': 'As it is: {{name}}.',
      'lab/broken.ttl': 'This is no Turtle.',
      'open/.acl': `${wac}<#o> a acl:Authorization ; acl:agent <{{owner}}> ; acl:mode acl:Read, acl:Write, acl:Control ; acl:accessTo <./> ; acl:default <./> .`,
      'open/public/.acl': `${wac}<#o> a acl:Authorization ; acl:agent <{{owner}}> ; acl:mode acl:Read, acl:Write, acl:Control ; acl:accessTo <./> ; acl:default <./> .
        <#p> a acl:Authorization ; acl:agentClass foaf:Agent ; acl:mode acl:Read ; acl:accessTo <./> ; acl:default <./> .`,
      'open/public/hello.ttl': '<> <http://schema.org/text> "Hello" .',
    };
    for (const [path, text] of Object.entries(files)) {
      mkdirSync(join(templates, path, '..'), { recursive: true });
      writeFileSync(join(templates, path), text);
    }
    deployment = await startDeployment('host', {
      ...remote.settings,
      'storages.sign-up': provider.issuer,
      'storages.templates': templates,
      audience: client,
    });
    ({ home } = deployment);
  });
  after(async () => {
    await deployment.stop();
    rmSync(templates, { recursive: true });
  });

  const post = (body: unknown, token: string | null = home.token()): Promise<Answer> =>
    home.ask('POST', '.lws/storages', json, JSON.stringify(body), token);
  const invite = async (body: unknown = {}): Promise<string> => {
    const answer = await home.ask('POST', '.lws/storages/invitations', json, JSON.stringify(body));
    expect(answer.status, answer.text).to.equal(201);
    return (JSON.parse(answer.text) as { invitation: string }).invitation;
  };
  const refusalOf = (...options: Parameters<typeof startDeployment>): Promise<unknown> =>
    startDeployment(...options).then(
      (other) => other.stop(),
      (error: Error) => error.message,
    );
  const podOf = (name: string): Pod => new Pod(home.root.replace('//', `//${name}.`), deployment.port);
  const detailOf = ({ text }: Answer): string => (JSON.parse(text) as { detail: string }).detail;

  describe('by an invitation', () => {
    let guest: Identity;
    beforeEach(() => {
      guest = ed25519Identity();
    });

    it('creates one storage for its holder, with the settings of the operator (rule 21.6)', async () => {
      const answer = await home.ask(
        'POST',
        '.lws/storages/invitations',
        json,
        JSON.stringify({ settings: { 'lws.quota.max-bytes': 20_000 }, days: 2 }),
      );
      const { invitation, url, expires } = JSON.parse(answer.text) as Record<string, string>;
      expect(url).to.equal(`${home.root}app#/storages?invitation=${invitation}`);
      expect(Date.parse(expires!) - Date.now()).to.be.within(1.9 * 86_400_000, 2 * 86_400_000);
      const made = await post({ name: 'gina', invitation }, home.token(guest));
      expect(made.status, made.text).to.equal(201);
      const record = JSON.parse(made.text) as Json;
      expect(record).to.deep.include({
        name: 'gina',
        owners: [guest.did],
        settings: { 'lws.quota.max-bytes': 20_000 },
      });
      expect(record).not.to.have.property('invitation');
      const gina = podOf('gina');
      const put = (to: string, body: string): Promise<Answer> =>
        gina.ask('PUT', to, { 'Content-Type': 'text/plain' }, body, gina.token(guest));
      expect((await put('x', 'Hello')).status).to.equal(201);
      expect((await put('y', 'x'.repeat(30_000))).status).to.equal(507);
    });

    it('is valid for one storage, also if used twice concurrently', async () => {
      const invitation = await invite();
      const both = await Promise.all(['hans', 'hugo'].map((name) => post({ name, invitation }, home.token(guest))));
      expect(both.map(({ status }) => status).sort()).to.deep.equal([201, 403]);
      const again = await post({ name: 'hilde', invitation }, home.token(ed25519Identity()));
      expect([again.status, detailOf(again)]).to.deep.equal([
        403,
        'The invitation was already used; it is valid for one storage. Ask for a new one.',
      ]);
    });

    it('is not spent by a taken or invalid name', async () => {
      const invitation = await invite();
      await deployment.add('ida');
      expect((await post({ name: 'ida', invitation }, home.token(guest))).status).to.equal(409);
      expect((await post({ name: 'I da', invitation }, home.token(guest))).status).to.equal(409);
      expect((await post({ invitation }, home.token(guest))).status).to.equal(400);
      expect((await post({ name: 'ina', invitation }, home.token(guest))).status).to.equal(201);
    });

    it('is refused if it is expired or of another server, with a sentence', async () => {
      const late = await invite({ days: 0.000001 });
      await new Promise((resolve) => setTimeout(resolve, 1100));
      const answer = await post({ name: 'jan', invitation: late }, home.token(guest));
      expect([answer.status, detailOf(answer)]).to.deep.equal([403, 'The invitation has expired. Ask for a new one.']);
      const [head, body, signature = ''] = (await invite()).split('.');
      const turned = `${head}.${body}.${signature[0] === 'A' ? 'B' : 'A'}${signature.slice(1)}`;
      for (const invitation of [turned, 'x', '', home.token(guest)]) {
        const { status } = await post({ name: 'jan', invitation }, home.token(guest));
        expect(status, invitation).to.equal(403);
      }
      expect((await podOf('jan').ask('GET', '', {}, undefined, null)).status).to.equal(404);
    });

    it('grants only the settings of the operator', async () => {
      const invitation = await invite();
      for (const more of [{ settings: {} }, { owners: [home.owner.did] }, { template: 'lab' }, { state: 'ready' }])
        expect((await post({ name: 'kai', invitation, ...more }, home.token(guest))).status).to.equal(403);
      expect((await post({ name: 'kai', invitation }, null)).status).to.equal(401);
      const others = await home.ask('POST', '.lws/storages/invitations', json, '{}', home.token(guest));
      expect(others.status).to.be.oneOf([403, 404]);
    });

    for (const [what, body] of [
      ['an invalid number of days', { days: 0 }],
      ['more days than the maximum', { days: 31 }],
      ['an unknown template', { template: 'none' }],
      ['owners', { owners: [] }],
      ['invalid settings', { settings: 5 }],
      ['a setting of the operator', { settings: { 'lws.storages.max': 1 } }],
      ['an invalid value', { settings: { 'lws.quota.max-bytes': 'much' } }],
      ['an unknown setting', { settings: { 'lws.none': 1 } }],
    ] as const)
      it(`is not created with ${what}`, async () => {
        const answer = await home.ask('POST', '.lws/storages/invitations', json, JSON.stringify(body));
        expect(answer.status, answer.text).to.equal(400);
      });
  });

  describe('signed in at an issuer of lws.storages.sign-up (rule 21.7)', () => {
    const subjectOf = (by = provider): Subject => {
      const subject = webSubject();
      return subject.publish(by.document(subject.iri));
    };
    const tokenOf = (subject: Subject, by = provider): string => by.token(subject.iri, client, { azp: client });

    it('an ID token creates a storage, and one for each subject', async () => {
      const subject = subjectOf();
      const token = tokenOf(subject);
      const made = await post({ name: 'lea', id_token: token }, token);
      expect(made.status, made.text).to.equal(201);
      expect((JSON.parse(made.text) as Json)['owners']).to.deep.equal([subject.iri]);
      const lea = podOf('lea');
      expect((await lea.ask('GET', '', {}, undefined, token)).status).to.equal(200);
      const more = await post({ name: 'lena', id_token: token }, token);
      expect([more.status, detailOf(more)]).to.deep.equal([
        403,
        'You already have lea. More than 1 require an invitation.',
      ]);
    });

    it('refuses all else: no token, a token of another subject or issuer, or a self-signed credential', async () => {
      const [subject, other, own] = [subjectOf(), new Provider(), webSubject().publish()];
      const token = tokenOf(subject);
      const stranger = subjectOf(other);
      const tries: readonly (readonly [string | undefined, string])[] = [
        [undefined, token],
        [tokenOf(subjectOf()), token],
        [tokenOf(stranger, other), tokenOf(stranger, other)],
        [own.credential(home.base), own.credential(home.base)],
      ];
      for (const [idToken, caller] of tries) {
        const answer = await post({ name: 'mia', ...(idToken ? { id_token: idToken } : {}) }, caller);
        expect(answer.status, answer.text).to.equal(403);
        expect(detailOf(answer)).to.contain(`sign-in at ${remote.authority}`);
      }
    });

    it('is refused if all storages share one origin', async () => {
      expect(await refusalOf('path', { 'storages.sign-up': provider.issuer })).to.contain(
        'requires a subdomain for each storage',
      );
    });

    it('limits the attempts per client address and minute', async () => {
      const statuses: number[] = [];
      for (let tries = 0; tries < 35; tries++)
        statuses.push((await post({ name: 'nele' }, home.token(ed25519Identity()))).status);
      expect(statuses.at(-1)).to.equal(429);
    });
  });

  describe('from a template (rule 21.8)', () => {
    it('starts with its files, with placeholders replaced in Turtle only', async () => {
      const paul = podOf('paul');
      const made = await post({ name: 'paul', owners: [paul.owner.did], template: 'lab' });
      expect(made.status, made.text).to.equal(201);
      const profile = await paul.ask('GET', 'profile.ttl', { Accept: 'text/turtle' });
      expect(profile.text)
        .to.contain('"paul"')
        .and.to.match(new RegExp(`<(?:${paul.root}|\\./|)>`));
      expect((await paul.ask('GET', 'notes/readme.txt')).text).to.equal('As it is: {{name}}.');
      expect((await paul.ask('GET', 'broken.ttl')).status).to.equal(404);
      const told = deployment.log.find(({ msg }) => msg === 'parts of a template were skipped');
      expect(told).to.include({ storage: 'paul' });
      expect(JSON.stringify(told)).to.contain('broken.ttl');
      expect(JSON.parse((await paul.ask('GET', '.lws/imports')).text)).to.deep.include({ imports: [] });
      const listing = JSON.parse((await home.ask('GET', '.lws/storages')).text) as Json;
      expect(listing['templates']).to.have.members(['lab', 'open']);
    });

    it('imports its access control lists', async () => {
      const rosa = podOf('rosa');
      const settings = { 'lws.access-control': 'wac' };
      const made = await post({ name: 'rosa', owners: [rosa.owner.did], template: 'open', settings });
      expect(made.status, made.text).to.equal(201);
      expect((await rosa.ask('GET', 'public/hello.ttl', {}, undefined, null)).text).to.contain('Hello');
      expect((await rosa.put('x', '<a:b> <a:c> <a:d> .')).status).to.equal(201);
      expect((await rosa.ask('GET', 'x', {}, undefined, null)).status).to.equal(401);
      expect((await rosa.ask('GET', '.acl', { Accept: 'text/turtle' })).text)
        .to.contain(rosa.owner.did)
        .and.to.contain('#o');
    });

    it('is imported once: deleted resources stay deleted, and a later storage of the name starts empty', async () => {
      const sven = podOf('sven');
      await post({ name: 'sven', owners: [sven.owner.did], template: 'lab' });
      expect((await sven.ask('DELETE', 'profile.ttl')).status).to.equal(204);
      await deployment.restart();
      expect((await sven.ask('GET', 'profile.ttl')).status).to.equal(404);
      await deployment.change('sven', { state: 'deleted', isForGood: true });
      await until(async () => (await home.ask('GET', '.lws/storages/sven')).status === 404);
      await post({ name: 'sven', owners: [sven.owner.did] });
      expect((await sven.ask('GET', 'notes/readme.txt')).status).to.equal(404);
    });

    it('must fit into the quota', async () => {
      const settings = { 'lws.quota.max-bytes': 60 };
      const answer = await post({ name: 'tim', owners: [home.owner.did], template: 'lab', settings });
      expect([answer.status, detailOf(answer)]).to.deep.equal([
        507,
        'The template has more than the 60 bytes of lws.quota.max-bytes.',
      ]);
      expect((await home.ask('GET', '.lws/storages/tim')).status).to.equal(404);
    });

    it('requires the transfer component', async () => {
      expect(await refusalOf('host', { 'storages.templates': templates, 'transfer.enabled': 'false' })).to.match(
        /^lws\.storages\.templates requires lws\.transfer\.enabled/,
      );
    });

    it('requires an existing template, and an owner if it names one', async () => {
      expect((await post({ name: 'tom', template: 'none' })).status).to.equal(400);
      expect((await post({ name: 'tom', template: '../lab' })).status).to.equal(400);
      expect((await post({ name: 'tom', owners: [], template: 'open' })).status).to.equal(400);
      expect((await home.ask('GET', '.lws/storages/tom')).status).to.equal(404);
    });
  });
});
