/** `quadpod storage`: changes the configuration records of storages. A running server applies the changes. */

import { askServer } from '../../lib/component/commands.js';
import type { CommandContext } from '../../lib/component/component.js';
import type { StorageChange, StorageRecord } from '../../lib/component/deployment.js';
import { CommandError } from '../../lib/tools/errors.js';

const change: Readonly<Record<string, StorageChange>> = {
  add: { revision: null },
  set: {},
  suspend: { state: 'suspended' },
  resume: { state: 'ready' },
  remove: { state: 'deleted' },
  restore: { state: 'ready' },
};

/** Runs the command. @throws CommandError, or LwsError as `Storages.change` */
export async function runStorage(context: CommandContext): Promise<number> {
  const { storages, operands, flags, print } = context;
  const [action = '', ...rest] = operands;
  if (!storages)
    throw new CommandError(
      'Storages have no address. Set lws.storages.address to https://{name}.pods.example/ or https://pods.example/{name}/.',
    );
  const line = ({ name: of, state, owners }: StorageRecord): string =>
    `${of}  ${state}  ${storages.addressOf(of)}  ${owners.join(' ') || 'owner.key'}`;
  const pairs = rest.filter((each) => each.includes('=')).map(settingOf);
  const names = rest.filter((each) => !each.includes('='));
  if (action === 'set' && names[1] !== undefined) settingOf(names[1]);
  const wanted: StorageChange = {
    ...(pairs.length > 0 ? { settings: Object.fromEntries(pairs) } : {}),
    ...(flags['template'] === undefined ? {} : { template: flags['template'] }),
  };
  if (action === 'invite' && names.length === 0) {
    const body = JSON.stringify({ ...wanted, days: Number(flags['days'] ?? 7) });
    const init = { method: 'POST', headers: { 'Content-Type': 'application/json' }, body };
    const { url, expires } = JSON.parse(await (await askServer(context, 'storages/invitations', init)).text());
    print(`${url}\nValid for one storage, until ${expires}.`);
    return 0;
  }
  if (action === 'list' && rest.length === 0) {
    for (const record of storages.all()) print(line(record));
    return 0;
  }
  if (names.length === 0 || !(action === 'show' || Object.hasOwn(change, action)))
    throw new CommandError(
      `Use storage list, storage invite, or one of ${['show', ...Object.keys(change)].join(', ')} with names.`,
    );
  for (const name of names) {
    if (action === 'show') {
      const record = storages.get(name);
      if (!record) throw new CommandError(`Storage ${name} does not exist. List storages with "quadpod storage list".`);
      print(JSON.stringify({ ...record, address: storages.addressOf(name) }, undefined, 2));
      continue;
    }
    const record = await storages.change(name, {
      ...change[action],
      ...(flags['owner'] === undefined ? {} : { owners: flags['owner'].split(/[\s,]+/).filter(Boolean) }),
      ...wanted,
      ...(flags['now'] === undefined ? {} : { isForGood: true }),
    });
    print(line(record));
  }
  return 0;
}

function settingOf(pair: string): [string, string | null] {
  const at = pair.indexOf('=');
  if (at < 1) throw new CommandError(`${pair} is not a setting; expected KEY=VALUE, or KEY= to remove it.`);
  const key = pair.slice(0, at);
  return [key.startsWith('lws.') ? key : `lws.${key}`, pair.slice(at + 1) || null];
}
