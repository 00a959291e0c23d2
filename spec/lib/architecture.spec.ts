/** Layers of the source tree: imports go down, never in rings, and each package is used by its layer only. */
import { readFileSync } from 'node:fs';
import { dirname, join, relative, resolve } from 'node:path';
import { expect } from 'chai';
import { packageRoot } from '../../lib/tools/threads/package-root.js';
import { longParameterLists } from './long-parameter-lists.js';
import {
  functionsOf,
  type Import,
  importedFiles,
  importedFolders,
  importsOf,
  pathOf,
  reachOf,
  ringsOf,
  sourceFiles,
} from './source-tree.js';

/** The lowest layer first. A file imports its own layer and lower ones. */
const layers: readonly (readonly string[])[] = [
  ['lib/settings'],
  ['lib/tools'],
  ['lib/rdf'],
  ['lib/storage'],
  ['lib/query'],
  ['lib/documents'],
  ['lib/authorization'],
  ['lib/resources', 'lib/authentication'],
  ['lib/exchange'],
  ['lib/http'],
  ['lib/component'],
  ['lib/plugin'],
  ['lib/server'],
  ['components'],
];

const levelOf = (place: string): number => layers.findIndex((names) => names.includes(place));

/** Returns the layer of a source file. */
function placeOf(file: string): string {
  const [top, second = ''] = relative(packageRoot, file).split(/[/\\]/);
  return top === 'components' ? 'components' : `${top}/${second.replace(/\.[jt]s$/, '')}`;
}

const files = sourceFiles('lib', 'components');
const imports = importsOf(files);

/** Returns the import lines that break a rule, for the failure message. */
function offences(isOffence: (entry: Import) => boolean): string[] {
  return imports.filter(isOffence).map(({ line }) => line);
}

const isIn = (file: string, folder: string): boolean => relative(packageRoot, file).startsWith(folder);

