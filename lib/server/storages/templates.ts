/**
 * Templates of new storages: a subdirectory of `lws.storages.templates` that is copied next to the new store and imported at
 * its first opening.
 */
import { existsSync, mkdirSync, renameSync, rmSync } from 'node:fs';
import { mkdir, readdir, readFile, writeFile } from 'node:fs/promises';
import { dirname, join, relative } from 'node:path';
import { templateFolder } from '../../component/deployment.js';
import { syncPath } from '../../storage/level/synced-files.js';
import { LwsError } from '../../tools/errors.js';
import { isStorageName } from './addresses.js';

/** Name of the temporary directory next to the records. */
export const laying = '.laying';

interface Laying {
  /** Directory of the templates (`lws.storages.templates`). */
  readonly from: string | null;
  readonly template: string;
  /** Directory to copy to, which is moved into the storage later. */
  readonly to: string;
  /** Quota of the storage; 0 for no limit. */
  readonly quotaBytes: number;
  readonly values: Readonly<Record<'name' | 'storage', string>> & { readonly owner: string | undefined };
}

/** Returns the names of the templates in a directory. */
export async function templatesIn(folder: string | null): Promise<readonly string[]> {
  if (folder === null) return [];
  const entries = await readdir(folder, { withFileTypes: true }).catch((cause: unknown) => {
    throw new LwsError(
      'conflict',
      `The directory lws.storages.templates cannot be read: ${(cause as Error).message}.`,
      { cause },
    );
  });
  return entries.filter((entry) => entry.isDirectory() && isStorageName(entry.name)).map(({ name }) => name);
}

/** Asserts that a template exists. @throws LwsError `malformed-body` */
export async function assertTemplate(template: string, folder: string | null): Promise<void> {
  const known = await templatesIn(folder);
  if (!known.includes(template))
    throw new LwsError(
      'malformed-body',
      `The template ${JSON.stringify(template)} does not exist. ${known.length > 0 ? `Templates: ${known.join(', ')}` : 'lws.storages.templates has none'}.`,
    );
}

/** Copies a template. @throws LwsError `malformed-body` if it does not exist or requires an owner; `quota-exceeded` */
export async function layTemplate({ from, template, to, quotaBytes, values }: Laying): Promise<void> {
  await assertTemplate(template, from);
  const source = join(from!, template);
  const folders = new Set([to]);
  let bytes = 0;
  for (const entry of await readdir(source, { recursive: true, withFileTypes: true })) {
    if (!entry.isFile()) continue;
    const file = join(entry.parentPath, entry.name);
    const copy = join(to, relative(source, file));
    for (let at = dirname(copy); at !== to; at = dirname(at)) folders.add(at);
    await mkdir(dirname(copy), { recursive: true, mode: 0o700 });
    const content = filled(await readFile(file), file, values);
    bytes += Buffer.byteLength(content);
    if (quotaBytes > 0 && bytes > quotaBytes)
      throw new LwsError(
        'quota-exceeded',
        `The template has more than the ${quotaBytes} bytes of lws.quota.max-bytes.`,
      );
    await writeFile(copy, content, { mode: 0o600, flush: true });
  }
  await mkdir(to, { recursive: true, mode: 0o700 });
  for (const folder of folders) await syncPath(folder);
}

/** Moves the copied template into a new storage. Deletes the files of a failed creation. */
export function giveTemplate(from: string, folder: string): void {
  const target = join(folder, templateFolder);
  rmSync(target, { recursive: true, force: true });
  if (!existsSync(from)) return;
  mkdirSync(folder, { recursive: true, mode: 0o700 });
  renameSync(from, target);
}

/** Replaces placeholders in a file. The values are IRIs and a label, so they cannot break the syntax. */
function filled(content: Buffer, file: string, { name, owner, storage }: Laying['values']): Buffer | string {
  if (!/\.(?:ttl|acl)$/.test(file)) return content;
  return content.toString('utf8').replace(/\{\{(name|owner|storage)\}\}/g, (_, what: string) => {
    const value = { name, owner, storage }[what];
    if (value === undefined)
      throw new LwsError('malformed-body', 'The template names the owner. Give the storage an owner.');
    return value;
  });
}
