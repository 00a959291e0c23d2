/** Documents for people: nothing that they point to is missing, and what they show works. */
import { existsSync, mkdtempSync, readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join, relative } from 'node:path';
import { expect } from 'chai';
import { isIdentity } from '../../lib/authorization/did.js';
import { packageRoot } from '../../lib/threads/package-root.js';
import { request } from '../support/http.js';
import { startProcess } from '../support/process.js';

const skipped = new Set(['node_modules', 'dist', '.git']);

function documentsIn(folder: string): string[] {
  return readdirSync(folder, { withFileTypes: true }).flatMap((entry) => {
    const path = join(folder, entry.name);
    if (entry.isDirectory()) return skipped.has(entry.name) ? [] : documentsIn(path);
    return entry.name.endsWith('.md') ? [path] : [];
  });
}

const read = (name: string): string => readFileSync(join(packageRoot, name), 'utf8');

describe('Documents', () => {
  it('link to nothing that is not there', () => {
    const documents = documentsIn(packageRoot);
    expect(documents.length).to.be.above(150);
    const dead = documents.flatMap((path) =>
      [...readFileSync(path, 'utf8').matchAll(/\]\(([^)\s]+)\)/g)]
        .map(([, target]) => target!.split('#', 1)[0]!)
        .filter((target) => target !== '' && !/^[a-z]+:/.test(target) && !existsSync(join(dirname(path), target)))
        .map((target) => `${relative(packageRoot, path)}: ${target}`),
    );
    expect(dead).to.deep.equal([]);
  });

  it('are there for every floor and component', () => {
    const folders = ['lib', 'components'].flatMap((top) =>
      readdirSync(join(packageRoot, top)).map((name) => join(top, name)),
    );
    const without = folders.filter(
      (folder) =>
        statSync(join(packageRoot, folder)).isDirectory() && !existsSync(join(packageRoot, folder, 'README.md')),
    );
    expect(without).to.deep.equal([]);
  });

  it('rule 3.13: print identities that are whole, or that nobody takes for one', () => {
    const printed = documentsIn(packageRoot).flatMap((path) =>
      [...readFileSync(path, 'utf8').matchAll(/did:key:[\w.…-]+/g)].map(([did]) => ({
        did,
        path: relative(packageRoot, path),
      })),
    );
    expect(printed.length).to.be.above(5);
    expect(printed.filter(({ did }) => !/^did:key:(?:YOUR|THEIR)-DID$/.test(did) && !isIdentity(did))).to.deep.equal(
      [],
    );
  });

  it('number decisions once each, and list them all', () => {
    const files = readdirSync(join(packageRoot, 'docs/decisions')).filter((name) => /^\d/.test(name));
    const numbers = files.map((name) => Number(name.slice(0, 4)));
    expect(numbers).to.deep.equal(numbers.map((_, index) => index + 1));
    const listed = [...read('docs/decisions/README.md').matchAll(/^\d+\. \[.*\]\((.+?)\)/gm)].map(([, name]) => name);
    expect(listed).to.deep.equal(files);
  });

  it('show a component that works', async () => {
    const code = /```js\n(const route[\s\S]*?)```/.exec(read('CONTRIBUTING.md'))![1]!;
    const file = join(mkdtempSync(join(tmpdir(), 'quadpod-component-')), 'visits.mjs');
    writeFileSync(file, code);
    const environment = { LWS_COMPONENTS: file, LWS_DEV_OPEN: 'false', LWS_CONSOLE_ENABLED: 'false' };
    const server = await startProcess({ environment });
    try {
      const headers = { Authorization: `Bearer ${/TOKEN='?([\w.-]+)/.exec(server.output.stderr)![1]}` };
      expect((await request(`${server.root}seen/`, { method: 'PUT', headers })).status).to.equal(201);
      const { status, text } = await request(`${server.root}.lws/visits`, { headers });
      expect([status, JSON.parse(text)]).to.deep.equal([200, { [`${server.root}seen/`]: 1 }]);
      expect((await request(`${server.root}.lws/visits`)).status).to.equal(401);
    } finally {
      await server.stop();
    }
  });
});