describe('Architecture', () => {
  it('assigns every source file to a layer', () => {
    expect(imports.length).to.be.above(200);
    expect(files.filter((file) => levelOf(placeOf(file)) < 0 && !file.endsWith('index.ts'))).to.deep.equal([]);
  });

  it('has no cache that allocates the memory of all its entries at creation', () => {
    const taking = files.filter((file) => /new LRUCache[^(]*\(\{\s*max:/.test(readFileSync(file, 'utf8')));
    expect(taking).to.deep.equal([]);
  });

  it('imports downwards only', () => {
    const upward = offences(({ file, from }) => {
      if (!from.startsWith('.')) return false;
      const [here, there] = [placeOf(file), placeOf(resolve(dirname(file), from))];
      return here !== there && levelOf(there) >= levelOf(here);
    });
    expect(upward).to.deep.equal([]);
  });

  it('has no component that imports another component, also in its family, or a folder of another family', () => {
    const placeIn = (file: string): { family?: string; component?: string } => {
      const [top, family, folder = ''] = pathOf(file).split('/');
      if (top !== 'components' || family === undefined || family.endsWith('.ts')) return {};
      const component = files.find((each) => isIn(each, join(top, family, folder, 'index.ts')));
      return { family, component: component === undefined ? family : `${family}/${folder}` };
    };
    const across = offences(({ file, from }) => {
      if (!from.startsWith('.')) return false;
      const [own, other] = [placeIn(file), placeIn(resolve(dirname(file), from))];
      if (own.family === undefined || other.family === undefined) return false;
      // The folders of a family that are not components are shared by its components.
      return own.family !== other.family || (other.component !== own.component && other.component !== other.family);
    });
    expect(across).to.deep.equal([]);
  });

  /** Plug-ins use the API of third-party components only; the other components are features of the core and import layers. */
  const plugins = ['acme', 's3-blobs', 'formats', 'metrics', 'authn-saml', 'console', 'shared-storage', 'webdav'];

  it('lets plug-ins import lib/plugin only', () => {
    const around = offences(({ file, from }) => {
      const component = /^components[/\\]([^/\\]+)[/\\]/.exec(relative(packageRoot, file))?.[1];
      if (!from.startsWith('.') || component === undefined || !plugins.includes(component)) return false;
      const there = pathOf(resolve(dirname(file), from));
      return there.startsWith('lib/') && !there.startsWith('lib/plugin/');
    });
    expect(around).to.deep.equal([]);
  });

  it('lets features import layers directly, not lib/plugin', () => {
    const around = offences(
      ({ file, from }) =>
        isIn(file, 'components/') &&
        !plugins.some((name) => isIn(file, `components/${name}/`)) &&
        isIn(resolve(dirname(file), from), 'lib/plugin'),
    );
    expect(around).to.deep.equal([]);
  });

  it('keeps LevelDB and quadstore in storage, and Comunica in query', () => {
    const stray = offences(
      ({ file, from }) =>
        (/^(?:classic-level|abstract-level|quadstore)/.test(from) && !isIn(file, 'lib/storage/')) ||
        (/^@comunica\//.test(from) && !isIn(file, 'lib/query/')),
    );
    expect(stray).to.deep.equal([]);
  });

  it('keeps koa in http, and client sockets in outbound', () => {
    const koa = offences(({ file, from }) => /^@?koa/.test(from) && !isIn(file, 'lib/http/'));
    const sockets = offences(
      ({ file, from }) =>
        /^(?:undici|node:(?:https|net|tls|dgram|dns))/.test(from) &&
        !isIn(file, 'lib/tools/outbound/') &&
        !/import type/.test(readLine(file, from)) &&
        // To read certificates, and for the trusted authorities.
        !isIn(file, 'lib/server/') &&
        !isIn(file, 'lib/component/certificates') &&
        !isIn(file, 'components/acme/'),
    );
    expect([...koa, ...sockets]).to.deep.equal([]);
  });

  it('imports pg in shared-storage only', () => {
    expect(offences(({ file, from }) => from === 'pg' && !isIn(file, 'components/shared-storage/'))).to.deep.equal([]);
  });

  it('keeps fast-json-patch and the reader of exact numbers in json', () => {
    const stray = offences(
      ({ file, from }) => /^(?:fast-json-patch|json-custom-numbers)/.test(from) && !isIn(file, 'lib/tools/json/'),
    );
    expect(stray).to.deep.equal([]);
  });

  /** Folders of layers that have layers of their own, the lowest first. */
  const inner: Readonly<Record<string, readonly (readonly string[])[]>> = {
    'lib/storage': [['keys'], ['level', 'log'], ['blobs'], ['graphs'], ['transactions']],
    'lib/query': [['access', 'parse'], ['segments'], ['expressions', 'memory'], ['plan'], ['operators'], ['']],
    'lib/server': [['settings'], ['storage'], ['listeners', 'storages'], ['']],
  };
  for (const [layer, folders] of Object.entries(inner))
    it(`imports downwards between the folders of ${layer}`, () => {
      const folderOf = (file: string): string => relative(layer, dirname(pathOf(file)));
      const depthOf = (file: string): number => folders.findIndex((names) => names.includes(folderOf(file)));
      const own = files.filter((file) => isIn(file, `${layer}/`));
      expect(own.filter((file) => depthOf(file) < 0)).to.deep.equal([]);
      const upward = offences(({ file, from }) => {
        if (!from.startsWith('.') || !isIn(file, `${layer}/`)) return false;
        const there = resolve(dirname(file), from);
        return isIn(there, `${layer}/`) && folderOf(there) !== folderOf(file) && depthOf(there) >= depthOf(file);
      });
      expect(upward).to.deep.equal([]);
    });

  it('has no rings of files', () => {
    expect(ringsOf(importedFiles(imports))).to.deep.equal([]);
  });

  it('has no rings of folders', () => {
    const all = importsOf(sourceFiles('lib', 'components', 'console/src'));
    expect(ringsOf(importedFolders(all))).to.deep.equal([]);
  });

  it('imports packages by name only, and declares each of them', () => {
    const { dependencies, devDependencies } = JSON.parse(readFileSync(join(packageRoot, 'package.json'), 'utf8')) as {
      dependencies: Record<string, string>;
      devDependencies: Record<string, string>;
    };
    const stray = [...imports, ...importsOf(sourceFiles('spec'))].filter(({ file, from, isType }) => {
      if (/^(?:\.|node:)/.test(from)) return false;
      // The index of this one loads five times as many modules.
      if (from === '@comunica/actor-init-query/lib/QueryEngineBase.js') return false;
      // The package has no entry of its name.
      if (from.startsWith('@modelcontextprotocol/sdk/client/')) return !isIn(file, 'spec/');
      // The package by its own name, as other packages import it.
      if (from === 'quadpod') return isIn(file, 'lib/') || isIn(file, 'components/');
      const isRuntime = !isType && !isIn(file, 'spec/');
      return !Object.hasOwn(dependencies, from) && (isRuntime || !Object.hasOwn(devDependencies, from));
    });
    expect(stray.map(({ line }) => line)).to.deep.equal([]);
  });

  it('has no file above 400 lines', () => {
    const long = files.filter((file) => readFileSync(file, 'utf8').split('\n').length > 401);
    expect(long.map(pathOf)).to.deep.equal([]);
  });

  it('loads neither the query engine nor LevelDB with a thread for documents', () => {
    const isLoading = ({ line, isType }: Import): boolean => !isType && !line.includes(': import(');
    const loaded = [...reachOf(importedFiles(imports.filter(isLoading)), 'lib/documents/document-worker.ts')];
    expect(loaded).to.include('lib/rdf/parse.ts');
    expect(loaded.filter((path) => /^lib\/(?:query|storage\/level)\//.test(path))).to.deep.equal([]);
  });

  const functions = files.flatMap(functionsOf);

  it('has no function above 60 lines', () => {
    expect(functions.length).to.be.above(1500);
    expect(functions.filter(({ lines }) => lines > 60)).to.deep.equal([]);
  });

  it('has no function with more than four positional parameters except those that had them on 2026-11-22', () => {
    const many = functions.filter(({ parameters }) => parameters > 4).map(({ path, name }) => `${path} ${name}`);
    expect(many.filter((each) => !longParameterLists.has(each))).to.deep.equal([]);
    expect([...longParameterLists].filter((each) => !many.includes(each))).to.deep.equal([]);
  });
});

const readLine = (file: string, from: string): string =>
  readFileSync(file, 'utf8')
    .split('\n')
    .find((line) => line.includes(`'${from}'`)) ?? '';
