/** Asserts over HTTP that no byte of a response names an unreadable resource, except for the requested name and its containers. */
import { mkdtempSync, rmSync } from 'node:fs';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect } from 'chai';
import fc from 'fast-check';
import { searchRoutes } from '../../components/search/type-index/routes.js';
import type { Access } from '../../lib/authorization/principal.js';
import { Documents } from '../../lib/documents/documents.js';
import { createApp } from '../../lib/http/app.js';
import type { AppContext } from '../../lib/http/app-context.js';
import { describeStorage } from '../../lib/http/storage-description.js';
import { createLog } from '../../lib/tools/log.js';
import { type Answer, request } from '../support/http.js';
import { probes } from '../support/masking.js';
import { enough, runs } from '../support/speed.js';
import { allows, type Client, parentOf, root, type World } from './authorization-model.js';
import { type BuiltWorld, build } from './authorization-storage.js';
import { client, world } from './authorization-worlds.js';

/** Returns the same world with a name and a type for each resource that occur nowhere else. */
function marked(like: World): { like: World; names: ReadonlyMap<string, string>; types: ReadonlyMap<string, string> } {
  const iris = [...like.resources.keys()];
  const renamed = new Map<string, string>([[root, root]]);
  const rename = (iri: string): string => {
    const known = renamed.get(iri);
    if (known) return known;
    const [, own, slash] = /([^/]+)(\/?)$/.exec(iri)!;
    const fresh = `${rename(parentOf(iri))}${own}-q${iris.indexOf(iri)}q${slash}`;
    renamed.set(iri, fresh);
    return fresh;
  };
  const named = (iri: string): string => (like.resources.has(iri) ? rename(iri) : iri);
  const inGroup = (group: string): string => group.replace(/^[^#]*/, named);
  const typeOf = (iri: string): string => `urn:kind:k${iris.indexOf(iri)}k`;
  const marks = {
    ...like,
    resources: new Map(
      iris.map((iri) => {
        const { kind, owner } = like.resources.get(iri)!;
        return [
          named(iri),
          { kind: kind === 'container' ? kind : ('rdf' as const), owner, declared: [typeOf(iri)], asserted: [] },
        ] as const;
      }),
    ),
    acls: new Map(
      [...like.acls].map(([iri, rules]) => [
        named(iri),
        rules.map((rule) => ({ ...rule, groups: rule.groups.map(inGroup) })),
      ]),
    ),
    groups: Object.fromEntries(Object.entries(like.groups).map(([group, members]) => [inGroup(group), members])),
    grants: like.grants.map((grant) => ({ ...grant, values: grant.values.map(named) })),
  };
  const both = iris.map((iri) => [named(iri), iris.indexOf(iri)] as const);
  return {
    like: marks,
    names: new Map(both.filter(([iri]) => iri !== root).map(([iri, i]) => [iri, `-q${i}q`])),
    types: new Map(both.map(([iri, i]) => [iri, `urn:kind:k${i}k`])),
  };
}

/** Returns an app that trusts the identities sent by its clients. */
function siteOf({ storage, platform, lists }: BuiltWorld): AppContext {
  const authenticate = ({ authorization }: { authorization: string | undefined }): Access =>
    authorization ? { principal: JSON.parse(Buffer.from(authorization, 'base64').toString()) } : {};
  return {
    storage,
    authenticator: { authenticate },
    description: describeStorage(
      { rootIri: root, systemPrefix: '/.lws' },
      { services: [], capabilities: [], verificationMethods: [] },
    ),
    routes: searchRoutes({ platform, lists, pageSize: 100 }),
    resourceQuery: undefined,
    cors: { allowedOrigins: [], maxAgeSeconds: 0 },
    challenge: { realm: root, authorizationServer: undefined, resourceMetadata: '', dpopOnly: false },
    requireHttps: false,
    hstsSeconds: 0,
    behindProxy: false,
    isOpen: false,
    idleMs: 5_000,
    origin: root.slice(0, -1),
    log: createLog('error'),
    onAnswered: [],
  };
}

const fields = ({ subject, client: app, origin, purpose }: Client): Record<string, string> => ({
  ...(subject ? { Authorization: Buffer.from(JSON.stringify({ subject, client: app })).toString('base64') } : {}),
  ...(origin ? { Origin: origin } : {}),
  ...(purpose ? { 'LWS-Purpose': purpose } : {}),
});

/** Requests without effect, including an empty patch. */
const asked: Readonly<Record<string, { method: string; headers?: Record<string, string>; body?: string }>> = {
  ...Object.fromEntries(Object.entries(probes).filter(([title]) => !/^(?:DELETE|POST|PATCH$)/.test(title))),
  'GET as RDF': { method: 'GET', headers: { Accept: 'text/turtle' } },
  'GET as JSON-LD': { method: 'GET', headers: { Accept: 'application/ld+json' } },
  'PATCH with nothing': {
    method: 'PATCH',
    headers: { 'Content-Type': 'application/sparql-update' },
    body: 'INSERT DATA {}',
  },
  'DELETE with a stale tag': { method: 'DELETE', headers: { 'If-Match': '"x"' } },
  'DELETE of all with a stale tag': { method: 'DELETE', headers: { 'If-Match': '"x"', Depth: 'infinity' } },
  'PUT with a stale tag': { method: 'PUT', headers: { 'Content-Type': 'text/turtle', 'If-Match': '"x"' }, body: '' },
  'POST of malformed RDF': { method: 'POST', headers: { 'Content-Type': 'text/turtle', Slug: 'd' }, body: '<> a' },
};
const question = fc.record({
  title: fc.constantFrom(...Object.keys(asked)),
  which: fc.nat(1000),
  end: fc.constantFrom('', '', '.meta', '.acl', 'absent', '/absent', '?page=1'),
});

describe('Bytes of responses', function () {
  this.timeout(60_000);
  const folder = mkdtempSync(join(tmpdir(), 'quadpod-bytes-'));
  let documents: Documents;
  before(() => {
    documents = new Documents({ updateTimeoutMs: 10_000 });
  });
  after(async () => {
    await documents.close();
    rmSync(folder, { recursive: true, force: true });
  });

  async function serving(built: BuiltWorld, work: (base: string) => Promise<void>): Promise<void> {
    const server: Server = createServer(createApp(siteOf(built)).koa.callback());
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    try {
      await work(`http://127.0.0.1:${(server.address() as AddressInfo).port}/`);
    } finally {
      server.close();
      server.closeAllConnections();
      await built.dispose();
    }
  }

  it('do not name unreadable resources', async () => {
    let [answers, hidden] = [0, 0];
    const clients = fc.array(client, { minLength: 3, maxLength: 3 });
    const questions = fc.array(question, { minLength: 20, maxLength: 20 });
    await fc.assert(
      fc.asyncProperty(world, clients, questions, async (drawn, people, more) => {
        const { like, names, types } = marked(drawn);
        const iris = [...like.resources.keys()];
        const visit = async (base: string, who: Client): Promise<void> => {
          const secret = iris.filter((iri) => !allows(like, who, 'read', iri));
          // Readable resources name their containers.
          const shown = iris.filter((iri) => iri !== root && !secret.includes(iri));
          const longestFirst = shown.sort((a, b) => b.length - a.length);
          const look = ({ headers, text, status }: Answer, at: string, title: string): void => {
            answers++;
            const bytes = longestFirst.reduce((left, iri) => left.replaceAll(iri, '+'), JSON.stringify(headers) + text);
            for (const iri of secret) {
              hidden++;
              // ACLs name groups, also unreadable ones.
              if (at.endsWith('.acl') && status === 200 && iri.endsWith('g')) continue;
              const why = `${title} ${at} by ${JSON.stringify(who)}: ${status} ${bytes}\nnames ${iri}`;
              expect(bytes, why).not.to.include(types.get(iri));
              if (iri !== root && !at.startsWith(iri)) expect(bytes, why).not.to.include(names.get(iri));
            }
          };
          const ask = async (title: string, at: string): Promise<void> => {
            const { method, headers, body } = asked[title]!;
            const target = base + at.slice(root.length);
            look(await request(target, { method, headers: { ...headers, ...fields(who) }, body }), at, title);
          };
          for (const path of ['.lws/type-index', '.lws/type-search']) await ask('GET', root + path);
          for (const iri of iris)
            for (const title of iri.endsWith('/') ? ['GET as RDF'] : ['HEAD', 'PATCH with nothing'])
              await ask(title, iri);
          for (const { title, which, end } of more) await ask(title, iris[which % iris.length] + end);
        };
        await serving(await build(like, documents, folder), async (base) => {
          for (const who of people) await visit(base, who.subject === undefined ? { ...who, client: undefined } : who);
        });
      }),
      { numRuns: runs(40) },
    );
    expect(
      [answers, hidden].every((count) => count > enough(3000)),
      `${answers} answers, ${hidden} secrets`,
    ).to.equal(true);
  });
});
