/**
 * Bundles the server into one script with V8's code cache, because loading its 800 files takes about a second of CPU time and the
 * specs start a thousand processes. Modules in the bundle keep their URLs in `dist`. Therefore threads run the published files,
 * like all processes that specs do not start with `spec/support/process.ts`.
 */
import { spawn } from 'node:child_process';
import { readFile, rm, writeFile } from 'node:fs/promises';
import { createServer } from 'node:net';
import { join } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { build } from 'esbuild';

const root = fileURLToPath(new URL('..', import.meta.url));

const main = `
  import { standardComponents } from './components/index.js';
  import { main } from './lib/server/cli.js';
  void main(process.argv.slice(2), standardComponents).then((code) => process.exit(code));`;

/**
 * Keeps `import.meta.url` of each module, although the bundle has only one. Imports by URL load the bundled module, so that
 * classes are the same.
 */
const places = {
  name: 'places',
  setup({ onLoad }) {
    onLoad({ filter: /\.m?js$/ }, async ({ path }) => {
      const text = await readFile(path, 'utf8');
      if (!/import\.meta\.url|import\([a-z]/.test(text)) return undefined;
      const named = [...text.matchAll(/new URL\('([\w./-]+)', import\.meta\.url\)\.href/g)].map(([, name]) => {
        const url = new URL(name, pathToFileURL(path));
        return `bundled.set('${url}', () => import('${fileURLToPath(url)}'));`;
      });
      const here = text
        .replaceAll('import.meta.url', JSON.stringify(pathToFileURL(path).href))
        .replace(/(?<=await |=> )import\((?=[a-z])/g, 'importBundled(');
      return { contents: [here, ...named].join('\n') };
    });
  },
};

/** Runs the bundle, from the cache if there is one. With `QUADPOD_SPECS_CACHE`, it writes the cache on exit. */
const starter = (bundle) => `'use strict';
const { existsSync, readFileSync, writeFileSync } = require('node:fs');
const { createRequire } = require('node:module');
const { Script } = require('node:vm');
const [filename, cache] = ${JSON.stringify([bundle, `${bundle}.cache`])};
const bundled = new Map();
const importBundled = (url) => bundled.get(url)?.() ?? import(url);
const cachedData = existsSync(cache) ? readFileSync(cache) : undefined;
const text = \`(function (require, module, bundled, importBundled) {\${readFileSync(filename, 'utf8')}\\n})\`;
const script = new Script(text, { filename, cachedData });
if (process.env.QUADPOD_SPECS_CACHE) process.once('exit', () => writeFileSync(cache, script.createCachedData()));
const requireThere = createRequire(${JSON.stringify(join(root, 'package.json'))});
script.runInThisContext()(requireThere, { exports: {} }, bundled, importBundled);
`;

const freePort = () =>
  new Promise((resolve) => {
    const server = createServer().listen(0, () => {
      const { port } = server.address();
      server.close(() => resolve(port));
    });
  });

/** Runs the server until it listens, so that the cache contains the code of a start. */
async function warm(script, dataDir) {
  const inherited = Object.entries(process.env).filter(([name]) => !/^(?:LWS_|NODE_)/.test(name));
  const settings = {
    LWS_BASE_URI: `http://localhost:${await freePort()}`,
    LWS_DATA_DIR: dataDir,
    LWS_DEV_OPEN: 'true',
    QUADPOD_SPECS_CACHE: '1',
  };
  const child = spawn(process.execPath, ['--enable-source-maps', script], {
    env: { ...Object.fromEntries(inherited), ...settings },
    stdio: ['ignore', 'ignore', 'pipe'],
  });
  let printed = '';
  child.stderr.on('data', (chunk) => {
    printed += chunk;
    if (printed.includes('Quadpod serves')) child.kill('SIGTERM');
  });
  const code = await new Promise((resolve) => child.once('close', resolve));
  await rm(dataDir, { recursive: true, force: true });
  if (code !== 0) throw new Error(`The bundled server exited with ${code}: ${printed}`);
}

/** Creates the bundle in a directory. @returns the script to start instead of `dist/components/main.js` */
export async function quickServer(folder) {
  const bundle = join(folder, 'bundle.cjs');
  await build({
    absWorkingDir: root,
    stdin: { contents: main, resolveDir: join(root, 'dist') },
    outfile: bundle,
    bundle: true,
    platform: 'node',
    target: 'node20',
    format: 'cjs',
    // A script compiled from a cache cannot use import().
    supported: { 'dynamic-import': false },
    // Native modules, or modules with threads of their own.
    external: ['classic-level', 'pg', 'pino'],
    logLevel: 'error',
    plugins: [places],
  });
  const script = join(folder, 'server.cjs');
  await writeFile(script, starter(bundle));
  await warm(script, join(folder, 'warm'));
  return script;
}
