/** Rule 12.1. */
import { createHash } from 'node:crypto';
import { expect } from 'chai';
import { describeStorage, lws, type StorageUnderTest } from '../support/conformance.js';
import { expectProblem, linked, listOf } from '../support/expectations.js';
import { rdfTypes } from '../support/rdf.js';

interface Capability {
  readonly type: string;
  readonly [member: string]: unknown;
}
interface Service {
  readonly type: string | readonly string[];
  readonly serviceEndpoint: string;
  readonly [member: string]: unknown;
}
interface Method {
  readonly id: string;
  readonly type: string;
  readonly controller: string;
  readonly publicKeyJwk: Readonly<Record<string, string>>;
}
interface Description {
  readonly id: string;
  readonly verificationMethod: readonly Method[];
  readonly authentication: readonly string[];
  readonly capability: readonly Capability[];
  readonly service: readonly Service[];
}

const part = (name: string): string => `https://w3c.github.io/lws-protocol/${name}/`;
const at = (s: StorageUnderTest): string => `${s.root}.lws/storage-description`;

async function description(s: StorageUnderTest): Promise<Description> {
  const answer = await s.get(at(s));
  expect(answer.status, answer.text).to.equal(200);
  return JSON.parse(answer.text) as Description;
}

const ofType = (capabilities: readonly Capability[], type: string): Capability[] =>
  capabilities.filter((capability) => capability.type === type);

const serviceOf = ({ service }: Description, type: string): Service | undefined =>
  service.find((entry) => [entry.type].flat().includes(type));

/** Names of all members, at any depth. */
function memberNames(value: unknown): string[] {
  if (typeof value !== 'object' || value === null) return [];
  return Object.entries(value).flatMap(([name, inner]) => [name, ...memberNames(inner)]);
}

function keys(s: StorageUnderTest): void {
  it('it has the contexts, the storage as id, and the type Storage (rule 12.1)', async () => {
    const document = (await description(s)) as unknown as Record<string, unknown>;
    expect(document['@context']).to.deep.equal(['https://www.w3.org/ns/cid/v1', 'https://www.w3.org/ns/lws/v1']);
    expect(document).to.include({ id: s.root, type: 'Storage' });
    expect(document).to.include.keys('verificationMethod', 'authentication', 'capability', 'service');
  });

  it('the webhook key is an Ed25519 JsonWebKey that authenticates (rule 12.1)', async () => {
    const { verificationMethod, authentication } = await description(s);
    expect(verificationMethod).to.be.an('array').that.is.not.empty;
    const ids = verificationMethod.map(({ id }) => id);
    for (const id of authentication) expect(ids).to.include(id);
    const [method] = verificationMethod.filter(({ id }) => authentication.includes(id));
    expect(method).to.include({ type: 'JsonWebKey', controller: s.root });
    expect(method!.publicKeyJwk).to.include({ kty: 'OKP', crv: 'Ed25519', alg: 'EdDSA' });
    expect(method!.publicKeyJwk).to.include.keys('kid', 'x');
    expect(Buffer.from(method!.publicKeyJwk['x']!, 'base64url').length).to.equal(32);
  });

  it('the id of a method is the storage, # and the RFC 7638 thumbprint (rule 12.2)', async () => {
    const { verificationMethod } = await description(s);
    for (const { id, publicKeyJwk } of verificationMethod) {
      const { crv, kty, x } = publicKeyJwk;
      const thumbprint = createHash('sha256').update(JSON.stringify({ crv, kty, x })).digest('base64url');
      expect(id).to.equal(`${s.root}#${thumbprint}`);
    }
  });

  it('no representation contains private data (rule 12.1)', async () => {
    expect(memberNames(await description(s))).not.to.include.members(['d']);
    for (const Accept of [...rdfTypes, 'application/json']) {
      const { status, text } = await s.get(at(s), { Accept });
      expect(status).to.equal(200);
      expect(text).not.to.match(/\\?"d\\?"\s*:|&quot;d&quot;\s*:|secretKey/);
    }
  });
}

function capabilities(s: StorageUnderTest): void {
  for (const name of ['lws10-core', 'lws10-index', 'lws10-authn-ssi-cid'])
    it(`the capability ${name} is listed (rules 12.1, 12.3)`, async () => {
      expect(ofType((await description(s)).capability, part(name))).to.deep.equal([{ type: part(name) }]);
    });

  it('an inactive authentication suite is not listed (rule 12.5)', async () => {
    expect(ofType((await description(s)).capability, part('lws10-authn-saml'))).to.deep.equal([]);
  });

  it('PatchSupport maps patchable types to patch types (rule 12.1)', async () => {
    const entries = ofType((await description(s)).capability, `${lws}PatchSupport`);
    const formats = Object.assign({}, ...entries.map(({ format }) => format)) as Record<string, string[]>;
    for (const type of rdfTypes) expect(formats[type], type).to.deep.equal(['application/sparql-update']);
    for (const type of ['application/json', 'application/linkset+json'])
      expect(formats[type], type).to.have.members(['application/merge-patch+json', 'application/json-patch+json']);
  });

  it('each RDF serialization has a ContentNegotiation (rule 12.1)', async () => {
    const entries = ofType((await description(s)).capability, `${lws}ContentNegotiation`);
    expect(entries.map(({ source }) => source)).to.have.members([...rdfTypes]);
    for (const { source, target } of entries)
      expect(target, String(source)).to.have.members(rdfTypes.filter((type) => type !== source));
  });

  it('the digest algorithms are listed (rule 12.1)', async () => {
    const type = 'https://www.rfc-editor.org/info/rfc9530';
    const entries = ofType((await description(s)).capability, type);
    expect(entries).to.deep.equal([{ type, algorithm: ['sha-256', 'sha-512'] }]);
  });
}

