/** Settings (rule 18.1): four sources, clear errors, and generated documentation. */
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'chai';
import { standardComponents } from '../../components/index.js';
import { banner } from '../../lib/server/banner.js';
import type { Server } from '../../lib/server/server.js';
import { coreSettings } from '../../lib/server/settings/core-settings.js';
import { blobPlaceOf } from '../../lib/server/storage/open-store.js';
import { assertUsable } from '../../lib/server/storage/usable-settings.js';
import {
  describeSettings,
  integer,
  loadSettings,
  optional,
  type SettingSources,
  SettingsError,
  setByProfile,
  setting,
  text,
} from '../../lib/settings/settings.js';
import { packageRoot } from '../../lib/tools/threads/package-root.js';
import { settingsFile, settingsMarkdown } from '../support/settings-table.js';

// Excludes the environment of the machine.
for (const name of ['AWS_ACCESS_KEY_ID', 'AWS_SECRET_ACCESS_KEY']) delete process.env[name];

const tables = [coreSettings, ...standardComponents.map(({ settings }) => settings)];
const load = (sources: SettingSources) => loadSettings(tables, sources).of(coreSettings);
const check = (flags: Record<string, string>) => {
  const settings = loadSettings(tables, { flags });
  assertUsable(settings, standardComponents);
  blobPlaceOf(settings, standardComponents);
};
const file = (content: unknown) => ({ file: { name: 'config.json', content } });

