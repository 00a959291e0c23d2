/**
 * Bundles the thread scripts that load Comunica's packages: query threads with the engine, and documents parsed by rdf-parse. About 1 500 files
 * become one. In the bundle a Comunica module runs at its first use instead of its import. A thread then loads in a third of the time and uses half
 * of the memory. Scripts that are bundled already stay unchanged.
 */
import { readFile, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { build } from 'esbuild';
import { licences } from './licences.mjs';

const root = fileURLToPath(new URL('..', import.meta.url));

/**
 * Parts of Comunica for documents, sockets and the command line, and its parser. These threads do not use them: the engine gets algebra. To construct
 * the parser takes a quarter of the time in which a thread loads.
 */
const unused =
  /^(?:@comunica\/actor-query-parse-sparql|componentsjs|winston|yargs|graphql(?:-to-sparql)?|n3|shaclc-\w+|jsonld-.*|(?:rdfa|microdata-rdf|rdfxml)-streaming-parser|htmlparser2|(?:node|cross)-fetch|fetch-sparql-endpoint|sparql(?:json|xml)-parse|readable-stream)$/;

const unusedModule = { contents: 'class Unused {}\nmodule.exports = new Proxy({}, { get: () => Unused });' };

const packages = {
  name: 'packages',
  setup({ onResolve, onLoad, resolve }) {
    onResolve({ filter: /^[@\w]/ }, ({ path, resolveDir, pluginData }) => {
      if (pluginData === 'resolved') return undefined;
      const isOurs = !resolveDir.includes('node_modules');
      // Our imports and the `require` of Comunica must resolve to the same modules.
      if (path.startsWith('@traqula/'))
        return resolve(path, { kind: 'import-statement', resolveDir, pluginData: 'resolved' });
      if (isOurs)
        return /^(?:@comunica\/|asynciterator$|rdf-data-factory$)/.test(path) ? undefined : { external: true };
      return unused.test(path) ? { path, namespace: 'unused' } : undefined;
    });
    // Specs observe this class of Comunica.
    const engineBase = '@comunica/actor-init-query/lib/QueryEngineBase.js';
    onResolve({ filter: /QueryEngineBase(?:\.js)?$/ }, () => ({ path: engineBase, external: true }));
    // Some are constructed with the engine but never called.
    onLoad({ filter: /^/, namespace: 'unused' }, () => unusedModule);
  },
};

/** rdf-parse with its parsers, without its HTTP client, which requires Node.js 22. The thread fetches nothing. */
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

/** Defers `require` of another package to the first use of an export: the variable that TypeScript assigned becomes a call. */
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

// Bundled modules may import createRequire by its name.
const banner = "import { createRequire as requireOf } from 'node:module';\nconst require = requireOf(import.meta.url);";

/** Replaces a script of `dist` by its bundle, and writes the licences of the bundled packages to a file beside it. */
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
    // Removing white space saves memory. Names and lines stay for stack traces.
    minifyWhitespace: true,
    minifySyntax: true,
    lineLimit: 120,
    legalComments: 'none',
    plugins,
    metafile: true,
  });
  await writeFile(script.replace(/\.js$/, '.licences.txt'), await licences(root, Object.keys(metafile.inputs)));
  await rm(`${script}.map`, { force: true });
}

await bundle(join(root, 'dist/components/sparql/pool/query-worker.js'), [packages, lazyRequire]);
await bundle(join(root, 'dist/components/data/transfer/documents/foreign-document-worker.js'), [parser, lazyRequire]);
