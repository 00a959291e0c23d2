/** Bundles the console: names with hashes, the two pages that name them, and a list of what belongs to what for the specs. */
import { createHash } from 'node:crypto';
import { mkdir, readFile, rm, writeFile } from 'node:fs/promises';
import { basename, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { build } from 'esbuild';

const source = fileURLToPath(new URL('.', import.meta.url));
process.chdir(join(source, '..'));
const target = join(source, '../dist/console');
await rm(target, { recursive: true, force: true });
await mkdir(target, { recursive: true });

const { metafile } = await build({
  entryPoints: {
    main: join(source, 'src/main.ts'),
    callback: join(source, 'src/callback.ts'),
    style: join(source, 'src/style.css'),
  },
  outdir: target,
  bundle: true,
  format: 'esm',
  splitting: true,
  minify: true,
  legalComments: 'none',
  target: 'es2022',
  entryNames: '[name]-[hash]',
  chunkNames: 'chunk-[hash]',
  tsconfig: join(source, 'tsconfig.json'),
  define: { 'process.env.NODE_ENV': '"production"' },
  metafile: true,
});

async function hashed(name) {
  const bytes = await readFile(join(source, name));
  const hash = createHash('sha256').update(bytes).digest('hex').slice(0, 8);
  const to = name.replace(/(\.\w+)$/, `-${hash}$1`);
  await writeFile(join(target, to), bytes);
  return to;
}

const bundled = (name, extension) =>
  basename(
    Object.keys(metafile.outputs).find((path) => basename(path).startsWith(`${name}-`) && path.endsWith(extension)),
  );
const icon = await hashed('icon.svg');
const html = await readFile(join(source, 'page.html'), 'utf8');
for (const page of ['app', 'callback']) {
  const script = bundled(page === 'app' ? 'main' : 'callback', '.js');
  const names = { SCRIPT: script, STYLE: bundled('style', '.css'), ICON: icon };
  await writeFile(
    join(target, `${page}.html`),
    html.replace(/\{(\w+)\}/g, (whole, name) => names[name] ?? whole),
  );
}
// What each page loads, for the specs of sizes.
await writeFile(join(target, '../console-meta.json'), JSON.stringify(metafile));
