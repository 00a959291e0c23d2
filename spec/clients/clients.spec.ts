/**
 * Interoperability with third-party clients, in Node.js and in a browser of another origin: they create, read, list, change,
 * share and delete, and each operation is rejected without permission. `docs/clients.md` is generated from the results
 * (QUADPOD_WRITE=1 writes it).
 */
import { readFileSync, writeFileSync } from 'node:fs';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { expect } from 'chai';
import { build } from 'esbuild';
import * as oauth from 'oauth4webapi';
import * as openid from 'openid-client';
import { type Browser, chromium } from 'playwright-core';
import { packageRoot } from '../../lib/tools/threads/package-root.js';
import { chromiumPath } from '../support/browser.js';
import { credential, ed25519Identity } from '../support/identity.js';
import { type SpecServer, startSpecServer } from '../support/server.js';
import { contactsModule } from './contacts-client.js';
import { fetchWith, type Journey, must, mustFail, type Outcome, type Setting, take } from './journey.js';
import { ldo } from './ldo-client.js';
import { rdflib } from './rdflib-client.js';
import { solidClient } from './solid-client.js';
import { soukai } from './soukai-client.js';

const insecure = { [oauth.allowInsecureRequests]: true } as const;
const exchange = 'urn:ietf:params:oauth:grant-type:token-exchange';

/** Token exchange that starts from the URL of the storage only. @param token credential of the owner */
const oauthJourney = (token: string): Journey => ({
  async discover({ root }) {
    const found = await oauth.resourceDiscoveryRequest(new URL(root), insecure);
    const { authorization_servers: servers } = await oauth.processResourceDiscoveryResponse(new URL(root), found);
    must(servers?.[0] === root.slice(0, -1), 'the authorization server is listed');
  },
  async exchange({ root }) {
    const issuer = new URL(root.slice(0, -1));
    const server = await oauth.processDiscoveryResponse(
      issuer,
      await oauth.discoveryRequest(issuer, { algorithm: 'oauth2', ...insecure }),
    );
    const client = { client_id: 'https://app.example/' };
    const ask = async (subject: string): Promise<oauth.TokenEndpointResponse> =>
      oauth.processGenericTokenEndpointResponse(
        server,
        client,
        await oauth.genericTokenEndpointRequest(
          server,
          client,
          oauth.None(),
          exchange,
          new URLSearchParams({
            subject_token: subject,
            subject_token_type: 'urn:ietf:params:oauth:token-type:jwt',
            resource: root,
          }),
          insecure,
        ),
      );
    const { access_token: access } = await ask(token);
    must((await fetchWith(access)(root)).status === 200, 'the access token is accepted');
    await mustFail(ask(`${token}x`), 'a credential with a wrong signature');
  },
});

const openidJourney: Journey = {
  async discover({ root }) {
    const configuration = await openid.discovery(
      new URL(root.slice(0, -1)),
      'https://app.example/',
      undefined,
      openid.None(),
      {
        algorithm: 'oauth2',
        execute: [openid.allowInsecureRequests],
      },
    );
    must(configuration.serverMetadata().token_endpoint === `${root}.lws/token`, 'the token endpoint is listed');
  },
};

const versionOf = (name: string): string =>
  (JSON.parse(readFileSync(join(packageRoot, 'node_modules', name, 'package.json'), 'utf8')) as { version: string })
    .version;

/** Notes and known limitations by client, for the table. */
const remarks: Readonly<Record<string, string>> = {
  '@inrupt/solid-client': 'Pass the `fetch` of its sign-in libraries, or one that sends a credential.',
  rdflib:
    'No API for access control: applications write the ACL. If the server rejects the first read of a document with 403, the update manager throws an exception that cannot be caught.',
  '@ldo/connected-solid':
    'LDO. Reports every successful deletion as an error: it expects status 205, the server returns 204 (rule 6.19). For the same reason, `createAndOverwrite` of an existing resource fails. Its predecessor `@ldo/solid` does not load with the dependencies that npm installs.',
  'soukai-solid':
    'Shares, but does not revoke: it resolves relative IRIs of an access control list against the list, not against its resource (rule 3.2). Does not look for the list of the root.',
  '@solid-data-modules/contacts-rdflib': 'Address books, based on rdflib.js. Needs no WebID with type indexes.',
  oauth4webapi: 'Discovery (RFC 9728, RFC 8414) and token exchange.',
  'openid-client': 'Discovery. Token exchange is available as a generic grant.',
};

/** Result of `solid-os.spec.ts`, which is skipped without the package. */
const solidOs =
  '| mashlib (SolidOS) | 2.3.3 | Chromium | create, read, change, share, share again, revoke | The data browser, tested through its own buttons, with a `fetch` that sends a credential. The spec needs the path of its directory `dist` in `MASHLIB`. |';

