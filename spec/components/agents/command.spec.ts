/** `quadpod agent` and `quadpod connect --mcp` as processes (rule 24.11), with the client of the SDK and the text of docs/agents.md. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, readdirSync, readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { Client } from '@modelcontextprotocol/sdk/client/index.js';
import { StdioClientTransport } from '@modelcontextprotocol/sdk/client/stdio.js';
import { expect } from 'chai';
import { packageRoot } from '../../../lib/tools/threads/package-root.js';
import { Agent, type AgentStorage, post, startAgentStorage, storedQuery } from '../../support/agents.js';
import { request } from '../../support/http.js';
import { type Ended, runProcess } from '../../support/process.js';

const script = join(packageRoot, 'dist/components/main.js');
const page = readFileSync(join(packageRoot, 'docs/agents.md'), 'utf8');

interface Configured {
  readonly command: string;
  readonly args: readonly string[];
}

describe('The command agent (rule 24.11)', function () {
  this.timeout(120_000);
  let s: AgentStorage;
  before(async () => {
    // docs/agents.md describes the tools of these components too.
    s = await startAgentStorage({ 'text-search.enabled': 'true', 'shapes.enabled': 'true' });
  });
  after(() => s.server.stop());
  const environment = () => ({
    ...{ LWS_BASE_URI: s.root.slice(0, -1), LWS_DATA_DIR: s.server.dataDir, LWS_DEV_OPEN: 'false' },
    npm_command: '',
  });
  const run = (...words: string[]): Promise<Ended> => runProcess(['agent', ...words], { environment: environment() });
  const until = '2090-12-31';
  const access = ['--read', '/vocabularies/', '--write', '/notes/', '--until', until];

  it('adds an agent that the printed configuration connects, lists what it did, and ends it', async () => {
    const { code, stdout, stderr } = await run('add', 'librarian', ...access);
    expect(code, stderr).to.equal(0);
    const file = join(s.server.dataDir, 'agents/librarian.key');
    expect(statSync(file).mode & 0o777).to.equal(0o600);
    expect(stdout).to.include(`reads /vocabularies/, reads and writes /notes/ before 2091-01-01T00:00:00.000Z`);
    const [cursor, code_] = [...stdout.matchAll(/^\{\n[\s\S]*?^\}/gm)].map(([text]) => JSON.parse(text));
    expect(Object.keys(cursor.mcpServers)).to.deep.equal(['librarian']);
    expect(code_.servers.librarian.type).to.equal('stdio');
    const { command, args } = cursor.mcpServers.librarian as Configured;
    expect(args.slice(1)).to.deep.equal(['connect', s.root, '--key', file, '--mcp']);
    const client = new Client({ name: 'spec', version: '1' });
    await client.connect(new StdioClientTransport({ command, args: [script, ...args.slice(1)], stderr: 'inherit' }));
    const call = async (name: string, given: Record<string, unknown>): Promise<{ isError?: boolean; text: string }> => {
      const { content, isError } = await client.callTool({ name, arguments: given });
      return { ...(isError === true && { isError }), text: (content as { text: string }[])[0]!.text };
    };
    expect((await call('write', { iri: '/notes/first', content: '<> a <#Note> .' })).text).to.include('created');
    expect((await call('read', { iri: '/private/salary' })).isError).to.equal(true);
    expect((await call('write', { iri: '/vocabularies/x', content: '' })).text).to.include('not allowed');
    const listed = await run('list');
    expect(listed.stdout).to.match(/^librarian {2}did:key:z\w+\n/);
    expect(listed.stdout).to.include(`read /vocabularies/ before 2091-01-01T00:00:00.000Z`);
    expect(listed.stdout).to.include('3 calls since the server started, 2 failed; last: write, 20');
    const removed = await run('remove', 'librarian');
    expect([removed.code, existsSync(file)], removed.stderr).to.deep.equal([0, false]);
    expect((await call('read', { iri: '/vocabularies/skos' })).isError).to.equal(true);
    await client.close();
  });

  it('rejects invalid names, paths and dates, and a name that exists, and leaves nothing behind', async () => {
    expect((await run('add', 'taken', ...access)).code).to.equal(0);
    const rejected: readonly (readonly [words: readonly string[], said: string])[] = [
      [['add', '../x', ...access], 'not a valid name'],
      [['add', 'taken', ...access], 'Agent taken exists'],
      [['add', 'a', '--until', until], 'Name what the agent may use'],
      [['add', 'a', '--read', 'notes/', '--until', until], 'is not a path'],
      [['add', 'a', '--read', '/a/../notes/', '--until', until], 'is not a path'],
      [['add', 'a', '--read', '/absent/', '--until', until], '/absent/ does not exist. Create it first'],
      [['add', 'a', '--read', '/notes/'], '--until is missing'],
      [['add', 'a', '--read', '/notes/', '--until', '2090-02-30'], '--until is 2090-02-30'],
      [['add', 'a', '--read', '/notes/', '--until', '2020-01-01'], 'in the past'],
      [['remove', 'absent'], 'does not exist'],
      [['rename', 'a'], 'Use agent add'],
    ];
    for (const [words, said] of rejected) {
      const { code, stderr } = await run(...words);
      expect([code, stderr.includes(said)], `${words.join(' ')}: ${stderr}`).to.deep.equal([2, true]);
    }
    expect(readdirSync(join(s.server.dataDir, 'agents'))).to.deep.equal(['taken.key']);
    const grants = await request(`${s.root}.lws/access-grants`, { headers: s.owner });
    expect(JSON.parse(grants.text).items.length).to.equal(3);
  });

  it('prints a configuration with npx if npx runs it, whose copy of the package may be deleted', async () => {
    const byNpx = { environment: { ...environment(), npm_command: 'exec' } };
    const { stdout } = await runProcess(['agent', 'add', 'by-npx', ...access], byNpx);
    const [cursor] = [...stdout.matchAll(/^\{\n[\s\S]*?^\}/gm)].map(([text]) => JSON.parse(text));
    const { command, args } = cursor.mcpServers['by-npx'] as Configured;
    expect([command, ...args.slice(0, 4)]).to.deep.equal(['npx', '--yes', 'quadpod', 'connect', s.root]);
    expect((await run('remove', 'by-npx')).code).to.equal(0);
  });

  it('relays messages of a client, and errors in their place', async () => {
    const key = join(s.server.dataDir, 'owner.key');
    const child = spawn(process.execPath, [script, 'connect', s.root, '--key', key, '--mcp']);
    let output = '';
    child.stdout.setEncoding('utf8').on('data', (text: string) => {
      output += text;
    });
    const ping = { jsonrpc: '2.0', id: 'a', method: 'ping' };
    const lines = [JSON.stringify(ping), '{', '', JSON.stringify({ jsonrpc: '2.0', method: 'notifications/x' })];
    child.stdin.end(`${lines.join('\n')}\n${JSON.stringify({ ...ping, id: 'é', method: 'tools/é' })}\n`);
    await once(child, 'close');
    const answers = output
      .trim()
      .split('\n')
      .map((line) => JSON.parse(line));
    expect(answers.length).to.equal(3);
    expect(answers.find(({ id }) => id === 'a').result).to.deep.equal({});
    expect(answers.find(({ id }) => id === null).error.code).to.equal(-32700);
    expect(answers.find(({ id }) => id === 'é').error.code).to.equal(-32601);
  });

  it('has examples in docs/agents.md that work', async () => {
    const [, query] = /```sparql\n([\s\S]*?)\n```/.exec(page)!;
    expect(query).to.equal(storedQuery);
    const [, message] = /--data '([\s\S]*?)'\n```/.exec(page)!;
    const { status, text } = await post(s.root, JSON.parse(message!), s.owner);
    expect(status).to.equal(200);
    expect(JSON.parse(text).result.content[0].text).to.match(/^\?class\t\?count\n/);
    const agent = await Agent.connect(s.root, s.token);
    const names = (await agent.client.listTools()).tools.map(({ name }) => name);
    const documented = [...page.matchAll(/^\| `(\w+)(?:\.\.\.)?` \|/gm)].map(([, name]) => name);
    expect(documented).to.have.members([...names.filter((name) => name !== 'query_labels'), 'query_']);
    const example = /npx quadpod (agent add .*)/.exec(page)![1]!.split(' ');
    expect(example.slice(0, 3)).to.deep.equal(['agent', 'add', 'librarian']);
  });
});