function services(s: StorageUnderTest): void {
  it('root, type index and type search are services (rule 12.1)', async () => {
    const document = await description(s);
    expect(serviceOf(document, 'StorageRoot')).to.include({ serviceEndpoint: s.root });
    expect(serviceOf(document, 'TypeIndexService')).to.include({ serviceEndpoint: `${s.root}.lws/type-index` });
    expect(serviceOf(document, 'TypeSearchService')).to.include({ serviceEndpoint: `${s.root}.lws/type-search` });
  });

  for (const [type, path, extras] of [
    ['NotificationService', 'subscriptions', { subscriptionType: ['WebhookSubscription'] }],
    ['AccessRequestService', 'access-requests', { conformsTo: [`${lws}AccessProfile`] }],
    ['AccessGrantService', 'access-grants', { conformsTo: [`${lws}AccessProfile`] }],
  ] as const)
    it(`${type}, if present, has the path ${path} (rule 12.1)`, async () => {
      const service = serviceOf(await description(s), type);
      if (service) expect(service).to.deep.include({ serviceEndpoint: `${s.root}.lws/${path}`, ...extras });
    });

  it('advertised endpoints are in the storage and routed (rule 12.1)', async () => {
    for (const { type, serviceEndpoint } of (await description(s)).service) {
      expect(serviceEndpoint.startsWith(s.root), serviceEndpoint).to.equal(true);
      const statuses = [(await s.options(serviceEndpoint)).status, (await s.get(serviceEndpoint)).status];
      expect(statuses, String(type)).not.to.deep.equal([404, 404]);
    }
  });

  it('two services of a kind are not advertised twice (rule 12.4)', async () => {
    const types = (await description(s)).service.flatMap(({ type }) => type);
    expect(new Set(types).size).to.equal(types.length);
  });
}

describeStorage('Storage description', (s) => {
  keys(s);
  capabilities(s);
  services(s);

  it('it is public (rule 12.1)', async () => {
    for (const iri of [at(s), s.root])
      for (const sender of ['anonymous', s.stranger] as const) {
        const answer = await s.send('GET', iri, { Accept: 'application/lws+cid' }, undefined, sender);
        expect(answer.status).to.equal(200);
        expect(JSON.parse(answer.text)).to.deep.equal(await description(s));
      }
  });

  it('it has a stable ETag and supports conditional reads at both places (rule 12.1)', async () => {
    for (const iri of [at(s), s.root])
      for (const Accept of ['application/lws+cid', ...(iri === s.root ? [] : ['text/turtle', 'application/json'])]) {
        const etag = await s.tag(iri, { Accept });
        expect(etag).to.match(/^"[\x21\x23-\x7e]+"$/);
        expect(await s.tag(iri, { Accept })).to.equal(etag);
        const answer = await s.get(iri, { Accept, 'If-None-Match': etag });
        expect([answer.status, answer.bytes.length, answer.headers['etag']]).to.deep.equal([304, 0, etag]);
        expect((await s.get(iri, { Accept, 'If-None-Match': '"other"' })).status).to.equal(200);
      }
  });

  it('it carries the storage link, and HEAD the fields of GET (rules 10.2, 12.1)', async () => {
    const [get, head] = [await s.get(at(s)), await s.head(at(s))];
    expect(linked(get, `${lws}storage`)).to.deep.equal([s.root]);
    expect([head.status, head.bytes.length]).to.deep.equal([200, 0]);
    for (const name of ['content-type', 'etag', 'link', 'vary'])
      expect(head.headers[name], name).to.equal(get.headers[name]);
  });

  it('OPTIONS is 204 with Allow, and other methods are 405 with Allow (rule 6.21)', async () => {
    const options = await s.options(at(s));
    expect(options.status).to.equal(204);
    expect(listOf(options, 'allow')).to.include.members(['get', 'head', 'options']);
    for (const method of ['POST', 'PATCH', 'DELETE']) {
      const answer = await s.send(method, at(s));
      expectProblem(answer, 405, s);
      expect(listOf(answer, 'allow'), method).to.include('get').and.not.to.include(method.toLowerCase());
    }
  });
});

describeStorage(
  'Storage description after a restart',
  (s) => {
    it('keys and services are the same after a restart (rule 12.2)', async () => {
      const before = await description(s);
      await s.restart({ settings: { 'public-read': 'true' } });
      expect(await description(s)).to.deep.equal(before);
    });
  },
  { settings: { 'public-read': 'true' } },
);

describeStorage(
  'Storage description with another system prefix',
  (s) => {
    it('endpoints are below lws.system-prefix (rule 12.1)', async () => {
      const answer = await s.get(`${s.root}.system/storage-description`);
      expect(answer.status).to.equal(200);
      const document = JSON.parse(answer.text) as Description;
      expect(serviceOf(document, 'TypeIndexService')).to.include({ serviceEndpoint: `${s.root}.system/type-index` });
      expect((await s.get(`${s.root}.system/type-search`)).status).to.equal(200);
      expectProblem(await s.get(at(s)), 404, s);
    });
  },
  { settings: { 'system-prefix': '/.system' } },
);
