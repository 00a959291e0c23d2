/** The engine is loaded in the HTTP thread in steps, and without the command line of Comunica. */
import { execFileSync } from 'node:child_process';
import { expect } from 'chai';
import { packageRoot } from '../../../lib/tools/threads/package-root.js';

const script = `
  import { createRequire } from 'node:module';
  const { loadQueryEngine } = await import('./dist/lib/query/query-engine.js');
  const before = Object.keys(createRequire(import.meta.url).cache).length;
  let turns = 0;
  const count = () => { turns++; timer = setImmediate(count); };
  let timer = setImmediate(count);
  const engine = await loadQueryEngine();
  clearImmediate(timer);
  const modules = Object.keys(createRequire(import.meta.url).cache);
  console.log(JSON.stringify({ turns, added: modules.length - before, is: typeof engine.queryBindings,
    stray: modules.filter((file) => /node_modules.(componentsjs|winston|rdf-parse)./.test(file)) }));
`;

const searching = `
  import { createRequire } from 'node:module';
  const { startSpecServer } = await import('./dist/spec/support/server.js');
  const server = await startSpecServer({ settings: { 'dev.open': 'true' } });
  const modules = () => Object.keys(createRequire(import.meta.url).cache);
  const before = new Set(modules());
  const { status } = await fetch(server.root + '.lws/type-search');
  console.log(JSON.stringify({ status, before: before.size, 
    added: modules().filter((file) => !before.has(file) && /node_modules.@(?:comunica|traqula)./.test(file)) }));
  await server.stop();
  process.exit();
`;

describe('Loading of the query engine', function () {
  this.timeout(60_000);

  it('completes before the server listens, so that the first type search loads nothing', () => {
    const output = execFileSync(process.execPath, ['--input-type=module', '-e', searching], {
      cwd: packageRoot,
      encoding: 'utf8',
      env: { ...process.env, NODE_OPTIONS: '' },
    });
    const { status, before, added } = JSON.parse(output.trim().split('\n').at(-1)!);
    expect(status).to.equal(200);
    expect(before).to.be.above(100);
    expect(added).to.deep.equal([]);
  });

  it('yields to the event loop between packages, and only loads required ones', () => {
    const output = execFileSync(process.execPath, ['--input-type=module', '-e', script], {
      cwd: packageRoot,
      encoding: 'utf8',
      env: { ...process.env, NODE_OPTIONS: '' },
    });
    const { turns, added, is, stray } = JSON.parse(output);
    expect(is).to.equal('function');
    expect(stray).to.deep.equal([]);
    expect(added).to.be.within(50, 300);
    // One after each of the eight packages. Some versions of Node need more to load.
    expect(turns).to.be.at.least(8);
  });
});
