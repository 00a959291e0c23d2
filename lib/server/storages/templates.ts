/**
 * What a new storage begins with: a folder of `lws.storages.templates`, which is laid beside what is to be the store, and imported when that is first
 * opened.
 */
import { existsSync, mkdirSync, renameSync, rmSync } from 'node:fs';
import { mkdir, readdir, readFile, writeFile } from 'node:fs/promises';
import { dirname, join, relative } from 'node:path';
import { templateFolder } from '../../component/deployment.js';
import { LwsError } from '../../errors.js';
import { syncPath } from '../../storage/level/synced-files.js';
import { isStorageName } from './addresses.js';

/** Beside the records, what is being laid. */
export const laying = '.laying';

interface Laying {
  /** `lws.storages.templates` */
  readonly from: string | null;
  readonly template: string;
  /** A folder of its own, which is the storage's later. */
  readonly to: string;
  /** Of the storage; 0: there is no limit. */
  readonly quotaBytes: number;
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

/** @throws LwsError `malformed-body` where there is no such template in the folder */
export async function assertTemplate(template: string, folder: string | null): Promise<void> {
  const known = await templatesIn(folder);
  if (!known.includes(template))
    throw new LwsError(
      'malformed-body',
      `There is no template ${JSON.stringify(template)}; ${known.length > 0 ? `there are ${known.join(', ')}` : 'lws.storages.templates has none'}.`,
    );
}

/**
 * Lays a template.
 * @throws LwsError `malformed-body` where there is no such template, or it needs an owner; `quota-exceeded`
 */
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

/** Has a new storage begin with what was laid; nothing, or what is left of one that was not made, is not there any more. */
export function giveTemplate(from: string, folder: string): void {
  const target = join(folder, templateFolder);
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
