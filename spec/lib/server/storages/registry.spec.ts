/** Configuration records of storages (rule 21.3): serialized changes, validated, and followed by a running server. */
import {
  copyFileSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  utimesSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect } from 'chai';
import { standardComponents } from '../../../../components/index.js';
import { StorageRegistry, settingsOfStorage } from '../../../../lib/server/storages/storage-registry.js';
import { loadSettings, type Settings } from '../../../../lib/settings/settings.js';
import type { LwsError } from '../../../../lib/tools/errors.js';
import { tables } from '../../../support/deployment.js';
import { ed25519Identity } from '../../../support/identity.js';

describe('Registry of storages (rule 21.3)', () => {
  let dataDir: string;
  let settings: Settings;
  let registry: StorageRegistry;
  const open = (): StorageRegistry => StorageRegistry.of(settings, standardComponents)!;
  const code = (work: Promise<unknown>): Promise<string> =>
    work.then(
      () => 'done',
      (error: LwsError) => error.code ?? String(error),
    );

  beforeEach(() => {
    dataDir = mkdtempSync(join(tmpdir(), 'quadpod-registry-'));
    const flags = {
      'base-uri': 'http://localhost:1/home',
      'data-dir': dataDir,
      'storages.address': 'http://localhost:1/{name}/',
    };
    settings = loadSettings(tables, { flags: { ...flags, 'storages.max': '60' } });
    registry = open();
  });
  afterEach(() => {
    registry.records.close();
    rmSync(dataDir, { recursive: true });
  });

  it('a storage is created, changed, removed and restored, and has its settings', async () => {
    const { did } = ed25519Identity();
    const made = await registry.change('alice', {
      revision: null,
      owners: [did],
      settings: { 'lws.public-read': 'true' },
    });
    expect(made).to.include({ name: 'alice', state: 'ready' });
    const changed = await registry.change('alice', {
      settings: { 'lws.container.page-size': 7 },
      revision: made.revision,
    });
    expect(changed.id).to.equal(made.id);
    expect(changed.settings).to.deep.equal({ 'lws.public-read': true, 'lws.container.page-size': 7 });
    await registry.change('alice', { settings: { 'lws.public-read': null } });
    const own = settingsOfStorage(settings, 'alice', standardComponents);
    const value = (name: string): unknown => own.all().find(({ setting }) => setting.name === name)!.value;
    expect(value('lws.container.page-size')).to.equal(7);
    expect(value('lws.public-read')).to.equal(false);
    expect(value('lws.owners')).to.deep.equal([did]);
    expect(value('lws.base-uri')).to.equal('http://localhost:1/alice');
    expect(value('lws.data-dir')).to.equal(join(dataDir, 'storages/alice'));
    expect(value('lws.quota.max-bytes')).to.equal(1 << 30);
    const { deleted } = await registry.change('alice', { state: 'deleted' });
    expect(Date.parse(deleted!)).to.be.closeTo(Date.now(), 60_000);
    expect(await code(registry.change('alice', { revision: null }))).to.equal('already-exists');
    expect(await registry.change('alice', { state: 'ready' })).not.to.have.property('deleted');
  });

  for (const [what, change, wanted] of [
    ['a name in capitals', () => registry.change('Alice', { revision: null }), 'reserved-name'],
    ['a path', () => registry.change('../x', { revision: null }), 'reserved-name'],
    ['a reserved name', () => registry.change('www', { revision: null }), 'reserved-name'],
    ['the name of the home', () => registry.change('home', { revision: null }), 'reserved-name'],
    ['a change of a nonexistent storage', () => registry.change('bob', { state: 'suspended' }), 'not-found'],
    ['an invalid owner', () => registry.change('bob', { revision: null, owners: ['did:key:z6Mk'] }), 'malformed-body'],
    [
      'a setting of the operator',
      () => registry.change('bob', { revision: null, settings: { 'lws.listen-port': 1 } }),
      'malformed-body',
    ],
    [
      'owners as a setting',
      () => registry.change('bob', { revision: null, settings: { 'lws.owners': [] } }),
      'malformed-body',
    ],
    [
      'an unknown setting',
      () => registry.change('bob', { revision: null, settings: { 'lws.frob': 1 } }),
      'malformed-body',
    ],
    [
      'an invalid value',
      () => registry.change('bob', { revision: null, settings: { 'lws.public-read': 'perhaps' } }),
      'malformed-body',
    ],
    [
      'conflicting settings',
      () =>
        registry.change('bob', { revision: null, settings: { 'lws.cors.allowed-origins': 'https://x.example/path' } }),
      'malformed-body',
    ],
  ] as const)
    it(`rejects ${what}, and leaves nothing behind`, async () => {
      expect(await code(change())).to.equal(wanted);
      expect(readdirSync(registry.records.folder)).to.deep.equal([]);
    });

  it('a change based on an outdated state is rejected', async () => {
    const { revision } = await registry.change('alice', { revision: null });
    await registry.change('alice', { state: 'suspended' });
    expect(await code(registry.change('alice', { state: 'ready', revision }))).to.equal('precondition-failed');
  });

  it('a storage that is being deleted cannot be restored', async () => {
    await registry.change('alice', { revision: null });
    await registry.change('alice', { state: 'deleted', isForGood: true });
    expect(await code(registry.change('alice', { state: 'ready' }))).to.equal('conflict');
  });

  it('concurrent changes are based on the same state, and one of them succeeds', async () => {
    const others = Array.from({ length: 5 }, open);
    const made = await Promise.all(others.map((each) => code(each.change('alice', { revision: null }))));
    expect(made.sort()).to.deep.equal(['already-exists', 'already-exists', 'already-exists', 'already-exists', 'done']);
    const settingOf = (each: number) => ({
      settings: {
        [`lws.${['public-read', 'audience', 'cors.max-age-seconds', 'linkset.max-bytes', 'dpop.require'][each]}`]: [
          'true',
          'a:b',
          5,
          100,
          'true',
        ][each],
      },
    });
    await Promise.all(others.map((each, index) => each.change('alice', settingOf(index))));
    expect(Object.keys(open().get('alice')!.settings)).to.have.length(5);
    expect(readdirSync(registry.records.folder)).to.deep.equal(['alice.json']);
  });

  it('a crashed change does not block others for long', async () => {
    await registry.change('alice', { revision: null });
    const draft = join(registry.records.folder, 'alice.json.new');
    writeFileSync(draft, 'half');
    const before = new Date(Date.now() - 60_000);
    utimesSync(draft, before, before);
    expect(await code(registry.change('alice', { state: 'suspended' }))).to.equal('done');
  });

  it('the number of storages is limited by the setting', async () => {
    for (let each = 0; each < 60; each++) await registry.change(`s${each}`, { revision: null });
    expect(await code(registry.change('s60', { revision: null }))).to.equal('quota-exceeded');
    expect(await code(registry.change('s0', { state: 'suspended' }))).to.equal('done');
  });

  it('a server follows changes by a command', async () => {
    const heard = new Promise<string>((resolve) => registry.records.watch(resolve, resolve as never));
    await open().change('alice', { revision: null });
    expect(await heard).to.equal('alice');
    expect(registry.get('alice')).to.include({ state: 'ready' });
  });

  for (const [what, change] of [
    ['a truncated record', (text: string) => text.slice(0, 30)],
    ['a record with another structure', () => '[]'],
    ['a record with an unknown state', (text: string) => text.replace('"suspended"', '"suspend"')],
    ['a record without settings', (text: string) => text.replace('"settings"', '"setings"')],
  ] as const)
    it(`${what} ends no server: the previous record stays in use, and a command names the file`, async () => {
      await registry.change('alice', { revision: null, state: 'suspended' });
      const troubles: unknown[] = [];
      const changes: string[] = [];
      const heard = new Promise<void>((resolve) =>
        registry.records.watch(
          (name) => {
            changes.push(name);
            if (name === 'bob') resolve();
          },
          (error) => troubles.push(error),
        ),
      );
      const file = join(registry.records.folder, 'alice.json');
      writeFileSync(file, change(readFileSync(file, 'utf8')));
      writeFileSync(join(registry.records.folder, 'no name.json'), '{');
      const other = StorageRegistry.of(settings, standardComponents, (error) => troubles.push(error))!;
      expect(other.all()).to.deep.equal([]);
      await other.change('bob', { revision: null });
      await heard;
      expect(String(troubles[0])).to.include(file);
      expect(changes).to.deep.equal(['bob']);
      expect(registry.get('alice')).to.include({ state: 'suspended' });
      expect(await code(registry.change('alice', { state: 'ready' }))).to.equal('conflict');
      expect(open).to.throw(file);
    });

  it('a storage with a removed setting can be suspended and removed, but not resumed', async () => {
    await registry.change('alice', { revision: null });
    const file = join(registry.records.folder, 'alice.json');
    writeFileSync(file, readFileSync(file, 'utf8').replace('"settings": {}', '"settings": {"lws.gone": 1}'));
    expect(await code(registry.change('alice', { state: 'suspended' }))).to.equal('done');
    expect(await code(registry.change('alice', { state: 'ready' }))).to.equal('malformed-body');
    expect(await code(registry.change('alice', { state: 'deleted' }))).to.equal('done');
  });

  it('a copy of a record belongs to the name of its file', async () => {
    await registry.change('alice', { revision: null });
    const file = (name: string): string => join(registry.records.folder, `${name}.json`);
    copyFileSync(file('alice'), file('bob'));
    expect(open().get('bob')).to.include({ name: 'bob' });
  });

  it('a manual change is followed, too', async () => {
    await registry.change('alice', { revision: null });
    const heard = new Promise<string>((resolve) => registry.records.watch(resolve, resolve as never));
    const file = join(registry.records.folder, 'alice.json');
    writeFileSync(`${file}.mine`, readFileSync(file, 'utf8').replace('"ready"', '"suspended"'));
    renameSync(`${file}.mine`, file);
    expect(await heard).to.equal('alice');
    expect(registry.get('alice')).to.include({ state: 'suspended' });
  });

  it('does not overwrite or delete a newer record after its lock expired', async () => {
    await registry.change('alice', { revision: null });
    const draft = join(registry.records.folder, 'alice.json.new');
    const late = registry.records.change('alice', (present) => {
      rmSync(draft);
      writeFileSync(draft, 'half');
      return { ...present!, state: 'suspended' };
    });
    expect(await code(late)).to.equal('too-busy');
    expect(readFileSync(draft, 'utf8')).to.equal('half');
    expect(open().get('alice')).to.include({ state: 'ready' });
  });

  it('excludes storages without owners, and several servers', () => {
    for (const [key, value] of [
      ['dev.open', 'true'],
      ['store', 'postgres://localhost/x'],
    ] as const) {
      const flags = {
        'base-uri': 'http://localhost:1/home',
        'storages.address': 'http://localhost:1/{name}/',
        [key]: value,
      };
      expect(() => StorageRegistry.of(loadSettings(tables, { flags }), standardComponents)).to.throw(`lws.${key}`);
    }
  });
});
