/** Rules 15.4, 15.11, 15.16: subjects with a controlled identifier document. */

import { randomUUID } from 'node:crypto';
import { expect } from 'chai';
import { describeStorage } from '../support/conformance.js';
import { expectChallenge } from '../support/expectations.js';
import { nowSeconds } from '../support/identity.js';
import { type Json, privateJwk, signingKey } from '../support/jwt.js';
import { baseOf, bearer } from '../support/oauth.js';
import { remote } from '../support/remote.js';
import { didKey, didWebSubject, multikey, Subject, webSubject } from '../support/subjects.js';
import { until } from '../support/until.js';

const sec = 'https://w3id.org/security#';
const mallory = signingKey('ES256', 'key-1');
const elsewhere = webSubject().publish();
const when = (seconds: number): string => new Date(Date.now() + seconds * 1000).toISOString();

/** Case: the published document of a subject, and the changes to its credential. */
interface Case {
  readonly alg?: string;
  readonly make?: () => Subject;
  readonly publish?: (subject: Subject) => void;
  readonly claims?: (subject: Subject) => Json;
  readonly header?: (subject: Subject) => Json;
  readonly signer?: typeof mallory;
}

const document = (changes: (subject: Subject) => Json): Case => ({
  publish: (subject) => subject.publish(subject.document(changes(subject))),
});
const method = (changes: (subject: Subject) => Json): Case =>
  document((subject) => ({ verificationMethod: [subject.method(changes(subject))] }));
const served = (type: string, write: (subject: Subject) => unknown): Case => ({
  publish: (subject) => subject.publish(write(subject), { type }),
});
const turtle = ({ iri, kid, key }: Subject, more = ''): string => `
  @prefix sec: <${sec}> .
  <${iri}> sec:verificationMethod <${kid}> ; sec:authenticationMethod <${kid}> .
  <${kid}> a sec:Multikey ; sec:controller <${iri}> ; ${more}
    sec:publicKeyMultibase "${multikey(key)}"^^sec:multibase .`;
const turtleJwk = ({ iri, kid, key: { jwk } }: Subject): string => `
  <${iri}> <${sec}authenticationMethod> <${kid}> .
  <${kid}> a <${sec}JsonWebKey> ; <${sec}controller> <${iri}> ;
    <${sec}publicKeyJwk> ${JSON.stringify(JSON.stringify(jwk))}^^<http://www.w3.org/1999/02/22-rdf-syntax-ns#JSON> .`;

const accepted: Readonly<Record<string, Case>> = {
  'is good': {},
  'has a document as application/lws+cid': served('application/lws+cid', (subject) => subject.document()),
  'has a document as application/did+json': served('application/did+json', (subject) => subject.document()),
  'has a document as JSON-LD': served('application/ld+json', (subject) => subject.document()),
  'has a document as Turtle': served('text/turtle; charset=utf-8', (subject) => turtle(subject)),
  'has a document as Turtle, with a JWK': served('text/turtle', turtleJwk),
  'names its method by its fragment': { header: () => ({ kid: 'key-1' }) },
  'names its method by its fragment with #': { header: () => ({ kid: '#key-1' }) },
  'names its method by the kid of its JWK': {
    ...method((subject) => ({ publicKeyJwk: { ...subject.key.jwk, kid: 'thumb' } })),
    header: () => ({ kid: 'thumb' }),
  },
  'has its method within authentication': document((subject) => ({
    verificationMethod: undefined,
    authentication: [subject.method()],
  })),
  'has one method that is no list': document((subject) => ({
    verificationMethod: subject.method(),
    authentication: subject.kid,
  })),
  'has relative identifiers for its method': document((subject) => ({
    verificationMethod: [subject.method({ id: '#key-1' })],
    authentication: ['#key-1'],
  })),
  'has other methods besides': document((subject) => ({
    verificationMethod: [{ id: `${subject.iri}#0`, type: 'Unknown' }, subject.method()],
    authentication: [`${subject.iri}#0`, 5, subject.kid],
  })),
  'has a JsonWebKey2020': method(() => ({ type: 'JsonWebKey2020' })),
  'has an Ed25519VerificationKey2020': {
    alg: 'EdDSA',
    ...document((subject) => ({
      verificationMethod: [subject.multikeyMethod({ type: 'Ed25519VerificationKey2020' })],
    })),
  },
  'expires later': method(() => ({ expires: when(100) })),
  'is revoked later': method(() => ({ revoked: when(100) })),
  'is a did:web with a path': { make: () => didWebSubject(`d${randomUUID()}/e`) },
  ...Object.fromEntries(
    ['EdDSA', 'ES256', 'ES384', 'ES512'].flatMap((alg) => [
      [`has a Multikey of ${alg}`, { alg, ...document((s) => ({ verificationMethod: [s.multikeyMethod()] })) }],
      [`has a JsonWebKey of ${alg}`, { alg }],
    ]),
  ),
  'has a JsonWebKey of RSA': { alg: 'PS256' },
};

