/** Licences of packages that bundles contain: most of them require that a copy includes their text. */
import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';

/** Returns the licences of bundled packages, each text once. @param inputs bundled files, relative to the root */
export async function licences(root, inputs) {
  const packagesOf = new Map();
  for (const folder of new Set(inputs.flatMap((input) => /^.*node_modules\/(?:@[^/]+\/)?[^/]+/.exec(input) ?? []))) {
    const { name, version, license } = JSON.parse(await readFile(join(root, folder, 'package.json'), 'utf8'));
    const file = (await readdir(join(root, folder))).find((each) => /^licen[cs]e/i.test(each));
    const text = file ? (await readFile(join(root, folder, file), 'utf8')).trim() : license;
    packagesOf.set(text, [...(packagesOf.get(text) ?? []), `${name} ${version} (${license})`]);
  }
  const parts = [...packagesOf].map(([text, names]) => `${names.sort().join('\n')}\n\n${text}\n`);
  return parts.join(`\n${'-'.repeat(80)}\n\n`);
}
