/** Commands while the server is running, with the data directory as their only option (rule 18.3). */
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect } from 'chai';
import { decodeJwt } from 'jose';
import { type Ended, runProcess, type ServerProcess, startProcess } from '../../support/process.js';
import { freePort } from '../../support/server.js';

describe('Base URI of a data directory', function () {
  this.timeout(60_000);
  let server: ServerProcess;
  let folder: string;
  let base: string;
  before(async () => {
    folder = mkdtempSync(join(tmpdir(), 'quadpod-spec-'));
    server = await startProcess({ environment: { LWS_DEV_OPEN: undefined } });
    base = server.root.slice(0, -1);
  });
  after(async () => {
    await server.stop();
    for (const path of [folder, server.dataDir]) rmSync(path, { recursive: true });
  });

  const run = (words: readonly string[], environment = {}): Promise<Ended> =>
    runProcess(words, {
      dataDir: server.dataDir,
      environment: { LWS_BASE_URI: undefined, LWS_DEV_OPEN: undefined, ...environment },
    });
  const audienceOf = ({ stdout, stderr }: Ended): unknown =>
    decodeJwt(/^Credential: (\S+)/m.exec(stdout)?.[1] ?? stderr).aud;

  it('is used for the credential of the command in the banner, which the server accepts (rule 18.3)', async () => {
    const [, hint = ''] = /another link: .*?(owner .*)/.exec(server.output.stderr) ?? [];
    const ended = await runProcess(hint.split(' '), {
      environment: { LWS_BASE_URI: undefined, LWS_DEV_OPEN: undefined, LWS_DATA_DIR: undefined },
    });
    expect(audienceOf(ended), ended.stderr).to.equal(base);
    const [, credential] = /^Credential: (\S+)/m.exec(ended.stdout)!;
    const answer = await fetch(server.root, { headers: { Authorization: `Bearer ${credential}` } });
    expect(answer.status).to.equal(200);
    expect(ended.stdout).to.include(`Sign in at: ${base}/app#`);
  });

  it('is used by import and export to find the server (rule 18.3)', async () => {
    const file = join(folder, 'a.ttl');
    writeFileSync(file, '<> a <urn:x> .');
    const imported = await run(['import', file, '--into', 'in/']);
    expect(imported.code, imported.stderr).to.equal(0);
    expect(imported.stdout).to.include(`${base}/in/: 1 resources created`);
    const exported = await run(['export', 'in/']);
    expect(exported.stdout).to.equal(
      `<${base}/in/a.ttl> <http://www.w3.org/1999/02/22-rdf-syntax-ns#type> <urn:x> <${base}/in/a.ttl> .\n`,
    );
    expect((await run(['settings'])).stdout).to.include(
      `lws.base-uri = ${JSON.stringify(base)}  (the data directory ${server.dataDir})`,
    );
  });

  it('is overridden by an explicit one, with a message (rule 18.3)', async () => {
    const words = ['owner', '--key', join(server.dataDir, 'owner.key')];
    const sentence = (from: string): string =>
      `quadpod: lws.base-uri is http://localhost:1 (from ${from}), but the storage in ${server.dataDir} was created for ${base}/\n`;
    const config = join(folder, 'config.json');
    writeFileSync(config, '{"lws.base-uri": "http://localhost:1"}');
    const given: [Ended, string][] = [
      [await run([...words, '--base-uri=http://localhost:1']), 'flag --base-uri'],
      [await run(words, { LWS_BASE_URI: 'http://localhost:1' }), 'environment LWS_BASE_URI'],
      [await run([...words, '--config', config]), config],
    ];
    for (const [ended, from] of given) {
      expect(audienceOf(ended)).to.equal('http://localhost:1');
      expect(ended.stderr).to.equal(sentence(from));
    }
    // An equal value needs no message.
    expect((await run(words, { LWS_BASE_URI: `${base}/` })).stderr).to.equal('');
  });

  it('is in the message of explain while a server is running: its console and its endpoint', async () => {
    const { code, stderr } = await run(['explain', `${base}/a`]);
    expect(code).to.equal(2);
    expect(stderr).to.equal(
      `quadpod: A server has the storage open. It answers in the console, at ${base}/app#/admin?tab=explain, and to controllers at ` +
        `${base}/.lws/explain?as=URI&method=GET&iri=IRI. Stop it to use this command.\n`,
    );
    expect((await run(['explain', `${base}/a`, '--console.enabled=false'])).stderr).to.equal(
      'quadpod: A server has the storage open. Stop it to use this command.\n',
    );
  });

  it('is kept with lws.storages.address, so that commands find the storages (rule 18.3)', async () => {
    const root = `http://localhost:${await freePort()}/home/`;
    const [address, none] = [root.replace('home/', '{name}/'), { LWS_BASE_URI: undefined, LWS_DEV_OPEN: undefined }];
    const first = await startProcess({
      root,
      environment: { ...none, LWS_BASE_URI: root, LWS_STORAGES_ADDRESS: address },
    });
    const { dataDir } = first;
    const asked = (...words: string[]): Promise<Ended> => runProcess(words, { dataDir, environment: none });
    const added = await asked('storage', 'add', 'alice', 'quota.max-bytes=1000', 'public-read=true');
    expect(added.code, added.stderr).to.equal(0);
    const shown = JSON.parse((await asked('storage', 'show', 'alice')).stdout) as Record<string, unknown>;
    expect(shown['address']).to.equal(address.replace('{name}', 'alice'));
    expect(shown['settings']).to.deep.equal({ 'lws.quota.max-bytes': 1000, 'lws.public-read': true });
    await asked(
      'storage',
      'set',
      'alice',
      'quota.max-bytes=',
      'cors.allowed-origins=https://a.example, https://b.example',
    );
    const { settings } = JSON.parse((await asked('storage', 'show', 'alice')).stdout) as Record<string, unknown>;
    expect(settings).to.deep.equal({
      'lws.public-read': true,
      'lws.cors.allowed-origins': ['https://a.example', 'https://b.example'],
    });
    expect((await asked('storage', 'set', 'alice', 'quota.max-bytes=much')).stderr).to.match(
      /lws\.quota\.max-bytes is "much" .*expected a whole number/,
    );
    await first.stop();
    // A start without them uses them too, and one with none removes them.
    const second = await startProcess({ root, dataDir, environment: none });
    expect((await fetch(address.replace('{name}', 'alice'))).status).not.to.equal(404);
    await second.stop();
    const third = await startProcess({ root, dataDir, environment: { ...none, LWS_STORAGES_ADDRESS: '' } });
    await third.stop();
    expect((await asked('storage', 'list')).stderr).to.match(/Storages have no address\. Set lws\.storages\.address/);
    rmSync(dataDir, { recursive: true });
  });

  it('has the port of lws.listen-port by default, and the banner names the port if they differ (rule 18.3)', async () => {
    const [one, other] = [await freePort(), await freePort()];
    const environment = { LWS_BASE_URI: undefined, LWS_LISTEN_PORT: String(one) };
    const derived = await startProcess({ root: `http://localhost:${one}/`, environment });
    const { dataDir } = derived;
    expect(derived.output.stderr).to.include(`Quadpod serves http://localhost:${one}/ from ${dataDir}\n`);
    expect((await fetch(derived.root)).status).to.equal(200);
    await derived.stop();
    const moved = await startProcess({ dataDir, environment: { ...environment, LWS_LISTEN_PORT: String(other) } });
    expect(moved.output.stderr).to.include(
      `serves http://localhost:${one}/ from ${dataDir}, and listens on port ${other}\n`,
    );
    await moved.stop();
    rmSync(dataDir, { recursive: true });
  });

  it('is a file of one line, unchanged by a start with the same address', () => {
    expect(readFileSync(join(server.dataDir, 'base-uri'), 'utf8')).to.equal(`${base}/\n`);
  });
});