describe('Third-party clients', function () {
  this.timeout(60_000);
  const owner = ed25519Identity();
  const other = ed25519Identity();
  const rows: string[] = [];
  let server: SpecServer;
  let tokens: [string, string];
  let count = 0;
  let app: Server | undefined;
  let browser: Browser | undefined;

  before(async () => {
    app = createServer((_req, res) =>
      res.setHeader('Content-Type', 'text/html').end('<!doctype html><title>an application</title>'),
    );
    await new Promise<void>((resolve) => app!.listen(0, '127.0.0.1', resolve));
    server = await startSpecServer({ settings: { profile: 'solid', owners: owner.did } });
    tokens = [owner, other].map((identity) => credential(identity, { aud: server.root.slice(0, -1) })) as [
      string,
      string,
    ];
  });
  after(async () => {
    await browser?.close();
    app?.close();
    await server.stop();
  });

  const setting = (): Setting => ({
    root: server.root,
    container: `${server.root}journey${++count}/`,
    owner: owner.did,
    fetch: fetchWith(tokens[0]),
    unauthorized: fetchWith(tokens[1]),
  });
  const expectAll = (name: string, where: string, outcomes: readonly Outcome[]): void => {
    const works = outcomes.filter(({ fault }) => fault === undefined).map(({ step }) => step);
    rows.push(`| ${name} | ${versionOf(name)} | ${where} | ${works.join(', ')} | ${remarks[name]} |`);
    expect(outcomes.filter(({ fault }) => fault !== undefined)).to.deep.equal([]);
  };

  for (const [name, journey] of [
    ['@inrupt/solid-client', solidClient],
    ['rdflib', rdflib],
    ['@ldo/connected-solid', ldo],
    ['soukai-solid', soukai],
    ['@solid-data-modules/contacts-rdflib', contactsModule],
  ] as const)
    it(`${name} in Node`, async () => {
      expectAll(name, 'Node.js', await take(journey, setting()));
    });

  it('oauth4webapi in Node', async () => {
    expectAll('oauth4webapi', 'Node.js', await take(oauthJourney(tokens[0]), setting()));
  });

  it('openid-client in Node', async () => {
    expectAll('openid-client', 'Node.js', await take(openidJourney, setting()));
  });

  for (const [name, which] of [
    ['@inrupt/solid-client', 'solid-client'],
    ['rdflib', 'rdflib'],
    ['@ldo/connected-solid', 'ldo'],
  ] as const)
    it(`${name} in a browser of another origin`, async function () {
      if (!chromiumPath()) return this.skip();
      browser ??= await chromium.launch({ executablePath: chromiumPath()!, args: ['--no-sandbox', '--disable-gpu'] });
      const page = await browser.newPage();
      await page.goto(`http://localhost:${(app!.address() as AddressInfo).port}/`);
      const { outputFiles } = await build({
        entryPoints: [join(packageRoot, 'dist/spec/clients/in-browser.js')],
        bundle: true,
        write: false,
        format: 'iife',
        platform: 'browser',
        define: { global: 'globalThis', 'process.env.NODE_ENV': '"production"' },
        logLevel: 'silent',
      });
      await page.addScriptTag({ content: outputFiles[0]!.text });
      const { fetch: _fetch, unauthorized: _unauthorized, ...places } = setting();
      const outcomes = await page.evaluate(
        ([client, ...rest]) =>
          (globalThis as unknown as { travel(...values: unknown[]): Promise<Outcome[]> }).travel(client, ...rest),
        [which, places, tokens] as const,
      );
      expectAll(name, 'Chromium', outcomes);
    });

  it('docs/clients.md matches the results', function () {
    if (!chromiumPath()) return this.skip();
    const file = join(packageRoot, 'docs/clients.md');
    const table = [
      '| client | version | environment | works | notes |',
      '|---|---|---|---|---|',
      ...rows,
      solidOs,
    ].join('\n');
    const text = `# Clients

Solid clients sign in and work with one setting, \`lws.profile=solid\` (in a file, as \`LWS_PROFILE=solid\` or \`--profile=solid\`). Owners are WebIDs:

    npx quadpod --profile=solid --owners=https://ada.example/profile/card#me

The server accepts the access tokens of every OpenID provider that the document of the WebID names as \`solid:oidcIssuer\` (Solid-OIDC), if they are bound to
a key ([rule 20.11](rules.md#20-the-solid-profile)). A provider on the same machine also needs \`--fetch.allowed-hosts=localhost:3000\`. This was tested by
hand with \`@inrupt/solid-client-authn-node\` 5.0.0, and \`@inrupt/solid-client-authn-browser\` 5.0.0 in Chromium from another origin, with Community Solid
Server 7.2.0 as provider: sign in, read, create, patch, share, delete and sign out.

The profile sets values that are \`null\` in \`config.json\` and not set elsewhere: access control lists, unconditional writes, 403 for rejected requests, and
CORS for every origin with credentials. The server prints them at startup. It also adds parts of the Solid protocol that LWS lacks: writes that create
missing containers, N3 Patch, append-only patches, descriptions of containers and the links of a storage. Without the setting, none of this applies. See
[chapter 20 of the rules](rules.md#20-the-solid-profile).

The following stays as in LWS: \`.meta\` is a linkset (that of a container is also its description in RDF), relative IRIs in an access control list resolve
against its resource, a container is JSON by default, and DELETE returns 204. Clients without a provider use a credential for this storage
([signing in](signing-in.md)), passed to them as their \`fetch\`.

Tested clients are listed below. They used such a credential. Each step also sends requests that the server must reject. \`spec/clients\` generates this table.

${table}

Every HTTP client works: see [the HTTP interface](http.md). SPARQL clients (Comunica, fetch-sparql-endpoint, rdflib for Python with SPARQLStore,
SPARQLWrapper, pandas over CSV, YASGUI) were tested by hand.
`;
    if (process.env['QUADPOD_WRITE']) writeFileSync(file, text);
    expect(readFileSync(file, 'utf8')).to.equal(text);
  });
});
