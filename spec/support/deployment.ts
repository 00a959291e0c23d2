/**
 * With `QUADPOD_SPECS_STORAGE=57`, specs use one of a hundred storages of a deployment, at `/s57/`. With `QUADPOD_SPECS_BY=host`
 * it is at `http://s57.localhost/`. Storages in open mode are served by a server of their own.
 */
import dns from 'node:dns';
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { standardComponents } from '../../components/index.js';
import { coreSettings } from '../../lib/server/settings/core-settings.js';
import { StorageRegistry } from '../../lib/server/storages/storage-registry.js';
import { loadSettings } from '../../lib/settings/settings.js';

const { QUADPOD_SPECS_STORAGE: number, QUADPOD_SPECS_BY: by } = process.env;
if (by === 'host') {
  // RFC 6761 6.3: names below `localhost` are loopback addresses. Not every resolver implements this.
  const { lookup } = dns;
  dns.lookup = ((name: string, ...rest: [never, never]) =>
    lookup(name.endsWith('.localhost') ? 'localhost' : name, ...rest)) as typeof lookup;
}
export const isDeploymentRun = number !== undefined;
export const tables = [coreSettings, ...standardComponents.map((component) => component.settings)];

type Flags = Readonly<Record<string, string>>;

export interface Placed {
  /** Settings of the deployment. */
  readonly flags: Flags;
  /** Base URI and directory of the storage. */
  readonly base: string;
  readonly folder: string;
}

/** True if a storage of a deployment supports these settings. */
export const canBeInDeployment = (settings: Flags): boolean => isDeploymentRun && settings['dev.open'] !== 'true';

/** Creates a storage of a deployment with the settings of a standalone server. */
export async function placeInDeployment(
  settings: Flags,
  { origin: asked, dataDir }: { origin: string; dataDir: string },
): Promise<Placed> {
  const name = `s${number}`;
  // After a restart, the origin is that of the storage.
  const origin = asked.replace(`//${name}.`, '//');
  const known = new Map(tables.flatMap((table) => Object.values(table)).map((setting) => [setting.name, setting]));
  const isOwn = (key: string): boolean => known.get(`lws.${key}`)?.scope === 'storage' && key !== 'owners';
  const own = Object.entries(settings).filter(([key]) => isOwn(key));
  const flags = {
    ...Object.fromEntries(Object.entries(settings).filter(([key]) => !isOwn(key) && key !== 'owners')),
    'base-uri': by === 'host' ? origin : `${origin}/home`,
    'data-dir': dataDir,
    'storages.address': by === 'host' ? `${origin.replace('//', '//{name}.')}/` : `${origin}/{name}/`,
    'storages.quota-bytes': '0',
  };
  const folder = join(dataDir, 'storages');
  mkdirSync(folder, { recursive: true });
  for (let each = 1; each <= 100; each++)
    if (`s${each}` !== name)
      writeFileSync(
        join(folder, `s${each}.json`),
        JSON.stringify({
          name: `s${each}`,
          id: 'x',
          owners: [],
          settings: {},
          state: 'ready',
          created: '2026-01-01T00:00:00Z',
          revision: 'x',
        }),
      );
  const registry = StorageRegistry.of(loadSettings(tables, { flags }), standardComponents)!;
  const before = registry.get(name);
  const gone = Object.keys(before?.settings ?? {}).map((key) => [key, null]);
  await registry.change(name, {
    ...(before ? {} : { revision: null }),
    owners: settings['owners']?.split(/[\s,]+/) ?? [],
    settings: { ...Object.fromEntries(gone), ...Object.fromEntries(own.map(([key, value]) => [`lws.${key}`, value])) },
  });
  return { flags, base: registry.addressOf(name).slice(0, -1), folder: registry.records.folderOf(name) };
}
