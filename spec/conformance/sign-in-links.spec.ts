/** Rule 5.5: a sign-in link is bound to the first key that uses it, also after a restart. */
import { join } from 'node:path';
import { expect } from 'chai';
import { readIdentity, signLinkCredential } from '../../lib/server/storage/owner-credential.js';
import { entryRange } from '../../lib/storage/keys/records.js';
import { openLevel } from '../../lib/storage/level/durable-level.js';
import { signingKey } from '../support/jwt.js';
import { expectOauthError, form, requestToken } from '../support/oauth.js';
import { proof } from '../support/proofs.js';
import { type SpecServer, startSpecServer } from '../support/server.js';

describe('Sign-in links', () => {
  let server: SpecServer;
  before(async () => {
    server = await startSpecServer();
  });
  after(() => server.stop());

  const linkFor = (ttl = 600): Promise<string> =>
    signLinkCredential(readIdentity(server.server.mintedOwner!), server.root.slice(0, -1), ttl);
  const [browser, another] = [signingKey('ES256'), signingKey('ES256')];
  const opened = (link: string, key = browser) =>
    requestToken(server, form(server, link), { DPoP: proof(key, `${server.root}.lws/token`, { method: 'POST' }) });
  const restart = async (): Promise<void> => {
    await server.stop(true);
    server = await startSpecServer({ again: server });
  };

  it('are valid for one browser, also after a restart (rule 5.5)', async () => {
    const link = await linkFor();
    expect((await opened(link)).status).to.equal(200);
    expectOauthError(await opened(link, another), 'invalid_request');
    await restart();
    expectOauthError(await opened(link, another), 'invalid_request');
    expect((await opened(link)).status).to.equal(200);
  });

  it('are valid for one of two browsers that open them concurrently (rule 5.5)', async () => {
    const link = await linkFor();
    const answers = await Promise.all([opened(link), opened(link, another)]);
    expect(answers.map(({ status }) => status).sort()).to.deep.equal([200, 400]);
  });

  it('are deleted when they expire (rule 5.5)', async () => {
    const over = await linkFor(1);
    expect((await opened(over)).status).to.equal(200);
    await new Promise((resolve) => setTimeout(resolve, 1100));
    expect((await opened(await linkFor())).status).to.equal(200);
    await server.stop(true);
    const level = await openLevel(join(server.dataDir, 'level'));
    const kept = await level.keys(entryRange('sign-in-links')).all();
    await level.close();
    server = await startSpecServer({ again: server });
    expect(kept).to.have.length(3);
  });
});
