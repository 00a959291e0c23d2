/** Rule 17.9, "Powers in an archive": grants and ACLs in an untrusted archive never take effect by default, with any way of import. */
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect } from 'chai';
import { Parser } from 'n3';
import type { AccessList, Member } from '../../lib/exchange/member.js';
import { entryKey } from '../../lib/storage/keys/records.js';
import { by, startOwned } from '../support/attack.js';
import { request } from '../support/http.js';
import { ed25519Identity } from '../support/identity.js';
import { archiveOf, type ReportedImport } from '../support/imports.js';
import { bytesMember } from '../support/members.js';
import { type Ended, runProcess, type ServerProcess } from '../support/process.js';
import { agent, anybody, rule, turtleOf } from '../support/wac.js';
import { zipOf } from '../support/zip.js';

const owner = ed25519Identity();
const stranger = ed25519Identity();
const inbox = 'http://127.0.0.1:9/inbox';
const subscriptionId = 'f0000000-0000-4000-8000-000000000000';

describe('Untrusted archive', function () {
  this.timeout(120_000);
  let server: ServerProcess;
  let folder: string;
  let file: string;
  let isStopped = false;

  const environment = (mode = 'owner'): Record<string, string> => ({
    LWS_DEV_OPEN: 'false',
    LWS_OWNERS: owner.did,
    LWS_PUBLIC_READ: 'false',
    LWS_ACCESS_CONTROL: mode,
    LWS_WEBHOOK_ALLOWED_HOSTS: '127.0.0.1:9',
  });
  const start = async (mode?: string, given?: Pick<ServerProcess, 'root' | 'dataDir'>): Promise<void> => {
    server = await startOwned(owner, environment(mode), given);
    isStopped = false;
  };
  const stop = async (): Promise<void> => {
    if (!isStopped) await server.stop();
    isStopped = true;
  };
  const again = (mode?: string): Promise<void> => start(mode, server);

  const put = (path: string, who = owner): Promise<number> =>
    request(`${server.root}${path}`, {
      method: 'PUT',
      headers: { ...by(server, who), ...(path.endsWith('/') ? {} : { 'Content-Type': 'text/plain' }) },
      ...(path.endsWith('/') ? {} : { body: 'x' }),
    }).then(({ status }) => status);
  const get = (path: string, who = owner) => request(`${server.root}${path}`, { headers: by(server, who) });
  const json = async (path: string): Promise<unknown> => JSON.parse((await get(path)).text);

  const state = (space: string, id: string, value: object): Member => ({
    ...{ kind: 'state', source: space, key: entryKey(space, id) },
    value: JSON.stringify(value),
  });
  const document = (type: string, id: string, targets: readonly string[], creator: string): Member => {
    const space = type === 'AccessGrant' ? 'access-grants' : 'access-requests';
    const access = [
      {
        type: ['AccessPolicy'],
        action: ['read', 'create', 'modify', 'delete'],
        assignee: [stranger.did],
        target: { type: ['StorageResource'], value: targets },
      },
    ];
    const { root } = server;
    const kept = { id: `${root}.lws/${space}/${id}`, type: [type], storage: root, access };
    return state(space, id, { document: kept, creator, created: 1 });
  };
  const subscription = (id: string, topics: readonly string[]): Member =>
    state('subscriptions', id, {
      ...{ id, subscriber: owner.did, topics, inbox, created: 1, expires: 4e12, active: true, failures: 0 },
    });

  /** Content of the attack: full access to the whole storage and to the target of the import. */
  const members = (): Member[] => {
    const { root } = server;
    const into = `${root}in/`;
    const list = new Parser({ baseIRI: `${into}listed` }).parse(
      turtleOf(rule('Read Write Control', agent(stranger)), rule('Read', anybody)),
    );
    return [
      { ...bytesMember('mine', 'text/plain', 'x'), owner: stranger.did },
      { ...bytesMember('listed', 'text/plain', 'x'), acl: { quads: list as never, prefixes: {} } },
      document('AccessGrant', 'whole', [root], owner.did),
      document('AccessGrant', 'secret', [`${into}mine`, `${root}private/secret`], owner.did),
      document('AccessGrant', 'rootless', [root.slice(0, -1)], owner.did),
      document('AccessGrant', 'part', [into], owner.did),
      document('AccessRequest', 'asked', [root], owner.did),
      document('AccessRequest', 'asked-part', [`${into}mine`], stranger.did),
      subscription(subscriptionId, [root]),
      subscription(subscriptionId.replace('f', 'a'), [`${into}mine`]),
      subscription(subscriptionId.replace('f', 'b'), []),
    ];
  };

  beforeEach(async () => {
    await start();
    folder = mkdtempSync(join(tmpdir(), 'quadpod-spec-'));
    file = join(folder, 'gift.zip');
    for (const path of ['private/', 'private/secret', 'in/', 'in/here']) expect(await put(path), path).to.equal(201);
    writeFileSync(file, await archiveOf(`${server.root}in/`, members()));
    const key = owner.privateKey.export({ format: 'jwk' });
    writeFileSync(join(folder, 'owner.key'), JSON.stringify(key), { mode: 0o600 });
  });
  afterEach(async () => {
    await stop();
    for (const path of [folder, server.dataDir]) rmSync(path, { recursive: true });
  });

  /** Over HTTP. */
  const post = async (query: Readonly<Record<string, string>>, body: Uint8Array): Promise<ReportedImport> => {
    const wanted = new URLSearchParams({ into: `${server.root}in/`, 'on-conflict': 'skip', ...query });
    const headers = { ...by(server, owner), 'Content-Type': 'application/zip' };
    const begun = await request(`${server.root}.lws/import?${wanted}`, { method: 'POST', headers, body });
    expect(begun.status, begun.text).to.equal(202);
    const accept = { ...by(server, owner), Accept: 'application/x-ndjson' };
    const told = await request(begun.headers['location']!, { headers: accept });
    return JSON.parse(told.text.trim().split('\n').at(-1)!) as ReportedImport;
  };
  const command = async (mode: string, ...flags: string[]): Promise<Ended> => {
    const { root, dataDir } = server;
    const words = ['import', file, '--into', `${root}in/`, '--on-conflict', 'skip', ...flags];
    if (!isStopped) words.push('--key', join(folder, 'owner.key'));
    const ended = await runProcess(words, { root, dataDir, environment: environment(mode) });
    expect(ended.code, ended.stderr).to.equal(/ 0 left out;/.test(ended.stdout) ? 0 : 3);
    return ended;
  };
  const listed = async (space: string): Promise<string[]> =>
    ((await json(`.lws/${space}`)) as { items: { id: string }[] }).items.map(({ id }) => id.split('/').at(-1)!);

  const expectNoPower = async (): Promise<void> => {
    expect((await get('in/mine')).text).to.equal('x');
    for (const path of ['private/secret', 'in/mine', 'in/here'])
      expect((await get(path, stranger)).status, path).to.equal(404);
    expect(await put('made', stranger)).to.be.oneOf([403, 404]);
    for (const space of ['access-grants', 'access-requests', 'subscriptions'])
      expect(await listed(space), space).to.deep.equal([]);
  };

  it('grants no access over HTTP, and the report lists the omitted parts', async () => {
    const told = await post({}, await archiveOf(`${server.root}in/`, members()));
    await expectNoPower();
    expect(told, JSON.stringify(told)).to.include({ status: 'done', created: 2, leftOut: 10 });
    const text = JSON.stringify(told.report);
    expect(text).to.contain('grants=yes').and.contain('acls=yes');
  });

  it('grants no access with the command on a stopped storage', async () => {
    await stop();
    const { stdout } = await command('owner');
    expect(stdout)
      .to.match(/ 10 left out;/)
      .and.contain('--grants')
      .and.contain('--acls');
    await again();
    await expectNoPower();
  });

  it('grants no access with the command on a running server, and by explicit consent only below the target', async () => {
    const { stdout } = await command('owner');
    expect(stdout)
      .to.match(/ 10 left out;/)
      .and.contain('--grants')
      .and.contain('--acls');
    await expectNoPower();
    const named = await command('owner', '--grants');
    expect(named.stdout).to.contain(`Grants access: ${server.root}in/: ${stranger.did}: AccessGrant of read`);
    await expectPart();
  });

  it('grants no access by default when imported into the root', async () => {
    const told = await post({ into: server.root }, await archiveOf(`${server.root}in/`, members()));
    expect(told.status, told.failure).to.equal('done');
    for (const space of ['access-grants', 'access-requests', 'subscriptions'])
      expect(await listed(space), space).to.deep.equal([]);
    expect((await get('private/secret', stranger)).status).to.equal(404);
  });

  const expectPart = async (): Promise<void> => {
    expect((await get('private/secret', stranger)).status).to.equal(404);
    expect(await put('made', stranger)).to.be.oneOf([403, 404]);
    expect((await get('in/here', stranger)).status).to.equal(200);
    expect(await listed('access-grants')).to.deep.equal(['part']);
    expect(await listed('access-requests')).to.deep.equal(['asked-part']);
    expect(await listed('subscriptions')).to.deep.equal([subscriptionId.replace('f', 'a')]);
    // They belong to the importing controller: other callers cannot revoke them, and they end with that controller's control.
    for (const path of ['access-grants/part', 'access-requests/asked-part']) {
      const { status } = await request(`${server.root}.lws/${path}`, {
        method: 'DELETE',
        headers: by(server, stranger),
      });
      expect(status, path).to.be.oneOf([403, 404]);
    }
  };

  it('grants access below the target if grants are requested explicitly, over HTTP', async () => {
    const bytes = await archiveOf(`${server.root}in/`, members());
    const dry = await post({ grants: 'yes', 'dry-run': '' }, bytes);
    expect(await listed('access-grants')).to.deep.equal([]);
    const told = await post({ grants: 'yes' }, bytes);
    await expectPart();
    for (const { report, leftOut, access } of [dry, told]) {
      expect(leftOut).to.equal(7);
      expect(
        report.filter(({ why }) => /refers to resources outside of the target container/.test(why)),
      ).to.have.length(6);
      expect(access.map(({ why }) => why).join()).to.contain(stranger.did);
    }
  });

  it('grants the same with the command and --grants', async () => {
    await stop();
    await command('owner', '--grants');
    await again();
    await expectPart();
  });

  it('lists each agent of its ACLs in the report, and imports ACLs only on request', async () => {
    await stop();
    rmSync(server.dataDir, { recursive: true });
    await start('wac');
    expect(await put('in/')).to.equal(201);
    const bytes = await archiveOf(`${server.root}in/`, members());
    writeFileSync(file, bytes);
    const expectNamed = ({ access }: ReportedImport): void => {
      const lines = access.filter(({ source }) => source === `${server.root}in/listed`).map(({ why }) => why);
      expect(lines).to.have.members([`${stranger.did}: append, control, delete, read, write.`, 'all callers: read.']);
    };
    expectNamed(await post({ 'dry-run': '' }, bytes));
    expectNamed(await post({ 'dry-run': '', acls: 'yes' }, bytes));
    const told = await post({}, bytes);
    expectNamed(told);
    expect(told.report.map(({ why }) => why).join()).to.contain('acls=yes');
    expect((await get('in/listed', stranger)).status).to.equal(404);
    expect((await get('in/listed.acl')).status).to.equal(404);
    expectNamed(await post({ acls: 'yes', 'on-conflict': 'replace' }, bytes));
    expect((await get('in/listed', stranger)).status).to.equal(200);
    await stop();
    const { stdout } = await command('wac', '--acls', '--dry-run', '--on-conflict', 'replace');
    expect(stdout).to.contain(`${server.root}in/listed: ${stranger.did}`);
  });

  it('lists agents of every effective ACL, also of one in a later part of a graph', async () => {
    await stop();
    rmSync(server.dataDir, { recursive: true });
    await start('wac');
    const iri = `${server.root}in/g`;
    const listOf = (who: string): AccessList => ({
      quads: new Parser({ baseIRI: iri }).parse(
        turtleOf(rule('Control Write', agent(owner)), rule('Read', who)),
      ) as never,
      prefixes: {},
    });
    const part = (index: number, who: string): Member => ({
      ...{ kind: 'rdf', path: 'g', source: '', prefixes: {}, acl: listOf(who) },
      quads: new Parser().parse(
        Array.from({ length: 11_000 }, (_, i) => `<urn:s> <urn:p> "${index} ${i}" .`).join(''),
      ) as never,
      ...(index < 3 ? { hasMore: true } : {}),
    });
    const parts = [agent(owner), agent(owner), agent(owner), agent(stranger)].map((who, index) => part(index, who));
    const told = await post({ acls: 'yes', into: `${server.root}in/` }, await archiveOf(`${server.root}in/`, parts));
    expect(told.status, told.failure).to.equal('done');
    expect(told.access.map(({ why }) => why)).to.include.members([owner, stranger].map(({ did }) => `${did}: read.`));
    expect(told.access).to.have.length(4);
    expect((await get('in/g', stranger)).status).to.equal(200);
  });

  it('omits ACLs from a folder of a Community Solid Server, too', async () => {
    await stop();
    rmSync(server.dataDir, { recursive: true });
    await start('wac');
    const list = turtleOf(rule('Read', agent(stranger), 'accessTo default').replaceAll('<>', '<./>'));
    const bytes = zipOf([
      { name: 'd/.acl', content: list },
      { name: 'd/a.txt', content: 'x' },
    ]);
    const told = await post({ format: 'css' }, bytes);
    expect(told, JSON.stringify(told)).to.include({ status: 'done', leftOut: 1 });
    expect(told.access.map(({ why }) => why).join()).to.contain(stranger.did);
    expect((await get('in/d/a.txt', stranger)).status).to.equal(404);
    expect((await get('in/d/a.txt')).status).to.equal(200);
  });

  it('rejects parameter values other than yes and no', async () => {
    for (const name of ['grants', 'acls']) {
      const headers = { ...by(server, owner), 'Content-Type': 'application/zip' };
      const begun = await request(`${server.root}.lws/import?${name}=true`, { method: 'POST', headers, body: 'x' });
      expect(begun.status, begun.text).to.equal(400);
      expect(begun.text).to.contain(name);
    }
  });
});
