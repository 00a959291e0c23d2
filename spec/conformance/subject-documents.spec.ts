/** Rules 15.11, 15.13, 15.16: subject documents that are huge, slow or redirected. */
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { expect } from 'chai';
import { expectProblem } from '../support/expectations.js';
import { type Answer, request } from '../support/http.js';
import { nowSeconds } from '../support/identity.js';
import { base64url, type Json, jws } from '../support/jwt.js';
import { baseOf, bearer, expectRefused, TrustedIssuer } from '../support/oauth.js';
import { slowness } from '../support/patience.js';
import { type RemoteHost, remote, startRemoteHost } from '../support/remote.js';
import { type SpecServer, startSpecServer } from '../support/server.js';
import { didWebSubject, Provider, Subject, webSubject } from '../support/subjects.js';

const sec = 'https://w3id.org/security#';
let s: SpecServer;
let inside: RemoteHost;
const slowIssuer = new TrustedIssuer();
const plain = createServer((_req, res) => {
  res.writeHead(200, { 'Content-Type': 'application/json' }).end(JSON.stringify(plainSubject.document()));
});
await new Promise<void>((resolve) => plain.listen(0, '127.0.0.1', resolve));
const plainHost = `localhost:${(plain.address() as AddressInfo).port}`;
const plainSubject = new Subject(`http://${plainHost}/me`, '/me');

const of = (subject: Subject, claims: Json = {}): Promise<Answer> =>
  bearer(s.root, subject.credential(baseOf(s), claims));
/** Redirects requests for a subject. */
const redirect = (from: string, to: string, status = 302): string =>
  remote.serve(from, '', { status, headers: { Location: to } });

