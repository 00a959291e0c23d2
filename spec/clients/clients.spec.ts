/**
 * Clients that nobody here wrote, in Node and in a browser of another origin: they create, read, list, change, share and delete, and are
 * refused what they must be. `docs/clients.md` is made of what came out (QUADPOD_WRITE=1 writes it).
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
import { packageRoot } from '../../lib/threads/package-root.js';
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

/** Token exchange, with nothing but the storage's address to begin with. @param token a credential of the owner */
const oauthJourney = (token: string): Journey => ({
  async discover({ root }) {
    const found = await oauth.resourceDiscoveryRequest(new URL(root), insecure);
    const { authorization_servers: servers } = await oauth.processResourceDiscoveryResponse(new URL(root), found);
    must(servers?.[0] === root.slice(0, -1), 'the authorization server is named');
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
    must((await fetchWith(access)(root)).status === 200, 'the access token is taken');
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
    must(configuration.serverMetadata().token_endpoint === `${root}.lws/token`, 'the token endpoint is found');
  },
};

const versionOf = (name: string): string =>
  (JSON.parse(readFileSync(join(packageRoot, 'node_modules', name, 'package.json'), 'utf8')) as { version: string })
    .version;

/** What is known and does not work, and whose rule that is, for the table. */
const remarks: Readonly<Record<string, string>> = {
  '@inrupt/solid-client': 'Its sign-in libraries are for Solid-OIDC: hand it a `fetch` with a credential.',
  rdflib:
    'Without calls for access control: applications write the list. Of a document that is refused (403) its update manager throws where nobody can catch it.',
  '@ldo/connected-solid':
    'LDO. DELETE is 204 (rule 6.19), where it takes 205 alone for a success: what it deletes is gone and reported as an error, and `createAndOverwrite` of what is there fails. Its predecessor `@ldo/solid` does not load with the dependencies that npm gives it.',
  'soukai-solid':
    'Relative IRIs of an access control list are of its resource (rule 3.2), and it takes them for those of the list: it shares, and does not take back. The list of the root it does not look for. Descriptions of containers in `.meta` are none: that is a linkset (rule 11.1).',
  '@solid-data-modules/contacts-rdflib': 'Address books, by rdflib.js. A WebID with type indexes is not needed for it.',
  oauth4webapi: 'Discovery by RFC 9728 and RFC 8414, token exchange.',
  'openid-client': 'Discovery; token exchange as a generic grant.',
};

/** By `solid-os.spec.ts`, which runs where the package is. */
const solidOs =
  '| mashlib (SolidOS) | 2.3.3 | Chromium | create, read, change, share, share again, take back | The data browser, by its own buttons, with a `fetch` that has a credential: it signs in by Solid-OIDC. `MASHLIB` names its folder `dist` for the spec. |';

describe('Clients of others', function () {
  this.timeout(60_000);
  const owner = ed25519Identity();
  const stranger = ed25519Identity();
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
    tokens = [owner, stranger].map((who) => credential(who, { aud: server.root.slice(0, -1) })) as [string, string];
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
    strangers: fetchWith(tokens[1]),
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
    it(`${name} in a browser, from another origin`, async function () {
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
      const { fetch: _fetch, strangers: _strangers, ...places } = setting();
      const outcomes = await page.evaluate(
        ([client, ...rest]) =>
          (globalThis as unknown as { travel(...values: unknown[]): Promise<Outcome[]> }).travel(client, ...rest),
        [which, places, tokens] as const,
      );
      expectAll(name, 'Chromium', outcomes);
    });

  it('docs/clients.md says what came out', function () {
    if (!chromiumPath()) return this.skip();
    const file = join(packageRoot, 'docs/clients.md');
    const table = ['| client | version | in | works | |', '|---|---|---|---|---|', ...rows, solidOs].join('\n');
    const text = `# Clients

Solid clients work with one setting, \`lws.profile=solid\` (in a file, as \`LWS_PROFILE=solid\` or \`--profile=solid\`):

    npx quadpod --profile=solid

The profile sets values that are \`null\` in \`config.json\` and not set elsewhere: access control lists, unconditional writes, 403 for rejected requests, and
any CORS origin with credentials. The server prints them at startup. It also adds parts of the Solid protocol that LWS lacks: writes that create missing
containers, N3 Patch, append-only patches and the links of a storage. See [chapter 20 of the rules](rules.md#20-the-solid-profile). Without the setting
none of it applies.

These parts stay as in LWS: \`.meta\` is a linkset, relative IRIs in an access control list resolve against its resource, a container is JSON by default,
DELETE returns 204, and clients sign in with a credential for this storage ([signing in](signing-in.md)), which they get as their \`fetch\`. A DPoP proof has
\`ath\`.

The following clients were tested with create, read, change, share and delete, each step with requests that must fail. \`spec/clients\` generates this table.

${table}

Every plain HTTP client works: see [the HTTP interface](http.md). SPARQL clients (Comunica, fetch-sparql-endpoint, rdflib for Python with SPARQLStore,
SPARQLWrapper, pandas over CSV, YASGUI) were tested by hand.
`;
    if (process.env['QUADPOD_WRITE']) writeFileSync(file, text);
    expect(readFileSync(file, 'utf8')).to.equal(text);
  });
});