describe('Settings', () => {
  it('merges defaults, file, environment and flags in this order (rule 18.1)', () => {
    const environment = { LWS_DATA_DIR: 'env', LWS_LOG_LEVEL: 'debug', LWS_UNRELATED: 'x' };
    const flags = { 'lws.log.level': 'warn', 'container.page-size': '7' };
    const settings = load({ ...file({ 'lws.data-dir': 'file', 'lws.system-prefix': '/.file' }), environment, flags });
    expect(settings).to.include({ systemPrefix: '/.file', dataDir: 'env', logLevel: 'warn', pageSize: 7 });
    expect(settings.baseUri).to.equal('http://localhost:8080');
  });

  it('accepts a setting whose name does not begin with lws. as a flag and in the environment', () => {
    const own = { most: setting('audit.max-entries', integer(1), 10, 'Maximum number of entries.') };
    const most = (sources: SettingSources) => loadSettings([...tables, own], sources).of(own).most;
    expect(most({ flags: { 'audit.max-entries': '6' } })).to.equal(6);
    expect(most({ environment: { AUDIT_MAX_ENTRIES: '7' } })).to.equal(7);
  });

  it('reads lists as JSON in the file, separated by commas or spaces elsewhere', () => {
    expect(load(file({ 'lws.owners': ['did:a:b', 'did:c:d'] })).owners).to.deep.equal(['did:a:b', 'did:c:d']);
    expect(load({ environment: { LWS_OWNERS: 'did:a:b, did:c:d' } }).owners).to.deep.equal(['did:a:b', 'did:c:d']);
  });

  it('describes settings without secret values, but with their sources', () => {
    const entry = (name: string) => ({ entry: setting(name, optional(text()), null, 'What it does.') });
    const sources = { environment: { LWS_A_CLIENT_SECRET: 'hidden', LWS_B: 'shown', LWS_D_SECRET_ACCESS_KEY: 'x' } };
    const secret = ['lws.a.client-secret', 'lws.c.password', 'lws.b', 'lws.d.secret-access-key'].map(entry);
    expect(describeSettings(loadSettings(secret, sources))).to.deep.equal([
      { name: 'lws.a.client-secret', doc: 'What it does.', source: 'environment LWS_A_CLIENT_SECRET' },
      { name: 'lws.c.password', doc: 'What it does.', source: 'default', value: null },
      { name: 'lws.b', doc: 'What it does.', source: 'environment LWS_B', value: 'shown' },
      { name: 'lws.d.secret-access-key', doc: 'What it does.', source: 'environment LWS_D_SECRET_ACCESS_KEY' },
    ]);
  });

  const solid = (flags: Record<string, string>, content: object = {}) =>
    loadSettings(tables, { ...file({ 'lws.profile': 'solid', ...content }), flags });

  it('a profile sets unset values, and null means unset (rules 20.1, 20.2)', () => {
    const { accessControl, mask, requireConditionalWrites, corsOrigins } = load({});
    expect([accessControl, mask, requireConditionalWrites, corsOrigins]).to.deep.equal(['owner', true, true, []]);
    const governed = [
      'access-control',
      'mask-forbidden-as-not-found',
      'require-conditional-writes',
      'cors.allowed-origins',
    ];
    const nothing = Object.fromEntries(governed.map((name) => [`lws.${name}`, null]));
    const given = solid({}, nothing);
    expect(given.of(coreSettings)).to.deep.include({
      profile: 'solid',
      accessControl: 'wac',
      mask: false,
      requireConditionalWrites: false,
      corsOrigins: ['*'],
    });
    expect(setByProfile(given)).to.deep.equal([
      'lws.access-control=wac',
      'lws.mask-forbidden-as-not-found=false',
      'lws.require-conditional-writes=false',
      'lws.cors.allowed-origins=*',
    ]);
    expect(given.all().filter(({ source }) => source === 'lws.profile=solid')).to.have.length(4);
    expect(setByProfile(loadSettings(tables, file(nothing)))).to.deep.equal([]);
  });

  it('the start prints the values set by the profile, and nothing without a profile (rule 20.1)', async () => {
    const printed = (settings: ReturnType<typeof solid>) =>
      banner({ baseUri: 'https://pod.example', mintedOwner: undefined } as Server, settings, undefined);
    expect(await printed(solid({ 'access-control': 'owner' }))).to.match(
      /The profile solid sets lws\.mask-forbidden-as-not-found=false, lws\.require-conditional-writes=false, lws\.cors\.allowed-origins=\*\n/,
    );
    expect(await printed(loadSettings(tables, {}))).to.not.match(/profile/);
  });

  it('an explicit value wins, even an empty list and the default; a later null unsets it (rule 20.1)', () => {
    const won = solid(
      { 'cors.allowed-origins': '' },
      { 'lws.access-control': 'owner', 'lws.require-conditional-writes': true },
    );
    expect(setByProfile(won)).to.deep.equal(['lws.mask-forbidden-as-not-found=false']);
    expect(won.of(coreSettings)).to.deep.include({
      accessControl: 'owner',
      requireConditionalWrites: true,
      corsOrigins: [],
    });
    expect(setByProfile(solid({ 'access-control': '' }, { 'lws.access-control': 'owner' }))).to.include(
      'lws.access-control=wac',
    );
  });

  const refusals: [string, SettingSources, RegExp][] = [
    [
      'an unknown key, with the nearest name',
      file({ 'lws.base-url': 'x' }),
      /lws\.base-url.*config\.json.*lws\.base-uri/,
    ],
    ['an unknown flag', { flags: { 'data-dri': 'x' } }, /lws\.data-dri.*flag.*lws\.data-dir/],
    ['a wrong type', file({ 'lws.dev.open': 'yes' }), /lws\.dev\.open.*"yes".*true or false/],
    [
      'a number out of range',
      { environment: { LWS_LISTEN_PORT: '70000' } },
      /lws\.listen-port.*70000.*65535.*LWS_LISTEN_PORT|lws\.listen-port.*70000.*LWS_LISTEN_PORT.*65535/,
    ],
    ['an unknown profile', { flags: { profile: 'liquid' } }, /lws\.profile.*"liquid".*one of solid/],
    ['null without a profile', file({ 'lws.public-read': null }), /lws\.public-read.*null/],
    ['an unknown choice', { flags: { 'access-control': 'none' } }, /lws\.access-control.*one of owner/],
    ['a file that is not an object', file([1]), /config\.json/],
    ...[
      's3://b',
      's3://Bucket',
      's3://bucket//a',
      's3://bucket/../a',
      's3://bucket/a b',
      'https://bucket',
      '/folder',
    ].map((blobs): [string, SettingSources, RegExp] => [
      `the bucket ${blobs}`,
      { flags: { blobs } },
      /lws\.blobs is ".*" \(from flag --blobs\); expected s3:\/\/bucket or s3:\/\/bucket\/prefix/,
    ]),
    [
      'an S3 store with a path',
      { flags: { 'blobs.s3.endpoint': 'https://a/b' } },
      /lws\.blobs\.s3\.endpoint.*without a path/,
    ],
  ];
  for (const [what, sources, message] of refusals)
    it(`rejects ${what}, naming key, value, expectation and source`, () => {
      expect(() => load(sources)).to.throw(SettingsError, message);
    });

  const unusable: [string, Record<string, string>, RegExp][] = [
    ['no owners away from loopback (rule 5.2)', { 'base-uri': 'https://pod.example' }, /lws\.owners/],
    [
      'dev.open with require-https',
      { 'dev.open': 'true', 'require-https': 'true', 'behind-proxy': 'true' },
      /lws\.dev\.open.*lws\.require-https/,
    ],
    ['* CORS in open mode', { 'dev.open': 'true', 'cors.allowed-origins': '*' }, /lws\.cors\.allowed-origins/],
    ['a CORS origin with a path', { 'cors.allowed-origins': 'https://a.example/x' }, /lws\.cors\.allowed-origins/],
    [
      'require-https on a plain base URI off loopback',
      { 'base-uri': 'http://pod.example', 'require-https': 'true', owners: 'did:a:b', 'behind-proxy': 'true' },
      /lws\.require-https/,
    ],
    ['an invalid base URI', { 'base-uri': 'localhost' }, /lws\.base-uri/],
    ['a base URI with a query', { 'base-uri': 'http://localhost/?a' }, /lws\.base-uri/],
    ['an owner that is not a URI', { owners: 'me' }, /lws\.owners/],
    ['a system prefix of two segments', { 'system-prefix': '/a/b' }, /lws\.system-prefix/],
    [
      'dev.open under the Solid profile (rule 20.2)',
      { 'dev.open': 'true', profile: 'solid' },
      /lws\.dev\.open.*lws\.access-control=wac.*lws\.profile=solid/,
    ],
    [
      'every origin of the Solid profile in open mode',
      { 'dev.open': 'true', profile: 'solid', 'access-control': 'owner' },
      /lws\.cors\.allowed-origins/,
    ],
    [
      'dev.open in Web Access Control, which would give nobody access',
      { 'dev.open': 'true', 'access-control': 'wac' },
      /lws\.dev\.open.*lws\.access-control=wac/,
    ],
    [
      'a bucket without a key',
      { blobs: 's3://bucket/a' },
      /lws\.blobs is "s3:\/\/bucket\/a", which requires a key.* lws\.blobs\.s3\.access-key-id/,
    ],
    [
      'half a key for a bucket',
      { blobs: 's3://bucket', 'blobs.s3.secret-access-key': 'hidden' },
      /^(?!.*hidden)lws\.blobs\.s3\.access-key-id is null, but lws\.blobs\.s3\.secret-access-key is set/,
    ],
    [
      'an S3 store without a bucket',
      { 'blobs.s3.endpoint': 'https://s3.example' },
      /lws\.blobs\.s3\.endpoint is "https:\/\/s3\.example", but lws\.blobs names no bucket/,
    ],
    ['one setting, naming it and its source', { 'base-uri': 'x' }, /\(lws\.base-uri from flag --base-uri\)$/],
    [
      'two settings, naming both and their sources',
      { 'dev.open': 'true', 'access-control': 'wac', 'cors.max-age-seconds': '1' },
      /\(lws\.dev\.open from flag --dev\.open, lws\.access-control from flag --access-control\)$/,
    ],
  ];
  for (const [what, flags, message] of unusable)
    it(`refuses to start with ${what}`, () => {
      expect(() => check(flags)).to.throw(SettingsError, message);
    });

  it('rejects lws.store without the component shared-storage', () => {
    const settings = loadSettings(tables, { flags: { store: 'postgres://user@db.example/lws' } });
    assertUsable(settings, standardComponents);
    const others = standardComponents.filter(({ name }) => name !== 'shared-storage');
    expect(() => assertUsable(settings, others)).to.throw(
      SettingsError,
      /^lws\.store is "postgres:.*Add shared-storage, or unset lws\.store\. \(lws\.store from flag --store\)$/,
    );
  });

  it('accepts the identities of rule 5.1', () => {
    for (const flags of [
      {},
      { 'base-uri': 'http://127.0.0.1:1' },
      { 'base-uri': 'https://a.example', owners: 'did:a:b' },
      { 'base-uri': 'http://a.example', 'dev.open': 'true' },
      { 'access-control': 'wac', 'dev.open': 'true', owners: 'did:a:b' },
    ])
      check(flags as unknown as Record<string, string>);
  });

  it('keeps config.json and the table of docs/settings.md equal to the entries (QUADPOD_WRITE=1 writes them)', () => {
    const readme = join(packageRoot, 'docs/settings.md');
    const markers = /(<!-- settings -->\n)[\s\S]*?(\n<!-- \/settings -->)/;
    const text = readFileSync(readme, 'utf8');
    const expected = text.replace(markers, (_all, begin, end) => begin + settingsMarkdown(tables) + end);
    if (process.env['QUADPOD_WRITE']) {
      writeFileSync(join(packageRoot, 'config.json'), settingsFile(tables));
      writeFileSync(readme, expected);
    }
    expect(readFileSync(join(packageRoot, 'config.json'), 'utf8')).to.equal(settingsFile(tables));
    expect(text).to.match(markers);
    expect(readFileSync(readme, 'utf8')).to.equal(expected);
  });
});