describe('Documents of subjects', () => {
  before(async () => {
    inside = await startRemoteHost();
    const allowed = `${remote.settings['fetch.allowed-hosts']},${plainHost}`;
    const settings = { ...remote.settings, 'fetch.allowed-hosts': allowed, 'oauth.trusted-issuers': slowIssuer.issuer };
    s = await startSpecServer({ settings: { ...settings, owners: 'https://nobody.example/' } });
  });
  after(async () => {
    await s.stop();
    inside.close();
    plain.close();
  });

  it('Suites: a subject uses HTTPS; plain HTTP is not fetched', async () => {
    expectRefused(await of(plainSubject));
  });

  it('Outbound-fetch guard: up to five redirects are followed', async () => {
    for (const [hops, status] of [
      [1, 200],
      [5, 200],
      [6, 401],
    ] as const) {
      const subject = webSubject();
      const paths = [subject.path, ...Array.from({ length: hops }, () => remote.path('hop'))];
      for (const [i, path] of paths.slice(0, -1).entries())
        redirect(path, paths[i + 1]!, [301, 302, 303, 307, 308][i % 5]);
      remote.serve(paths.at(-1)!, subject.document());
      expect((await of(subject)).status, `${hops} redirects`).to.equal(status);
    }
  });

  it('Outbound-fetch guard: redirects to private addresses, plain HTTP or in a loop are rejected', async () => {
    const [toInside, toPlain, round, did] = [webSubject(), webSubject(), webSubject(), didWebSubject('away')];
    redirect(toInside.path, inside.serve('/me', toInside.document()));
    redirect(toPlain.path, `http://${plainHost}/me`);
    redirect(round.path, round.path);
    redirect(did.path, `http://${plainHost}/me`);
    for (const subject of [toInside, toPlain, round, did]) expectRefused(await of(subject));
    for (const to of ['file:///etc/passwd', 'data:application/json,{}', 'http://169.254.169.254/latest', '//[', '']) {
      const subject = webSubject();
      redirect(subject.path, to);
      expectRefused(await of(subject));
    }
    expect(inside.total()).to.equal(0);
  });

  it('Outbound-fetch guard: private addresses are not contacted', async () => {
    const { authority } = inside;
    const port = authority.slice(authority.indexOf(':'));
    const hosts = [
      authority,
      `127.0.0.1${port}`,
      `[::1]${port}`,
      `127.1${port}`,
      `0x7f000001${port}`,
      `0.0.0.0${port}`,
    ];
    for (const host of [...hosts, `[::ffff:127.0.0.1]${port}`, '169.254.169.254', '10.0.0.1', `user@${authority}`])
      expectRefused(await of(new Subject(`https://${host}/me`, '/me')));
    expectRefused(await of(new Subject(`did:web:${authority.replace(':', '%3A')}`, '/me')));
    const idToken = new Provider(inside).token(`${inside.origin}/me`, baseOf(s));
    expectRefused(await bearer(s.root, idToken));
    expect(inside.total()).to.equal(0);
  });

  it('Outbound-fetch guard: addresses in a document are guarded too', async () => {
    const subject = webSubject();
    const [method, context] = [`${remote.origin}${remote.path('method')}`, `${remote.origin}${remote.path('context')}`];
    subject.publish(subject.document({ '@context': context, authentication: [method] }), {
      type: 'application/ld+json',
    });
    expectRefused(await of(subject));
    expect(remote.count(new URL(method).pathname) + remote.count(new URL(context).pathname)).to.equal(0);
  });

  it('a document of more than 64 KiB or 50 methods is rejected, announced or not; one of 60 KiB is read (rule 15.13)', async () => {
    const [fine, announced, many, endless] = [webSubject(), webSubject(), webSubject(), webSubject()];
    fine.publish(fine.document({ more: 'x'.repeat(60_000) }));
    announced.publish(announced.document({ more: 'x'.repeat(2 ** 16) }));
    many.publish(many.document({ verificationMethod: Array.from({ length: 51 }, (_, at) => ({ id: `#${at}` })) }));
    remote.handle(endless.path, (_req, res) => {
      const text = JSON.stringify(endless.document());
      res.writeHead(200, { 'Content-Type': 'application/json' }).write(text);
      const more = (): void => void (res.destroyed || (res.write(' '.repeat(2 ** 16)) && setImmediate(more)));
      res.on('drain', more);
      more();
    });
    expect((await of(fine)).status).to.equal(200);
    for (const subject of [announced, many, endless]) expectRefused(await of(subject));
  });

  it('slow documents, providers and issuers end after 10 s, without blocking other clients (rule 15.13)', async function () {
    this.timeout(60_000);
    const [silent, dripping, half] = [webSubject(), webSubject(), webSubject()];
    const provider = new Provider();
    const id = webSubject();
    id.publish(provider.document(id.iri));
    for (const path of [silent.path, slowIssuer.metadataPath, provider.discoveryPath]) remote.handle(path, () => {});
    remote.handle(half.path, (_req, res) => void res.writeHead(200, { 'Content-Type': 'application/json' }).write('{'));
    remote.handle(dripping.path, (_req, res) => {
      res.writeHead(200, { 'Content-Type': 'application/json' });
      const timer = setInterval(() => res.write(' '), 200);
      res.on('close', () => clearInterval(timer));
    });
    const started = Date.now();
    const slow = Promise.all([
      ...[silent, dripping, half].map((subject) => of(subject)),
      bearer(s.root, slowIssuer.token(s.root, 'https://x.example/')),
      bearer(s.root, provider.token(id.iri, baseOf(s))),
    ]);
    expect((await request(s.root)).status).to.equal(200);
    expect((await of(webSubject().publish())).status).to.equal(200);
    expect(Date.now() - started).to.be.below(8000 * slowness);
    for (const answer of await slow) expectRefused(answer);
    expect(Date.now() - started).to.be.below(50_000 * slowness);
  });

  it('Bad input: documents with many statements do not block the server', async () => {
    const started = Date.now();
    const numbers = Array.from({ length: 40_000 }, (_, i) => i).join(',');
    const subject = webSubject();
    for (const property of ['authenticationMethod', 'note']) {
      subject.publish(`<${subject.iri}> <${sec}${property}> ${numbers} .`, { type: 'text/turtle' });
      expectRefused(await of(subject));
    }
    expect(Date.now() - started).to.be.below(8000 * slowness);
  });

  it('Bad input: deeply nested documents are rejected', async () => {
    const deep = webSubject().publish('['.repeat(900_000), { type: 'application/json' });
    const nested = webSubject().publish('{"id":'.repeat(200_000), { type: 'application/json' });
    const closed = webSubject();
    closed.publish(`{"id":"${closed.iri}","a":${'['.repeat(9000)}${']'.repeat(9000)}}`, { type: 'application/json' });
    for (const each of [deep, nested, closed]) expectRefused(await of(each));
  });

  it('Bad input: identifiers without an address', async () => {
    const names = [
      'https://',
      'https://%',
      'https:///x',
      'https://x y/',
      'https://[',
      'https://a..b/',
      `https://${'a'.repeat(3000)}/`,
    ];
    const dids = [
      'did:web:',
      'did:web:::',
      'did:web:%',
      'did:key:',
      'did:key:z',
      `did:key:z${'1'.repeat(5000)}`,
      'did:',
    ];
    for (const name of [...names, ...dids, 'urn:x', 'javascript:x', '\0', '#', '__proto__'])
      expectRefused(await of(new Subject(name, '')));
    const { key } = webSubject();
    for (const sub of [null, 5, {}, [], true])
      expectProblem(
        await bearer(s.root, jws(key, {}, { sub, iss: sub, client_id: sub, aud: baseOf(s), exp: nowSeconds() + 60 })),
        401,
      );
    expectProblem(await bearer(s.root, `${base64url({ alg: 'ES256', kid: {} })}.${base64url({})}.AAAA`), 401);
  });

  it('Suites: an expired key is rejected, also for a previously accepted credential', async () => {
    const subject = webSubject();
    const end = Date.now() + 2500;
    subject.publish(
      subject.document({ verificationMethod: [subject.method({ expires: new Date(end).toISOString() })] }),
    );
    const token = subject.credential(baseOf(s));
    expect((await bearer(s.root, token)).status).to.equal(200);
    await new Promise((resolve) => setTimeout(resolve, end - Date.now() + 200));
    expectRefused(await of(subject));
    expectRefused(await bearer(s.root, token));
  });

  it('DPoP: a credential bound to a key is not a bearer credential', async () => {
    const [subject, provider, id] = [webSubject().publish(), new Provider(), webSubject()];
    id.publish(provider.document(id.iri));
    const cnf = { jkt: 'NzbLsXh8uDCcd-6MNwXF4W_7noWXFZAfHkxZsRGC9Xs' };
    expect((await bearer(s.root, provider.token(id.iri, baseOf(s)))).status).to.equal(200);
    expectRefused(await bearer(s.root, provider.token(id.iri, baseOf(s), { cnf })));
    expectRefused(await of(subject, { cnf }));
    for (const odd of [null, 1, 'x', []]) expectRefused(await of(subject, { cnf: odd }));
  });

  it('Outbound-fetch guard: without loopback in lws.fetch.allowed-hosts it is blocked', async () => {
    const { 'fetch.ca-certificates': ca } = remote.settings;
    const settings = { owners: 'https://nobody.example/', 'fetch.ca-certificates': ca! };
    const closed = await startSpecServer({ settings });
    const subject = webSubject().publish();
    expectRefused(await bearer(closed.root, subject.credential(baseOf(closed))));
    expect(remote.count(subject.path)).to.equal(0);
    await closed.stop();
    const open = await startSpecServer({ settings: { ...settings, 'fetch.block-private-addresses': 'false' } });
    expect((await bearer(open.root, subject.credential(baseOf(open)))).status).to.equal(200);
    await open.stop();
  });
});
