/** A real Community Solid Server with its data in a directory, and users with client credentials. Must not depend on the data. */
import { type ChildProcess, execFileSync, spawn } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { existsSync, mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { canonicalIri } from '../../components/formats/css-names.js';
import { type Answer, type RequestOptions, request } from '../support/http.js';
import { nowSeconds } from '../support/identity.js';
import { jws, signingKey } from '../support/jwt.js';
import { freePort } from '../support/server.js';

const version = '7.2.0';
const password = 'a password of the bench';
/** Seconds to use a token. Tokens expire after ten minutes. */
const tokenAge = 300;

const key = signingKey();

/** Returns a DPoP proof (RFC 9449). */
const proof = (method: string, iri: string): string => {
  const { kid: _kid, ...jwk } = key.jwk;
  const claims = { htm: method, htu: canonicalIri(iri), jti: randomUUID(), iat: nowSeconds() };
  return jws(key, { typ: 'dpop+jwt', jwk }, claims);
};

/** Returns the script of the server, after installing it if necessary. */
function installed(folder: string): string {
  const script = join(folder, 'node_modules', '@solid', 'community-server', 'bin', 'server.js');
  if (existsSync(script)) return script;
  mkdirSync(folder, { recursive: true });
  writeFileSync(join(folder, 'package.json'), '{"private":true}');
  const words = ['install', '--no-audit', '--no-fund', '--ignore-scripts', `@solid/community-server@${version}`];
  execFileSync('npm', words, { cwd: folder, stdio: 'inherit' });
  return script;
}

/** Fields used from responses of the server. */
interface CssResponse {
  readonly controls: {
    readonly password: { readonly login: string };
    readonly account: { readonly clientCredentials: string };
  };
  readonly authorization: string;
  readonly id: string;
  readonly secret: string;
  readonly access_token: string;
}

async function json(answer: Promise<Answer>): Promise<CssResponse> {
  const { status, text } = await answer;
  if (status !== 200) throw new Error(`${status}: ${text}`);
  return JSON.parse(text) as CssResponse;
}

/** User with an account, and a pod with the user's WebID. */
export class Person {
  private token = '';
  private since = 0;
  private credentials = '';

  constructor(
    private readonly root: string,
    readonly name: string,
  ) {}

  get webId(): string {
    return `${this.root}${this.name}/profile/card#me`;
  }

  /** Creates client credentials for the WebID. */
  async register(): Promise<void> {
    const headers = { Accept: 'application/json' };
    const sent = { ...headers, 'Content-Type': 'application/json' };
    const post = (iri: string, body: unknown, extra = {}): Promise<CssResponse> =>
      json(request(iri, { method: 'POST', headers: { ...sent, ...extra }, body: JSON.stringify(body) }));
    const { controls } = await json(request(`${this.root}.account/`, { headers }));
    const login = await post(controls.password.login, { email: `${this.name}@example.org`, password });
    const account = { Authorization: `CSS-Account-Token ${login.authorization}` };
    const own = await json(request(`${this.root}.account/`, { headers: { ...headers, ...account } }));
    const iri = own.controls.account.clientCredentials;
    const { id, secret } = await post(iri, { name: 'bench', webId: this.webId }, account);
    this.credentials = Buffer.from(`${id}:${secret}`).toString('base64');
  }

  async send(iri: string, { method = 'GET', headers = {}, body }: RequestOptions = {}): Promise<Answer> {
    const own = { Authorization: `DPoP ${await this.fresh()}`, DPoP: proof(method, iri) };
    return request(iri, { method, headers: { ...headers, ...own }, body });
  }

  private async fresh(): Promise<string> {
    if (nowSeconds() < this.since + tokenAge) return this.token;
    const iri = `${this.root}.oidc/token`;
    const found = await json(
      request(iri, {
        method: 'POST',
        headers: {
          Authorization: `Basic ${this.credentials}`,
          'Content-Type': 'application/x-www-form-urlencoded',
          DPoP: proof('POST', iri),
        },
        body: 'grant_type=client_credentials&scope=webid',
      }),
    );
    [this.token, this.since] = [found.access_token, nowSeconds()];
    return this.token;
  }
}

export interface CommunityServer {
  readonly root: string;
  readonly data: string;
  readonly people: readonly Person[];
  stop(): Promise<void>;
}

/** Starts a server with a new data directory, and one pod per name. @param folder directory of the installation and of the data */
export async function startCommunityServer(folder: string, names: readonly string[]): Promise<CommunityServer> {
  const script = installed(folder);
  const port = await freePort();
  const root = `http://localhost:${port}/`;
  const [data, seed] = [join(folder, `data-${port}`), join(folder, `seed-${port}.json`)];
  writeFileSync(
    seed,
    JSON.stringify(names.map((name) => ({ email: `${name}@example.org`, password, pods: [{ name }] }))),
  );
  const words = ['-c', '@css:config/file.json', '-f', data, '-p', String(port), '-b', root, '--seedConfig', seed];
  const env = Object.fromEntries(Object.entries(process.env).filter(([name]) => !/^(?:NODE|CSS)_/.test(name)));
  const child = spawn(process.execPath, [script, ...words, '-l', 'error'], { cwd: folder, env, stdio: 'inherit' });
  process.once('exit', () => child.kill('SIGKILL'));
  await answering(root, child);
  const people = names.map((name) => new Person(root, name));
  for (const person of people) await person.register();
  const stop = async (): Promise<void> => {
    const ended = new Promise<void>((resolve) => child.once('exit', () => resolve()));
    child.kill('SIGTERM');
    await ended;
  };
  return { root, data, people, stop };
}

async function answering(root: string, child: ChildProcess): Promise<void> {
  for (let tries = 0; tries < 600; tries++) {
    if (child.exitCode !== null) throw new Error('The Community Solid Server exited.');
    const answer = await request(root).catch(() => undefined);
    if (answer) return;
    await sleep(200);
  }
  throw new Error('The Community Solid Server does not respond.');
}
