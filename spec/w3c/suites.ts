/**
 * Source of the W3C suites: the directory in `W3C_TESTS`, with the folders `rdf` and `sparql` of the repository w3c/rdf-tests and
 * `tests` of w3c/json-ld-api and `data-shapes-test-suite` of w3c/data-shapes, or the older copies in `data`. Must not depend on a server.
 */
import { readdirSync, readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { gunzipSync } from 'node:zlib';
import { packageRoot } from '../../lib/tools/threads/package-root.js';

const { W3C_TESTS: directory } = process.env;

/** Directory of the current suites, undefined if only the bundled copies are available. */
export const currentSuites = directory || undefined;

/** Texts of files by path in the suite. */
export type SuiteTexts = Readonly<Record<string, string>>;

/** Reads a suite that is bundled in `data`. */
export const keptSuite = (name: string): SuiteTexts =>
  JSON.parse(
    gunzipSync(readFileSync(join(packageRoot, 'spec/w3c/data', `${name}.json.gz`))).toString('utf8'),
  ) as SuiteTexts;

/** Returns the files of a folder of the current suites by path. @throws if `W3C_TESTS` has no such folder */
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

/** Returns the texts of a folder of the current suites by path. @param folders subfolders to read, default all */
export function currentTexts(
  folder: string,
  { prefix = '', folders }: { prefix?: string; folders?: readonly string[] },
): SuiteTexts {
  const files = [...currentFiles(folder)].filter(
    ([path]) => path.includes('/') && (folders?.includes(path.slice(0, path.indexOf('/'))) ?? true),
  );
  return Object.fromEntries(files.map(([path, bytes]) => [prefix + path, bytes.toString('utf8')]));
}
