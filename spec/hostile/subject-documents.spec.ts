/** Rule 15.16: fetches caused by unauthorized callers exhaust neither memory nor the time of other requests. */
import { expect } from 'chai';
import { by, expectFewFetches, expectNoImpact, measureImpact, startOwned } from '../support/attack.js';
import { type Answer, request } from '../support/http.js';
import { ed25519Identity } from '../support/identity.js';
import { slowness } from '../support/patience.js';
import type { ServerProcess } from '../support/process.js';
import { remote } from '../support/remote.js';
import { type Subject, webSubject } from '../support/subjects.js';

const owner = ed25519Identity();

describe('Subject documents under attack', function () {
  this.timeout(60_000);
  this.retries(1);
  let server: ServerProcess;
  const present = ({ credential }: { credential: string }): Promise<Answer> =>
    request(`${server.root}nothing`, { headers: { Authorization: `Bearer ${credential}` } });
  const credentialOf = (subject: Subject) => ({ credential: subject.credential(server.root.slice(0, -1)) });

  before(async () => {
    const environment = Object.fromEntries(
      Object.entries(remote.settings).map(([name, value]) => [
        `LWS_${name.replace(/[.-]/g, '_').toUpperCase()}`,
        value,
      ]),
    );
    server = await startOwned(owner, { ...environment, NODE_OPTIONS: '--max-old-space-size=256' });
  });
  after(() => server?.kill());

  it('Outbound-fetch guard: 300 documents of maximum size with arbitrary keys do not fill the heap', async () => {
    const more = 'x'.repeat(1_000);
    const subjects = Array.from({ length: 300 }, () => {
      const subject = webSubject();
      const publicKeyJwk = { ...subject.key.jwk, more };
      const methods = Array.from({ length: 40 }, (_, at) =>
        subject.method({ id: `${subject.iri}#k${at}`, publicKeyJwk }),
      );
      return subject.publish(subject.document({ verificationMethod: [subject.method(), ...methods] }));
    });
    const impact = await measureImpact(server, () =>
      inParts(subjects, 30, (subject) => present(credentialOf(subject)).then(({ status }) => status)),
    );
    expect(new Set(impact.result)).to.deep.equal(new Set([404]));
    expectNoImpact(impact);
  });

  it('Outbound-fetch guard: documents that are slow to parse do not delay writes of the owner', async () => {
    const contexts = Array.from({ length: 12_000 }, () => '{}').join(',');
    const subjects = Array.from({ length: 3 }, () => {
      const subject = webSubject();
      remote.serve(subject.path, `{"@context":[${contexts}],"@id":"${subject.iri}"}`, { type: 'application/ld+json' });
      return subject;
    });
    const lines = Array.from({ length: 800 }, (_, at) => `<#${at}> <http://xmlns.com/foaf/0.1/name> "name ${at}" .`);
    const impact = await measureImpact(server, async () => {
      const attack = subjects.map((subject) => present(credentialOf(subject)));
      const began = performance.now();
      const { status } = await request(`${server.root}large`, {
        method: 'PUT',
        headers: { ...by(server, owner), 'Content-Type': 'text/turtle', 'If-None-Match': '*' },
        body: lines.join('\n'),
      });
      expect(status).to.equal(201);
      const took = performance.now() - began;
      return { took, statuses: (await Promise.all(attack)).map(({ status }) => status) };
    });
    expect(impact.result.took).to.be.below(4000 * slowness);
    expect(impact.result.statuses).to.deep.equal([401, 401, 401]);
    expectNoImpact(impact);
  });

  it('Outbound-fetch guard: 500 credentials with hanging documents use few connections', async () => {
    const subjects = Array.from({ length: 500 }, () => webSubject());
    const most = remote.hold(subjects.map(({ path }) => path));
    const sends = subjects.map((subject) => () => present(credentialOf(subject)));
    await expectFewFetches(server, most, sends);
  });
});

async function inParts<T, R>(all: readonly T[], size: number, work: (one: T) => Promise<R>): Promise<R[]> {
  const results: R[] = [];
  for (let at = 0; at < all.length; at += size)
    results.push(...(await Promise.all(all.slice(at, at + size).map(work))));
  return results;
}
