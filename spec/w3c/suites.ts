/**
 * Where the files of the W3C suites come from: the directory that `W3C_TESTS` names, with the folders `rdf` and `sparql` of the repository
 * w3c/rdf-tests and `tests` of w3c/json-ld-api, or else the older copies in `data`. It must not know a server.
 */
import { readdirSync, readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { gunzipSync } from 'node:zlib';
import { packageRoot } from '../../lib/threads/package-root.js';

const { W3C_TESTS: given } = process.env;

/** Directory of the current suites; undefined: only the kept copies are there. */
export const currentSuites = given || undefined;

/** Texts of files by their paths in the suite. */
export type SuiteTexts = Readonly<Record<string, string>>;

/** A suite that is kept in `data`. */
export const keptSuite = (name: string): SuiteTexts =>
  JSON.parse(
    gunzipSync(readFileSync(join(packageRoot, 'spec/w3c/data', `${name}.json.gz`))).toString('utf8'),
  ) as SuiteTexts;

/** Files of a folder of the current suites by their paths in it. @throws if `W3C_TESTS` has no such folder */
export function currentFiles(folder: string): Map<string, Buffer> {
  const root = join(currentSuites!, folder);
  const paths = readdirSync(root, { recursive: true }) as string[];
  return new Map(
    paths
      .filter((path) => statSync(join(root, path)).isFile())
      .sort()
      .map((path) => [path, readFileSync(join(root, path))]),
  );
}

/** @param folders that are read; absent: all */
export function currentTexts(
  folder: string,
  { prefix = '', folders }: { prefix?: string; folders?: readonly string[] },
): SuiteTexts {
  const files = [...currentFiles(folder)].filter(
    ([path]) => path.includes('/') && (folders?.includes(path.slice(0, path.indexOf('/'))) ?? true),
  );
  return Object.fromEntries(files.map(([path, bytes]) => [prefix + path, bytes.toString('utf8')]));
}
