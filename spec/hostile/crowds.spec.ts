/** Crowds of anonymous callers: a request of the owner waits for few of theirs, at every endpoint that answers them (rule 21.11). */
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { Agent, request as send } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect } from 'chai';
import { standardComponents } from '../../components/index.js';
import { prepareServer } from '../../lib/server/server.js';
import { loadSettings } from '../../lib/settings/settings.js';
import { createLog } from '../../lib/tools/log.js';
import { by, startOwned } from '../support/attack.js';
import { tables } from '../support/deployment.js';
import { request } from '../support/http.js';
import { ed25519Identity } from '../support/identity.js';
import { slowness } from '../support/patience.js';
import type { ServerProcess } from '../support/process.js';

const owner = ed25519Identity();
const connections = 100;
const members = 400;
const settings = { 'webdav.enabled': 'true', 'text-search.enabled': 'true', signposting: 'true' };
const environment = Object.fromEntries(
  Object.entries(settings).map(([name, value]) => [`LWS_${name.replace(/[.-]/g, '_').toUpperCase()}`, value]),
);

interface Asked {
  readonly method: string;
  readonly path: string;
  readonly headers?: Record<string, string>;
  readonly body?: string;
}

const json = { 'Content-Type': 'application/json', Accept: 'application/json, text/event-stream' };
/** Queries that make an endpoint work. */
const queries: Readonly<Record<string, string>> = {
  '.lws/labels': '?prefix=label',
  '.lws/text-search': '?q=label',
  '.lws/type-search': '?type=https%3A%2F%2Fe.example%2FType',
  '.lws/sparql': `?query=${encodeURIComponent('SELECT * { ?s ?p ?o } LIMIT 100')}`,
};

/** Endpoints that answer all callers, from the routes of the server, without the many files of the console. */
async function endpoints(): Promise<readonly Asked[]> {
  const folder = mkdtempSync(join(tmpdir(), 'quadpod-routes-'));
  const flags = { 'base-uri': 'http://localhost:4321', 'data-dir': folder, owners: owner.did, ...settings };
  const prepared = await prepareServer(loadSettings(tables, { flags }), {
    components: standardComponents,
    log: createLog('silent'),
  });
  try {
    return prepared.appContext.routes
      .filter(({ access, path }) => (access === 'public' || access === 'filtered') && !path.includes('/chunk-'))
      .map(({ methods, path: declared }) => {
        const path = declared.replace('{prefix}', '.lws').replace(/^\//, '').replace(/:\w+/g, 'x');
        if (methods.includes('GET')) return { method: 'GET', path: path + (queries[path] ?? '') };
        return { method: methods[0]!, path, headers: json, body: '{"jsonrpc":"2.0","id":1,"method":"tools/list"}' };
      });
  } finally {
    await prepared.close();
    rmSync(folder, { recursive: true, force: true });
  }
}

const listings: readonly Asked[] = [
  { method: 'GET', path: 'pub/', headers: { Accept: 'application/lws+json' } },
  { method: 'GET', path: 'pub/', headers: { Accept: 'text/turtle' } },
  { method: 'PROPFIND', path: 'pub/', headers: { Depth: '1' } },
  { method: 'GET', path: 'pub/r1' },
  { method: 'GET', path: 'pub/r1.meta' },
];

describe('Crowds of anonymous callers', function () {
  this.timeout(300_000);
  let server: ServerProcess;
  const crowd = new Agent({ keepAlive: true, maxSockets: connections });
  const own = new Agent({ keepAlive: true });

  /** Resolves with the status after the end of the response, or its first part for a stream of events. */
  const ask = ({ method, path, headers = {}, body }: Asked, agent: Agent): Promise<number> =>
    new Promise((resolve, reject) => {
      const req = send(server.root + path, { method, headers, agent }, (response) => {
        response.once('end', () => resolve(response.statusCode!)).once('error', reject);
        response.resume();
        if (!String(response.headers['content-type']).startsWith('text/event-stream')) return;
        resolve(response.statusCode!);
        req.destroy();
      });
      req.once('error', reject).end(body);
    });
  /** CPU time of the HTTP thread, in milliseconds. */
  const cpu = (): number =>
    Number(readFileSync(`/proc/${server.pid}/task/${server.pid}/schedstat`, 'utf8').split(' ')[0]) / 1e6;

  const acl = (target: string, isPublic: boolean): string =>
    `@prefix acl: <http://www.w3.org/ns/auth/acl#> .
    <#o> a acl:Authorization ; acl:agent <${owner.did}> ; acl:accessTo <${target}> ; acl:default <${target}> ;
      acl:mode acl:Read, acl:Write, acl:Control .
    ${isPublic ? `<#p> a acl:Authorization ; acl:agentClass <http://xmlns.com/foaf/0.1/Agent> ; acl:accessTo <${target}> ; acl:default <${target}> ; acl:mode acl:Read .` : ''}`;

  before(async function () {
    if (process.platform !== 'linux') this.skip();
    server = await startOwned(owner, { LWS_ACCESS_CONTROL: 'wac', ...environment });
    const turtle = { ...by(server, owner), 'Content-Type': 'text/turtle' };
    const put = async (path: string, body: string): Promise<void> => {
      const answer = await request(server.root + path, { method: 'PUT', headers: turtle, body });
      expect(answer.status, answer.text).to.equal(201);
    };
    expect((await request(`${server.root}pub/`, { method: 'PUT', headers: by(server, owner) })).status).to.equal(201);
    for (let at = 0; at < members; at++)
      await put(`pub/r${at}`, `<#a> <http://www.w3.org/2000/01/rdf-schema#label> "label ${at}" .`);
    await put('pub/.acl', acl(`${server.root}pub/`, true));
    // A hidden member, so that the listing is not the same for all callers.
    await put('pub/r7.acl', acl(`${server.root}pub/r7`, false));
    await put('mine', '<#a> <#b> 1 .');
  });
  after(async () => {
    crowd.destroy();
    own.destroy();
    await server?.kill();
  });

  it('delay no request of an owner by more than 100 ms of CPU time (rule 21.11)', async () => {
    const asked = { method: 'GET', path: 'mine', headers: { ...by(server, owner), Accept: 'text/turtle' } };
    for (const each of [...listings, ...(await endpoints())]) {
      let isOver = false;
      const statuses = new Set<number>();
      const visitor = async (): Promise<void> => {
        while (!isOver) statuses.add(await ask(each, crowd));
      };
      const visitors = Array.from({ length: connections }, visitor);
      let longest = 0;
      for (let times = 0; times < 6; times++) {
        const before = cpu();
        expect(await ask(asked, own)).to.equal(200);
        // Without the first one, which comes before the crowd.
        if (times > 0) longest = Math.max(longest, cpu() - before);
      }
      isOver = true;
      await Promise.all(visitors);
      const what = `${each.method} /${each.path.split('?')[0]} (${[...statuses].join()})`;
      expect(statuses, what).not.to.include(500);
      expect(longest, what).to.be.below(100 * slowness);
    }
  });
});
