/** The house stands: imports run down the floors, and the packages that a floor may use stay on it. */
import { readdirSync, readFileSync } from 'node:fs';
import { dirname, join, relative, resolve } from 'node:path';
import { expect } from 'chai';
import { packageRoot } from '../../lib/package-root.js';

/** From the ground up; a folder imports only what is on a lower line. Those on one line may know each other only by the pairs below. */
const floors: readonly (readonly string[])[] = [
  ['lib/settings', 'lib/errors', 'lib/log', 'lib/package-root', 'lib/worker-pool'],
  ['lib/fields', 'lib/json', 'lib/worker-task'],
  ['lib/rdf', 'lib/outbound'],
  ['lib/storage'],
  ['lib/query'],
  ['lib/documents'],
  ['lib/authorization'],
  ['lib/resources', 'lib/authentication'],
  ['lib/http'],
  ['lib/component'],
  ['lib/server'],
  ['components'],
];

const levelOf = (place: string): number => floors.findIndex((names) => names.includes(place));

/** The floor that a file of the source tree belongs to. */
function placeOf(file: string): string {
  const [top, second = ''] = relative(packageRoot, file).split(/[/\\]/);
  return top === 'components' ? 'components' : `${top}/${second.replace(/\.[jt]s$/, '')}`;
}

function sourceFiles(folder: string): string[] {
  return readdirSync(join(packageRoot, folder), { withFileTypes: true, recursive: true })
    .filter((entry) => entry.isFile() && entry.name.endsWith('.ts'))
    .map((entry) => join(entry.parentPath, entry.name));
}

interface Import {
  readonly file: string;
  readonly line: string;
  readonly from: string;
}

const imports: Import[] = ['lib', 'components'].flatMap(sourceFiles).flatMap((file) => {
  const source = readFileSync(file, 'utf8');
  return [...source.matchAll(/(?:^|\n)\s*(?:import|export)\b[^;]*?from '([^']+)'|import\('([^']+)'\)/g)].map(
    (match) => ({
      file,
      line: `${relative(packageRoot, file)}: ${match[0].trim().replace(/\s+/g, ' ').slice(0, 120)}`,
      from: match[1] ?? match[2]!,
    }),
  );
});

/** The offending lines, to be read in the failure. */
function offences(isOffence: (entry: Import) => boolean): string[] {
  return imports.filter(isOffence).map(({ line }) => line);
}

const isIn = (file: string, folder: string): boolean => relative(packageRoot, file).startsWith(folder);

describe('The house', () => {
  it('has every source file on a floor', () => {
    expect(imports.length).to.be.above(200);
    expect(
      ['lib', 'components']
        .flatMap(sourceFiles)
        .filter((file) => levelOf(placeOf(file)) < 0 && !file.endsWith('index.ts')),
    ).to.deep.equal([]);
  });

  it('has imports that run down the floors', () => {
    const upward = offences(({ file, from }) => {
      if (!from.startsWith('.')) return false;
      const [here, there] = [placeOf(file), placeOf(resolve(dirname(file), from))];
      return here !== there && levelOf(there) >= levelOf(here);
    });
    expect(upward).to.deep.equal([]);
  });

  it('has no component that imports another component', () => {
    const folderOf = (file: string): string | undefined =>
      /components[/\\]([^/\\]+)[/\\]/.exec(relative(packageRoot, file))?.[1];
    const across = offences(({ file, from }) => {
      const [own, other] = [folderOf(file), folderOf(resolve(dirname(file), from))];
      return from.startsWith('.') && own !== undefined && other !== undefined && own !== other;
    });
    expect(across).to.deep.equal([]);
  });

  it('keeps LevelDB and quadstore in storage, and Comunica in query', () => {
    const stray = offences(
      ({ file, from }) =>
        (/^(?:classic-level|abstract-level|quadstore)/.test(from) && !isIn(file, 'lib/storage/')) ||
        (/^@comunica\//.test(from) && !isIn(file, 'lib/query/') && !isIn(file, 'components/sparql/')),
    );
    expect(stray).to.deep.equal([]);
  });

  it('keeps koa in http, and client sockets in outbound', () => {
    const koa = offences(({ file, from }) => /^@?koa/.test(from) && !isIn(file, 'lib/http/'));
    const sockets = offences(
      ({ file, from }) =>
        /^(?:undici|node:(?:https|net|tls|dgram|dns))/.test(from) &&
        !isIn(file, 'lib/outbound/') &&
        !/import type/.test(readLine(file, from)) &&
        !isIn(file, 'lib/server/'),
    );
    expect([...koa, ...sockets]).to.deep.equal([]);
  });

  it('keeps fast-json-patch and the reader of exact numbers in json', () => {
    const stray = offences(
      ({ file, from }) => /^(?:fast-json-patch|json-custom-numbers)/.test(from) && !isIn(file, 'lib/json/'),
    );
    expect(stray).to.deep.equal([]);
  });

  it('has no file above 250 lines', () => {
    const long = ['lib', 'components']
      .flatMap(sourceFiles)
      .filter((file) => readFileSync(file, 'utf8').split('\n').length > 251);
    expect(long.map((file) => relative(packageRoot, file))).to.deep.equal([]);
  });
});

const readLine = (file: string, from: string): string =>
  readFileSync(file, 'utf8')
    .split('\n')
    .find((line) => line.includes(`'${from}'`)) ?? '';
