/** Commands on a storage, run as by an operator, and the log as an audit trail. */

import { rmSync } from 'node:fs';
import { expect } from 'chai';
import { credential, ed25519Identity } from '../../support/identity.js';
import { runProcess, type ServerProcess, startProcess } from '../../support/process.js';
import { until } from '../../support/until.js';

const owner = ed25519Identity();
const other = ed25519Identity();

describe('server/commands', function () {
  this.timeout(120_000);
  let server: ServerProcess;
  const environment = { LWS_OWNERS: owner.did, LWS_ACCESS_CONTROL: 'wac', LWS_LOG_LEVEL: 'info' };
  const send = (method: string, path: string, who: typeof owner | undefined, body?: string): Promise<Response> =>
    fetch(server.root + path, {
      method,
      headers: {
        ...(who ? { Authorization: `Bearer ${credential(who, { aud: server.root.slice(0, -1) })}` } : {}),
        ...(body === undefined ? {} : { 'Content-Type': 'text/turtle' }),
      },
      ...(body === undefined ? {} : { body }),
    });
  const acl = `@prefix acl: <http://www.w3.org/ns/auth/acl#> .
    <#readers> a acl:Authorization ; acl:agent <${other.did}> ; acl:accessTo <> ; acl:default <> ; acl:mode acl:Read .
    <#owner> a acl:Authorization ; acl:agent <${owner.did}> ; acl:accessTo <> ; acl:default <> ;
      acl:mode acl:Read, acl:Write, acl:Control .`;

  before(async () => {
    server = await startProcess({ environment });
    expect((await send('PUT', 'notes/', owner)).status).to.equal(201);
    expect((await send('PUT', 'notes/.acl', owner, acl)).status).to.equal(201);
    expect((await send('PUT', 'notes/a', owner, '<> a <http://example.org/Note> .')).status).to.equal(201);
    expect((await send('PUT', 'notes/a', other, '')).status).to.equal(403);
    expect((await send('GET', 'notes/a', undefined)).status).to.equal(401);
  });
  after(() => rmSync(server.dataDir, { recursive: true, force: true }));

  it('logs every granted and rejected write, with subject, mode, target and rule', async () => {
    const complete = (): string => server.output.stdout.slice(0, server.output.stdout.lastIndexOf('\n'));
    await until(() => complete().includes('"status":401'));
    const lines = complete()
      .split('\n')
      .map((line) => JSON.parse(line) as Record<string, unknown>);
    const granted = lines.find(({ method, path }) => method === 'PUT' && path === '/notes/a');
    expect(granted).to.deep.include({ subject: owner.did, client: owner.did, mode: 'append', granted: true });
    expect(granted?.['target']).to.equal(`${server.root}notes/`);
    expect(granted?.['rule']).to.equal(
      `the ACL of ${server.root}notes/, authorization ${server.root}notes/#owner (acl:agent)`,
    );
    const refused = lines.find(({ status }) => status === 403);
    expect(refused).to.deep.include({
      subject: other.did,
      mode: 'write',
      granted: false,
      target: `${server.root}notes/a`,
    });
    expect(refused?.['rule']).to.equal(`the ACL of ${server.root}notes/ does not allow it`);
    expect(lines.find(({ status }) => status === 401)).to.deep.include({ mode: 'read', granted: false });
    expect(server.output.stdout).not.to.match(/eyJ/);
  });

  it('explains decisions with their rule, and rebuilds and checks the index', async () => {
    expect(await server.stop()).to.equal(0);
    const run = (...words: string[]) => runProcess(words, { ...server, environment });
    const explain = async (...words: string[]): Promise<string> => {
      const { code, stdout, stderr } = await run('explain', ...words);
      expect(code, stderr).to.equal(0);
      return stdout;
    };
    const a = `${server.root}notes/a`;
    expect(await explain('--as', owner.did, '--method', 'PUT', a)).to.match(
      /needs write on .*notes\/a\.\n.* may: the ACL of .*#owner/s,
    );
    expect(await explain('--as', other.did, '--method', 'DELETE', a)).to.include('may not: the ACL of');
    expect(await explain('--as', other.did, '--method', 'PUT', `${server.root}notes/b`)).to.include(
      `needs append on ${server.root}notes/.`,
    );
    expect(await explain('--as', other.did, `${a}.acl`)).to.include(`needs control on ${a}.`);
    expect(await explain('--method', 'GET', a)).to.include('an anonymous client may not');
    expect((await run('explain', '--method', 'GET', 'https://elsewhere.example/')).code).to.equal(2);
    expect((await run('explain')).stderr).to.match(/^quadpod: explain requires one operand: quadpod explain IRI/);
    expect((await run('reindex')).stdout).to.equal('The type index contains 3 resources.\n');
    expect((await run('check')).stdout).to.match(/: all in order\.\n$/);
    expect((await run('rotate-keys')).stdout).to.match(/^Access tokens are now signed with the key [\w-]{43}/);
    expect((await run('help')).stdout).to.match(/rotate-keys .*reindex .*events /s);
  });
});
