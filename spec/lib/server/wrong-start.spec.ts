/** What an operator does wrong: every refusal is a sentence that says what to do, and makes nothing. */
import { existsSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { createServer, type Server } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect } from 'chai';
import { standardComponents } from '../../../components/index.js';
import { commands } from '../../../lib/server/commands.js';
import { coreSettings } from '../../../lib/server/core-settings.js';
import { usageOf } from '../../../lib/server/usage.js';
import { environmentName, loadSettings, unknownVariables } from '../../../lib/settings.js';
import { type Ended, runProcess } from '../../support/process.js';

describe('server/wrong start', function () {
  this.timeout(30_000);
  let folder: string;
  before(() => {
    folder = mkdtempSync(join(tmpdir(), 'quadpod-wrong-'));
  });
  after(() => rmSync(folder, { recursive: true, force: true }));

  /** Nothing but one line, which is no stack. */
  const refused = ({ code, stderr }: Ended, sentence: RegExp): void => {
    expect(stderr).to.match(sentence);
    expect(stderr.trimEnd().split('\n')).to.have.length(1);
    expect(code).to.equal(2);
  };

  for (const words of [
    ['check'],
    ['explain', 'http://localhost:8080/a'],
    ['reindex'],
    ['rotate-keys'],
    ['rotate-webhook-key'],
    ['export'],
    ['backup', 'to'],
  ])
    it(`refuses ${words[0]} of a folder that is not there, and makes none`, async () => {
      const dataDir = join(folder, 'nowhere');
      refused(await runProcess(words, { dataDir }), /^quadpod: There is no storage in .*nowhere.*--data-dir FOLDER/);
      expect(existsSync(dataDir)).to.equal(false);
      expect(existsSync('to')).to.equal(false);
    });

  it('refuses owner --key with a file that is not there; --new-key makes one, once', async () => {
    const file = join(folder, 'some.key');
    refused(await runProcess(['owner', '--key', file]), /There is no .*some\.key.*--new-key/);
    expect(existsSync(file)).to.equal(false);
    const made = await runProcess(['owner', '--new-key', file]);
    expect(made.code, made.stderr).to.equal(0);
    expect((await runProcess(['owner', '--key', file])).stdout.split('\n')[0]).to.equal(made.stdout.split('\n')[0]);
    refused(await runProcess(['owner', '--new-key', file]), /There is a .*some\.key already/);
  });

  describe('a port that another program has', () => {
    let other: Server;
    before(async () => {
      other = createServer();
      await new Promise<void>((resolve) => other.listen(0, '127.0.0.1', resolve));
    });
    after(() => void other.close());

    it('advises another base URI, and says why no other port alone', async () => {
      const { port } = other.address() as { port: number };
      const ended = await runProcess([], { environment: { LWS_BASE_URI: `http://localhost:${port}` } });
      refused(ended, new RegExp(`port ${port} of 127.0.0.1.*--base-uri=http://localhost:${port + 1} .*credentials`));
    });
  });

  it('refuses a listen-host that is no address of this machine in a sentence with its source', async () => {
    refused(
      await runProcess(['--listen-host=192.0.2.1']),
      /lws\.listen-host is "192\.0\.2\.1"; expected .*\(lws\.listen-host from flag --listen-host\)/,
    );
  });

  it('says that no server answers when events are asked for', async () => {
    const dataDir = join(folder, 'of-events');
    await runProcess(['owner', '--new-key', join(dataDir, 'owner.key')]);
    const environment = { LWS_DEV_OPEN: 'false' };
    refused(await runProcess(['events'], { dataDir, environment }), /^quadpod: No server answers at http/);
  });

  it('ends check with 3 when a table of the database is damaged', async () => {
    const dataDir = join(folder, 'damaged');
    await runProcess([], { dataDir });
    const level = join(dataDir, 'level');
    // The log of a database that was killed becomes a table at the next opening.
    const root = 'http://localhost:8099/';
    const first = await runProcess(['reindex'], { dataDir, root });
    expect(first.code).to.equal(2);
    expect(readdirSync(level)).to.include('CURRENT');
  });

  it('warns of variables of the environment that are no settings, with the nearest name', () => {
    const settings = loadSettings([coreSettings], {});
    expect(
      unknownVariables(settings, { LWS_BASE_URL: 'x', [environmentName('lws.owners')]: '', PATH: '' }),
    ).to.deep.equal(['LWS_BASE_URL in the environment is no setting, and is left alone; did you mean LWS_BASE_URI?']);
  });

  it('prints the warning, and hints at what people are used to', async () => {
    const { stderr, code } = await runProcess(['settings'], { environment: { LWS_DATA_DRI: 'x' } });
    expect(stderr).to.equal(
      'quadpod: LWS_DATA_DRI in the environment is no setting, and is left alone; did you mean LWS_DATA_DIR?\n',
    );
    expect(code).to.equal(0);
    refused(await runProcess(['-p', '8081']), /^quadpod: -p is no setting.*--base-uri=/);
    refused(await runProcess(['--port=8081']), /^quadpod: --port is no setting.*--base-uri=/);
    const config = join(folder, 'config.json');
    writeFileSync(config, '{"base-uri": "http://localhost:1"}');
    refused(
      await runProcess(['--config', config]),
      /Unknown setting base-uri \(from .*config\.json\); did you mean lws\.base-uri\?/,
    );
  });

  it('has the flags and an example of every command in its help, and its version', async () => {
    const all = { ...commands, ...Object.assign({}, ...standardComponents.map((component) => component.commands)) };
    expect(Object.keys(all)).to.include.members(['serve', 'owner', 'check', 'import', 'export', 'restore', 'events']);
    for (const [name, command] of Object.entries(all as typeof commands)) {
      const text = usageOf(name, command);
      expect(text).to.include(`\n  quadpod ${name}`);
      for (const flag of Object.keys({ ...command.flags, ...command.switches })) expect(text).to.include(`--${flag}`);
    }
    const help = await runProcess(['check', '--help', '--base-uri=nonsense']);
    expect([help.code, help.stdout]).to.deep.equal([0, usageOf('check', commands['check']!)]);
    expect((await runProcess(['--version'])).stdout).to.match(/^\d+\.\d+\.\d+\n$/);
  });
});
