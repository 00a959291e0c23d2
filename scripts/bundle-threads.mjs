/**
 * Bundles the scripts of threads that Comunica's packages are loaded in: that of queries, with its engine, and that of documents which rdf-parse
 * reads. Some 1 500 files become one, in which a module of Comunica's runs when something of it is used first, and not when another one imports
 * it. A thread then loads in a third of the time and takes half of the memory. What is bundled already is left as it is.
 */
import { readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { build } from 'esbuild';

const root = fileURLToPath(new URL('..', import.meta.url));

/** Parts of Comunica for documents, sockets and the command line, which these threads have nothing to do with. */
const unused =
  /^(?:componentsjs|winston|yargs|graphql(?:-to-sparql)?|n3|shaclc-\w+|jsonld-.*|(?:rdfa|microdata-rdf|rdfxml)-streaming-parser|htmlparser2|(?:node|cross)-fetch|fetch-sparql-endpoint|sparql(?:json|xml)-parse|readable-stream)$/;

const unusedModule = { contents: 'class Unused {}\nmodule.exports = new Proxy({}, { get: () => Unused });' };

const packages = {
  name: 'packages',
  setup({ onResolve, onLoad, resolve }) {
    onResolve({ filter: /^[@\w]/ }, ({ path, resolveDir, pluginData }) => {
      if (pluginData === 'resolved') return undefined;
      const isOurs = !resolveDir.includes('node_modules');
      // Comunica requires what we import, and both are to get the same modules.
      if (path.startsWith('@traqula/'))
        return resolve(path, { kind: 'import-statement', resolveDir, pluginData: 'resolved' });
      if (isOurs)
        return /^(?:@comunica\/|asynciterator$|rdf-data-factory$)/.test(path) ? undefined : { external: true };
      return unused.test(path) ? { path, namespace: 'unused' } : undefined;
    });
    // The one class of Comunica's that specs observe.
    const engineBase = '@comunica/actor-init-query/lib/QueryEngineBase.js';
    onResolve({ filter: /QueryEngineBase(?:\.js)?$/ }, () => ({ path: engineBase, external: true }));
    // Some are constructed with the engine, and asked for nothing.
    onLoad({ filter: /^/, namespace: 'unused' }, () => unusedModule);
  },
};

/** rdf-parse with its parsers, for a thread that fetches nothing: its client of HTTP needs Node 22. */
const parser = {
  name: 'parser',
  setup({ onResolve, onLoad }) {
    onResolve({ filter: /^/ }, ({ path, resolveDir, kind }) => {
      if (kind === 'entry-point') return undefined;
      if (/^(?:@comunica\/actor-http-\w+|componentsjs)$/.test(path)) return { path, namespace: 'unused' };
      return resolveDir.includes('node_modules') || /^rdf-parse$/.test(path) ? undefined : { external: true };
    });
    onLoad({ filter: /^/, namespace: 'unused' }, () => unusedModule);
  },
};

/** Requires another package where one of its exports is used first: the name that TypeScript gave to its exports becomes a call. */
const lazyRequire = {
  name: 'lazy-require',
  setup({ onLoad }) {
    onLoad({ filter: /[\\/]node_modules[\\/]@comunica[\\/].*\.js$/ }, async ({ path }) => {
      const names = new Set();
      const text = (await readFile(path, 'utf8')).replace(
        /^const (\w+_\d+) = ((?:__import(?:Star|Default)\()?require\("[^."][^"]*"\)\)?);$/gm,
        (_, name, required) => {
          names.add(name);
          return `const ${name} = () => ${required};`;
        },
      );
      const contents = text.replace(/(?<![\w$.])\w+_\d+(?=\.\w)/g, (name) => (names.has(name) ? `(${name}())` : name));
      return { contents };
    });
  },
};

/** The licences of the packages that are in the bundle, each text once. */
async function licences(inputs) {
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

const banner = "import { createRequire } from 'node:module';\nconst require = createRequire(import.meta.url);";

/** Replaces a script of `dist` by its bundle, and puts the licences of what is in it beside it. */
async function bundle(script, plugins) {
  if ((await readFile(script, 'utf8')).startsWith(banner)) return;
  const { metafile } = await build({
    absWorkingDir: root,
    entryPoints: [script],
    outfile: script,
    allowOverwrite: true,
    bundle: true,
    platform: 'node',
    target: 'node20',
    format: 'esm',
    banner: { js: banner },
    // Without spaces its text takes less memory; names and lines are for stacks.
    minifyWhitespace: true,
    minifySyntax: true,
    lineLimit: 120,
    legalComments: 'none',
    plugins,
    metafile: true,
  });
  await writeFile(script.replace(/\.js$/, '.licences.txt'), await licences(Object.keys(metafile.inputs)));
  await rm(`${script}.map`, { force: true });
}

await bundle(join(root, 'dist/components/sparql/pool/query-worker.js'), [packages, lazyRequire]);
await bundle(join(root, 'dist/components/transfer/documents/foreign-document-worker.js'), [parser, lazyRequire]);
