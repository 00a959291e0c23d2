/**
 * `QUADPOD_SPECS_STORAGE=57`: the storage of a spec is one of a hundred of a deployment, at `/s57/`; with
 * `QUADPOD_SPECS_BY=host`, at `http://s57.localhost/`. Storages that have no owner, or whose path a spec chooses, are served as they are.
 */
import dns from 'node:dns';
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { standardComponents } from '../../components/index.js';
import { coreSettings } from '../../lib/server/settings/core-settings.js';
import { StorageRegistry } from '../../lib/server/storages/storage-registry.js';
import { loadSettings } from '../../lib/settings.js';

const { QUADPOD_SPECS_STORAGE: number, QUADPOD_SPECS_BY: by } = process.env;
if (by === 'host') {
  // RFC 6761 6.3: such names are of this machine, which not every resolver knows.
  const { lookup } = dns;
  dns.lookup = ((name: string, ...rest: [never, never]) =>
    lookup(name.endsWith('.localhost') ? 'localhost' : name, ...rest)) as typeof lookup;
}
export const isDeploymentRun = number !== undefined;
export const tables = [coreSettings, ...standardComponents.map((component) => component.settings)];

type Flags = Readonly<Record<string, string>>;

export interface Placed {
  /** The settings of the deployment. */
  readonly flags: Flags;
  /** The base URI of the storage, and its folder. */
  readonly base: string;
  readonly folder: string;
}

/** Whether settings are such as a storage of a deployment can have. */
export const canBeInDeployment = (settings: Flags): boolean => isDeploymentRun && settings['dev.open'] !== 'true';

/** Makes a storage of a deployment with the settings of a server of its own. */
export async function placeInDeployment(
  settings: Flags,
  { origin: asked, dataDir }: { origin: string; dataDir: string },
): Promise<Placed> {
  const name = `s${number}`;
  // That of a server that starts again is the storage's own.
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
