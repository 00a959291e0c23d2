/** Rule 21.3: owners and settings of a configuration record are enforced, or the record is rejected. */
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'chai';
import { type Pod, type SpecDeployment, startDeployment } from '../support/deployments.js';
import type { Answer } from '../support/http.js';
import { ed25519Identity } from '../support/identity.js';

const [turtle, json] = [{ 'Content-Type': 'text/turtle' }, { 'Content-Type': 'application/json' }];
const prefixes = '@prefix acl: <http://www.w3.org/ns/auth/acl#> . @prefix foaf: <http://xmlns.com/foaf/0.1/> .\n';
const rule = (name: string, whom: string, modes: string): string =>
  `<#${name}> a acl:Authorization ; ${whom} ; acl:accessTo <> ; acl:default <> ; acl:mode ${modes} .\n`;
const all = 'acl:Read, acl:Write, acl:Control';

describe('Configuration records of storages (rule 21.3)', function () {
  this.timeout(60_000);
  let deployment: SpecDeployment;
  before(async () => {
    deployment = await startDeployment('path');
  });
  after(() => deployment?.stop());

  const patch = (name: string, body: unknown): Promise<Answer> =>
    deployment.home.ask('PATCH', `.lws/storages/${name}`, { ...json, 'If-Match': '*' }, JSON.stringify(body));
  const statusOf = async (pod: Pod, path: string, who = pod.owner): Promise<number> =>
    (await pod.ask('GET', path, {}, undefined, pod.token(who))).status;

  for (const how of ['PATCH', 'a command'] as const)
    it(`${how} that changes the owners replaces the controllers in the root ACL, once`, async () => {
      const name = how === 'PATCH' ? 'one' : 'two';
      const pod = await deployment.add(name, { 'lws.access-control': 'wac' });
      const [friend, reader, next] = [ed25519Identity(), ed25519Identity(), ed25519Identity()];
      const acl = [
        rule('owners', `acl:agent <${pod.owner.did}>`, all),
        rule('friend', `acl:agent <${friend.did}>`, all),
        rule('reader', `acl:agent <${reader.did}>`, 'acl:Read'),
      ];
      const put = (text: readonly string[], who = pod.owner): Promise<Answer> =>
        pod.ask('PUT', '.acl', { ...turtle, 'If-Match': '*' }, prefixes + text.join(''), pod.token(who));
      expect((await pod.put('x', '<a:b> <a:c> <a:d> .')).status).to.equal(201);
      expect((await put(acl)).status).to.equal(204);
      if (how === 'PATCH') expect((await patch(name, { owners: [next.did] })).status).to.equal(200);
      else await deployment.change(name, { owners: [next.did] });
      while ((await statusOf(pod, '.acl', next)) !== 200) await new Promise((resolve) => setImmediate(resolve));
      expect(await statusOf(pod, 'x', next)).to.equal(200);
      for (const who of [pod.owner, friend])
        for (const path of ['x', '.acl']) expect(await statusOf(pod, path, who)).to.be.oneOf([403, 404]);
      expect(await statusOf(pod, 'x', reader)).to.equal(200);
      // Later decisions of the new owner survive when the storage is opened again.
      const own = rule('me', `acl:agent <${next.did}>`, all);
      expect((await put([own, rule('old', `acl:agent <${pod.owner.did}>`, all)], next)).status).to.equal(204);
      await patch(name, { settings: { 'lws.container.page-size': 7 } });
      expect(await statusOf(pod, '.acl')).to.equal(200);
      await deployment.restart();
      expect(await statusOf(pod, '.acl')).to.equal(200);
    });

  it('the same owners in another order change no ACL', async () => {
    const pod = await deployment.add('three', { 'lws.access-control': 'wac' });
    const other = ed25519Identity();
    await patch('three', { owners: [pod.owner.did, other.did] });
    const before = await pod.ask('GET', '.acl');
    expect((await patch('three', { owners: [other.did, pod.owner.did] })).status).to.equal(200);
    expect((await pod.ask('GET', '.acl')).headers['etag']).to.equal(before.headers['etag']);
  });

  it('a file without a certificate is rejected in a record and in an invitation', async () => {
    const file = join(deployment.dataDir, 'no-certificate.pem');
    writeFileSync(file, 'this is none');
    const settings = { 'lws.saml.idp-certificates': [file] };
    const pod = await deployment.add('four');
    const post = (path: string, body: unknown): Promise<Answer> =>
      deployment.home.ask('POST', path, json, JSON.stringify(body));
    for (const answer of [
      await patch('four', { settings }),
      await post('.lws/storages', { name: 'five', settings }),
      await post('.lws/storages/invitations', { settings }),
    ]) {
      expect(answer.status, answer.text).to.equal(400);
      expect(answer.text).to.include('lws.saml.idp-certificates').and.to.include('contains no X.509 certificate');
    }
    expect((await pod.ask('GET', '')).status).to.equal(200);
    expect((await deployment.home.ask('GET', '.lws/storages/five')).status).to.equal(404);
  });
});
