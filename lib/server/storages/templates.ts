/**
 * What a new storage begins with: a folder of `lws.storages.templates`, which is laid beside what is to be the store, and imported when that is first
 * opened.
 */
import { existsSync, mkdirSync, renameSync, rmSync } from 'node:fs';
import { mkdir, readdir, readFile, writeFile } from 'node:fs/promises';
import { dirname, join, relative } from 'node:path';
import { LwsError } from '../../errors.js';
import { syncPath } from '../../storage/engine/synced-files.js';
import { isStorageName } from './addresses.js';

/** In a data directory, what is still to be imported. */
const laid = '.quadpod-template';
/** Beside the records, what is being laid. */
export const laying = '.laying';

interface Laying {
  /** `lws.storages.templates` */
  readonly from: string | null;
  readonly template: string;
  /** A folder of its own, which is the storage's later. */
  readonly to: string;
  readonly values: Readonly<Record<'name' | 'storage', string>> & { readonly owner: string | undefined };
}

/** The names of the templates in a folder. */
export async function templatesIn(folder: string | null): Promise<readonly string[]> {
  if (folder === null) return [];
  const entries = await readdir(folder, { withFileTypes: true }).catch((cause: unknown) => {
    throw new LwsError(
      'conflict',
      `The folder of lws.storages.templates cannot be read: ${(cause as Error).message}.`,
      { cause },
    );
  });
  return entries.filter((entry) => entry.isDirectory() && isStorageName(entry.name)).map(({ name }) => name);
}

/**
 * Lays a template.
 * @throws LwsError `malformed-body` where there is no such template, or it needs an owner
 */
export async function layTemplate({ from, template, to, values }: Laying): Promise<void> {
  const known = await templatesIn(from);
  if (!known.includes(template))
    throw new LwsError(
      'malformed-body',
      `There is no template ${JSON.stringify(template)}; ${known.length > 0 ? `there are ${known.join(', ')}` : 'lws.storages.templates has none'}.`,
    );
  const source = join(from!, template);
  const folders = new Set([to]);
  for (const entry of await readdir(source, { recursive: true, withFileTypes: true })) {
    if (!entry.isFile()) continue;
    const file = join(entry.parentPath, entry.name);
    const copy = join(to, relative(source, file));
    for (let at = dirname(copy); at !== to; at = dirname(at)) folders.add(at);
    await mkdir(dirname(copy), { recursive: true, mode: 0o700 });
    await writeFile(copy, filled(await readFile(file), file, values), { mode: 0o600, flush: true });
  }
  await mkdir(to, { recursive: true, mode: 0o700 });
  for (const folder of folders) await syncPath(folder);
}

/** Has a new storage begin with what was laid; nothing, or what is left of one that was not made, is not there any more. */
export function giveTemplate(from: string, folder: string): void {
  const target = join(folder, laid);
  rmSync(target, { recursive: true, force: true });
  if (!existsSync(from)) return;
  mkdirSync(folder, { recursive: true, mode: 0o700 });
  renameSync(from, target);
}

/** The values are IRIs and a label, so that no syntax is ended by them. */
function filled(content: Buffer, file: string, { name, owner, storage }: Laying['values']): Buffer | string {
  if (!/\.(?:ttl|acl)$/.test(file)) return content;
  return content.toString('utf8').replace(/\{\{(name|owner|storage)\}\}/g, (_, what: string) => {
    const value = { name, owner, storage }[what];
    if (value === undefined)
      throw new LwsError('malformed-body', 'The template names the owner: a storage of it needs one.');
    return value;
  });
}