const refused: Readonly<Record<string, Case>> = {
  'has a method for assertions only': document((subject) => ({
    authentication: undefined,
    assertionMethod: [subject.kid],
  })),
  'has authentication of nothing': document(() => ({ authentication: [] })),
  'has a method of another under authentication': document((subject) => ({
    verificationMethod: [
      subject.method({ id: elsewhere.kid, controller: elsewhere.iri, publicKeyJwk: elsewhere.key.jwk }),
    ],
    authentication: [elsewhere.kid],
  })),
  'has a method that another controls': method(() => ({ controller: elsewhere.iri })),
  'has a method without a controller': method(() => ({ controller: undefined })),
  'has a method that several control': method((subject) => ({ controller: [elsewhere.iri, `${subject.iri}x`] })),
  'has a method that is revoked': method(() => ({ revoked: when(-100) })),
  'has a method that has expired': method(() => ({ expires: when(-100) })),
  'has a method with an end that is no date': method(() => ({ expires: 'some day' })),
  'has a private JWK': method((subject) => ({ publicKeyJwk: privateJwk(subject.key) })),
  'has a private key beside the public one': method((subject) => ({ secretKeyJwk: privateJwk(subject.key) })),
  'has a symmetric JWK': method(() => ({ publicKeyJwk: { kty: 'oct', k: 'AAAA', alg: 'HS256' } })),
  'has a method without a type': method(() => ({ type: undefined })),
  'has a method of an unknown type': method(() => ({ type: 'EcdsaSecp256k1VerificationKey2019' })),
  'has a Multikey that is garbage': document((subject) => ({
    verificationMethod: [subject.multikeyMethod({ publicKeyMultibase: 'zzzz0OIl' })],
  })),
  'has a Multikey of a private key': document((subject) => ({
    verificationMethod: [subject.multikeyMethod({ publicKeyMultibase: undefined, secretKeyMultibase: 'z3u2' })],
  })),
  'has a document of another subject': document(() => ({ id: elsewhere.iri })),
  'has a document without a subject': document(() => ({ id: undefined })),
  'has a document of one with a longer name': document((subject) => ({ id: `${subject.iri}x` })),
  'has no methods': document(() => ({ verificationMethod: undefined })),
  'has a document as HTML': served('text/html', (subject) => JSON.stringify(subject.document())),
  'has a document that is a web page': served('text/html', () => '<!DOCTYPE html><title>me</title>'),
  'has a document that is no JSON': served('application/json', () => '{"id": '),
  'has a document that is a list': served('application/json', (subject) => [subject.document()]),
  'has a document that is null': served('application/json', () => 'null'),
  'has Turtle with a mistake': served('text/turtle', (subject) => `${turtle(subject)} <`),
  'has Turtle about another subject': served('text/turtle', () => turtle(elsewhere)),
  'has Turtle with a revoked key': served('text/turtle', (subject) =>
    turtle(subject, `sec:revoked "${when(-9)}"^^<http://www.w3.org/2001/XMLSchema#dateTime> ;`),
  ),
  'has no document': { publish: (subject) => remote.remove(subject.path) },
  'has a document that fails': {
    publish: (subject) => subject.publish(subject.document(), { type: 'application/json', status: 500 }),
  },
  'is signed by another key': { signer: mallory },
  'names no method': { header: () => ({ kid: undefined }) },
  'names another method': { header: (subject) => ({ kid: `${subject.iri}#key-2` }) },
  'names a method of another': { header: () => ({ kid: elsewhere.kid }) },
  'names the subject for the method': { header: (subject) => ({ kid: subject.iri }) },
  'brings its own key': { header: () => ({ jwk: mallory.jwk }), signer: mallory },
  'is of another client': { claims: () => ({ client_id: elsewhere.iri }) },
  'is of no client': { claims: () => ({ client_id: undefined }) },
  'has another subject': { claims: () => ({ sub: elsewhere.iri }) },
  'lives for too long': { claims: () => ({ exp: nowSeconds() + 3700 }) },
  'names no audience': { claims: () => ({ aud: undefined }) },
  'names another audience': { claims: () => ({ aud: 'https://elsewhere.example' }) },
  'claims an alg that its key has not': { header: () => ({ alg: 'ES384' }) },
  'is a did:web of another port': {
    make: () => new Subject('did:web:localhost%3A1', '/.well-known/did.json'),
    publish: () => {},
  },
  'is a did:web that climbs': {
    make: () => new Subject(`did:web:${remote.authority.replace(':', '%3A')}:..%2f..:x`, '/x/did.json'),
  },
  'is a did:web with a slash': {
    make: () => new Subject(`did:web:${remote.authority.replace(':', '%3A')}/x`, '/x/did.json'),
  },
  'is a did:web with an at sign': {
    make: () => new Subject(`did:web:x%40${remote.authority.replace(':', '%3A')}:x`, '/x/did.json'),
  },
  'is of an unknown DID method': { make: () => new Subject('did:example:x', '/x') },
  'is no URL': { make: () => new Subject('someone', '/someone') },
};

