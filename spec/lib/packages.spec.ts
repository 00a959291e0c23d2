/** Installed packages of package-lock.json: each supports every Node version in `engines`. */
import { createHash } from 'node:crypto';
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'chai';
import { packageRoot } from '../../lib/tools/threads/package-root.js';

interface Locked {
  readonly dev?: boolean;
  readonly engines?: { readonly node?: string };
}
interface Lock {
  readonly packages: Readonly<Record<string, Locked>>;
}
type Version = readonly [major: number, minor: number, patch: number];

const fileOf = (name: string): unknown => JSON.parse(readFileSync(join(packageRoot, name), 'utf8'));

/** Lowest Node versions in `engines`. */
const { engines } = fileOf('package.json') as { engines: { node: string } };
const supported = engines.node.split('||').map((range) => versionOf(range));

function versionOf(text: string): Version {
  const [, major, minor = '0', patch = '0'] = /(\d+)(?:\.(\d+))?(?:\.(\d+))?/.exec(text) ?? [];
  if (major === undefined) throw new Error(`${text} names no version.`);
  return [Number(major), Number(minor), Number(patch)];
}

const compare = (a: Version, b: Version): number => a[0] - b[0] || a[1] - b[1] || a[2] - b[2];

function fits(version: Version, comparator: string): boolean {
  if (comparator === '*') return true;
  const [, operator = '', text = ''] = /^(>=|<=|<|>|\^|~|=?)\s*v?(.*)$/.exec(comparator) ?? [];
  const bound = versionOf(text);
  const order = compare(version, bound);
  const parts = text.split('.').filter((part) => /^\d+$/.test(part)).length;
  if (operator === '>=') return order >= 0;
  if (operator === '>') return order > 0;
  if (operator === '<') return order < 0;
  if (operator === '<=') return order <= 0;
  const isSame = version[0] === bound[0];
  if (operator === '^') return isSame && order >= 0;
  if (operator === '~') return isSame && order >= 0 && (parts < 2 || version[1] === bound[1]);
  return isSame && (parts < 2 || version[1] === bound[1]) && (parts < 3 || order === 0);
}

const admits = (range: string, version: Version): boolean =>
  range.split('||').some((alternative) =>
    (alternative.trim() || '*')
      .replace(/(>=|<=|<|>|\^|~|=)\s+/g, '$1')
      .split(/\s+/)
      .every((each) => fits(version, each)),
  );

describe('Installed packages', () => {
  const { packages } = fileOf('package-lock.json') as Lock;
  const refusing = (isChecked: (locked: Locked) => boolean): string[] =>
    Object.entries(packages).flatMap(([path, locked]) => {
      const range = locked.engines?.node;
      if (path === '' || range === undefined || !isChecked(locked)) return [];
      const refused = supported.filter((version) => !admits(range, version));
      return refused.length === 0 ? [] : [`${path}: ${range} has no ${refused.map((each) => each.join('.')).join()}`];
    });

  it('support every Node version in the engines of this package', () => {
    expect(supported).to.have.length(3);
    expect(refusing(({ dev }) => dev !== true)).to.deep.equal([]);
  });

  it('support every Node version in specs and builds, except @inrupt/solid-client, which works but does not declare Node 24', () => {
    expect(refusing(({ dev }) => dev === true).map((line) => line.replace(/:.*/, ''))).to.deep.equal([
      'node_modules/@inrupt/solid-client',
      'node_modules/@inrupt/solid-client-errors',
    ]);
  });
});

describe('Published package', () => {
  const { scripts, files, dependencies } = fileOf('package.json') as {
    readonly dependencies: Readonly<Record<string, string>>;
    readonly scripts: Readonly<Record<string, string>>;
    readonly files: readonly string[];
  };
  const lock = fileOf('package-lock.json') as Lock;

  it('pins every dependency to the version of package-lock.json, without development dependencies', async () => {
    const { shrinkwrapOf } = (await import(join(packageRoot, 'scripts/shrinkwrap.mjs'))) as {
      shrinkwrapOf(lock: Lock): Lock;
    };
    const { packages } = shrinkwrapOf(lock);
    const production = Object.entries(lock.packages).filter(([path, { dev }]) => path !== '' && dev !== true);
    expect(Object.entries(packages).filter(([path]) => path !== '')).to.deep.equal(production);
    expect(packages['']).to.not.have.property('devDependencies');
    expect(packages['']).to.have.property('dependencies');
    for (const name of ['undici', 'graphql-to-sparql/node_modules/graphql', 'rdf-parse'])
      expect(packages).to.have.property(`node_modules/${name}`);
    expect(files).to.include('npm-shrinkwrap.json');
    expect(scripts['prepack']).to.equal('node scripts/shrinkwrap.mjs');
    expect(scripts['postpack']).to.equal('node scripts/shrinkwrap.mjs --remove');
  });

  it('contains LevelDB for Linux x64 with its digest, licences and sources, and the version of classic-level that it is for', () => {
    expect(files).to.include.members(['leveldb', '!leveldb/compiled']);
    expect(readdirSync(join(packageRoot, 'leveldb')).filter((name) => name !== 'compiled')).to.have.members([
      ...['LICENSES.txt', 'build.mjs', 'classic-level.patch', 'exports.map', 'old-glibc.cc', 'prebuilds'],
    ]);
    const sums = readFileSync(join(packageRoot, 'leveldb/prebuilds/SHA256SUMS'), 'utf8');
    const [, sum, name] = /^(\w{64}) {2}(\S+)\n$/.exec(sums)!;
    const file = readFileSync(join(packageRoot, 'leveldb/prebuilds', name!));
    expect(createHash('sha256').update(file).digest('hex')).to.equal(sum);
    expect(dependencies['classic-level']).to.equal('3.0.0');
  });

  it('is built in the container image by the same script, from all files that the script names', () => {
    const dockerfile = readFileSync(join(packageRoot, 'Dockerfile'), 'utf8');
    const [build = ''] = dockerfile.split(/^FROM .*-slim$/m);
    expect(build).to.match(/^RUN npm run build && /m);
    expect(build).to.match(/^RUN node leveldb\/build\.mjs$/m);
    expect(build).to.not.match(/npx tsc|node console/);
    expect(dockerfile).to.match(/^COPY --from=build \/app\/leveldb leveldb$/m);
    const copied = [...build.matchAll(/^COPY (.+) \S+$/gm)].flatMap(([, paths = '']) => paths.split(' '));
    const named = [...scripts['build']!.matchAll(/[\w-]+(?:\/[\w.-]+)*\.(?:json|mjs)/g)].map(
      ([path]) => path.split('/')[0],
    );
    expect(named).to.have.length(4);
    expect(copied).to.include.members([...named, 'lib', 'components', 'package.json', 'package-lock.json']);
  });
});