const settings = { ...remote.settings, 'public-read': 'true' };

describeStorage(
  'Self-signed controlled identifiers',
  (s) => {
    const tokenOf = ({ alg, make, publish, claims, header, signer }: Case): [string, Subject] => {
      const subject = make ? make() : webSubject(alg);
      if (publish) publish(subject);
      else subject.publish();
      return [subject.credential(baseOf(s), claims?.(subject), header?.(subject), signer), subject];
    };

    for (const [what, each] of Object.entries(accepted))
      it(`Suites: one that ${what} is accepted`, async () => {
        const [token, subject] = tokenOf(each);
        const answer = await bearer(s.scratch, token);
        expect(answer.status, answer.headers['www-authenticate']).to.equal(200);
        await until(() => s.server!.log.at(-1)?.['subject'] === subject.iri, 'the subject is logged');
      });

    for (const [what, each] of Object.entries(refused))
      it(`Suites: one that ${what} is rejected with 401 invalid_token`, async () => {
        expectChallenge(await bearer(s.scratch, tokenOf(each)[0]), s, 'invalid_token');
      });

    it('Suites: a did:web of a host without a path has its document in .well-known', async () => {
      const subject = didWebSubject().publish();
      expect((await bearer(s.scratch, subject.credential(baseOf(s)))).status).to.equal(200);
    });

    for (const alg of ['EdDSA', 'ES256', 'ES384', 'ES512'])
      it(`Suites: a did:key of ${alg}, with the full kid, with the fragment only, and without kid`, async () => {
        const subject = new Subject(didKey(signingKey(alg)), '');
        const key = { ...subject.key, ...signingKey(alg) };
        const own = new Subject(didKey(key), '');
        const fragment = multikey(key);
        const before = remote.total();
        for (const kid of [`${own.iri}#${fragment}`, `#${fragment}`, fragment, undefined]) {
          const token = own.credential(baseOf(s), {}, { kid }, key);
          expect((await bearer(s.scratch, token)).status, `kid ${kid}`).to.equal(200);
          const forged = own.credential(baseOf(s), {}, { kid }, signingKey(alg));
          expectChallenge(await bearer(s.scratch, forged), s, 'invalid_token');
        }
        expect(remote.total(), 'requests for it').to.equal(before);
      });

    it('documents are cached (rule 15.13)', async () => {
      const subject = webSubject().publish();
      for (let i = 0; i < 3; i++) expect((await bearer(s.scratch, subject.credential(baseOf(s)))).status).to.equal(200);
      expect(remote.count(subject.path)).to.equal(1);
    });

    it('failures are cached too, for any number of credentials (rule 15.13)', async () => {
      const subject = webSubject();
      const tokens = Array.from({ length: 8 }, () => subject.credential(baseOf(s)));
      for (const answer of await Promise.all(tokens.map((token) => bearer(s.scratch, token))))
        expectChallenge(answer, s, 'invalid_token');
      expectChallenge(await bearer(s.scratch, subject.credential(baseOf(s))), s, 'invalid_token');
      expect(remote.count(subject.path)).to.equal(1);
    });
  },
  { settings },
);
