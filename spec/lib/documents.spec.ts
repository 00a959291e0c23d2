/** Documentation: links are valid, and examples work. */
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join, relative } from 'node:path';
import { pathToFileURL } from 'node:url';
import { gunzipSync } from 'node:zlib';
import { expect } from 'chai';
import { isIdentity } from '../../lib/authorization/did.js';
import { packageRoot } from '../../lib/tools/threads/package-root.js';
import { request } from '../support/http.js';
import { runProcess, startProcess } from '../support/process.js';
import { skippedRdfTests } from '../w3c/rdf-skipped.js';

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
  it('have no broken links', () => {
    const documents = documentsIn(packageRoot);
    expect(documents.length).to.be.above(70);
    const dead = documents.flatMap((path) =>
      [...readFileSync(path, 'utf8').matchAll(/\]\(([^)\s]+)\)/g)]
        .map(([, target]) => target!.split('#', 1)[0]!)
        .filter((target) => target !== '' && !/^[a-z]+:/.test(target) && !existsSync(join(dirname(path), target)))
        .map((target) => `${relative(packageRoot, path)}: ${target}`),
    );
    expect(dead).to.deep.equal([]);
  });

  it('keep llms.txt and the skill for agents current (node scripts/agent-documents.mjs writes them)', async () => {
    const { agentDocuments, unlisted } = (await import(
      pathToFileURL(join(packageRoot, 'scripts/agent-documents.mjs')).href
    )) as { agentDocuments(): Record<string, string>; unlisted(): string[] };
    expect(unlisted()).to.deep.equal([]);
    const documents = agentDocuments();
    for (const [path, text] of Object.entries(documents)) expect(read(path), path).to.equal(text);
    const named = [...documents['llms.txt']!.matchAll(/\]\(([^)]+)\): \S/g)].map(([, target]) => target!);
    expect(named.length).to.be.above(20);
    expect(named.filter((target) => !existsSync(join(packageRoot, target)))).to.deep.equal([]);
    const [, name, description] = /^---\nname: ([a-z-]+)\ndescription: (.+)\n---\n/.exec(
      documents['skills/quadpod/SKILL.md']!,
    )!;
    expect([name, description!.length < 1024]).to.deep.equal(['quadpod', true]);
  });

  it('exist for every folder of lib and every component', () => {
    const folders = ['lib', 'components'].flatMap((top) =>
      readdirSync(join(packageRoot, top)).map((name) => join(top, name)),
    );
    const without = folders.filter(
      (folder) =>
        statSync(join(packageRoot, folder)).isDirectory() && !existsSync(join(packageRoot, folder, 'README.md')),
    );
    expect(without).to.deep.equal([]);
  });

  it('contain only valid identities, or ones that are clearly placeholders (rule 3.13)', () => {
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

  it('number decisions once each, list them all, and have context, decision and rejected alternatives in each', () => {
    const files = readdirSync(join(packageRoot, 'docs/decisions')).filter((name) => /^\d/.test(name));
    const numbers = files.map((name) => Number(name.slice(0, 4)));
    expect(new Set(numbers).size).to.equal(numbers.length);
    const listed = [...read('docs/decisions/README.md').matchAll(/^- \[(\d+)\. .*\]\((.+?)\)/gm)];
    expect(listed.map(([, , name]) => name)).to.deep.equal(files);
    expect(listed.map(([, number]) => Number(number))).to.deep.equal(numbers);
    for (const file of files)
      for (const part of ['**Context.**', '**Decision.**', '**Rejected.**'])
        expect(read(`docs/decisions/${file}`), file).to.contain(`\n${part} `);
  });

  it('list the skipped W3C tests of RDF formats in docs/conformance.md, with their number', () => {
    const table = read('docs/conformance.md');
    for (const [reason, ids] of Object.entries(skippedRdfTests)) expect(table).to.include(`${ids.length}: ${reason}`);
  });

  it('contain a working component in docs/component.md: setting, errors, route, listener, check, command', async () => {
    const [, code] = /```js\n(import [\s\S]*?)```/.exec(read('docs/component.md'))!;
    const folder = mkdtempSync(join(tmpdir(), 'quadpod-component-'));
    mkdirSync(join(folder, 'node_modules'));
    symlinkSync(packageRoot, join(folder, 'node_modules/quadpod'));
    const file = join(folder, 'guestbook.mjs');
    writeFileSync(file, code!);
    const component = {
      LWS_COMPONENTS: `./${relative(process.cwd(), file)}`,
      LWS_CONSOLE_ENABLED: 'false',
      LWS_GUESTBOOK_LONGEST: '5',
    };
    const server = await startProcess({
      environment: { ...component, LWS_DEV_OPEN: 'false' },
      dataDir: join(folder, 'data'),
    });
    const owner = { Authorization: `Bearer ${/TOKEN='?([\w.-]+)/.exec(server.output.stderr)![1]}` };
    const sign = async (body: string, headers = owner as Record<string, string>): Promise<number> =>
      (await request(`${server.root}.lws/guestbook`, { method: 'POST', headers, body })).status;
    try {
      expect((await request(`${server.root}seen/`, { method: 'PUT', headers: owner })).status).to.equal(201);
      for (const bad of ['', '{', '[]', '{"text":""}', '{"text":1}']) expect(await sign(bad), bad).to.equal(400);
      expect(await sign('{"text":"too long"}')).to.equal(413);
      expect(await sign('{"text":"Hello"}', {})).to.equal(401);
      expect([await sign('{"text":"Hello"}'), await sign('{"text":"Hi"}')]).to.deep.equal([201, 204]);
      const { status, text } = await request(`${server.root}.lws/guestbook`, { headers: owner });
      expect([status, JSON.parse(text).writes, JSON.parse(text).entries[0].text]).to.deep.equal([200, 1, 'Hi']);
      expect((await request(`${server.root}.lws/guestbook`)).status).to.equal(401);
    } finally {
      await server.stop();
    }
    const run = (...words: string[]) =>
      runProcess(words, { dataDir: join(folder, 'data'), root: server.root, environment: component });
    expect((await run('guestbook')).stdout).to.match(/^did:key:\w+: Hi\n$/);
    expect((await run('guestbook', '--of=did:key:other')).stdout).to.equal('');
    expect((await run('help')).stdout).to.match(/guestbook +print the guest book/);
    expect((await run('guestbook', '--help')).stdout).to.include('--of IRI');
    expect((await run('guestbook', 'extra')).stderr).to.include('guestbook accepts no operands');
    expect((await run('check')).code).to.equal(0);
    expect((await run('settings', '--describe')).stdout).to.match(
      /lws\.guestbook\.longest = 5 .*\n {4}Maximum length of an entry, in characters\.\n/,
    );
  }).timeout(60_000);

  it('contain a working exchange format in docs/component.md: input, errors and output', async () => {
    const [, code] = /## Exchange formats[\s\S]*?```js\n(import [\s\S]*?)```/.exec(read('docs/component.md'))!;
    const folder = mkdtempSync(join(tmpdir(), 'quadpod-format-'));
    mkdirSync(join(folder, 'node_modules'));
    symlinkSync(packageRoot, join(folder, 'node_modules/quadpod'));
    const file = (name: string, text: string): string => {
      writeFileSync(join(folder, name), text);
      return join(folder, name);
    };
    const environment = { LWS_COMPONENTS: file('lines.mjs', code!), LWS_CONSOLE_ENABLED: 'false' };
    const root = 'http://localhost:1/';
    const run = (...words: string[]) => runProcess(words, { dataDir: join(folder, 'data'), root, environment });
    const imported = await run('import', file('poem.lines', 'one\ntwo\n'), '--into', `${root}poem/`);
    expect(imported.stdout, imported.stderr).to.match(/2 resources created/);
    const bad = await run('import', file('bad.lines', 'a\0'));
    expect([bad.code, bad.stderr.includes('bad.lines is not a text file.')], bad.stderr).to.deep.equal([1, true]);
    const exported = await run('export', 'poem/', '--format', 'lines');
    const lines = `${root}poem/line-1 text/plain\n${root}poem/line-2 text/plain\n`;
    expect(exported.stdout, exported.stderr).to.equal(lines);
    await run('import', file('note.ttl', '<> <urn:says> 1 .'), '--into', `${root}poem/`);
    const packed = join(folder, 'poem.lines.gz');
    expect((await run('export', 'poem/', '--output', packed)).code).to.equal(0);
    expect(gunzipSync(readFileSync(packed)).toString()).to.equal(`${lines}${root}poem/note.ttl urn:says\n`);
    const server = await startProcess({
      environment: { ...environment, LWS_DEV_OPEN: 'false' },
      dataDir: join(folder, 'empty'),
    });
    try {
      // An anonymous caller may read nothing: the format writes no byte.
      const empty = await request(`${server.root}.lws/export?format=lines`);
      expect([empty.status, empty.text]).to.deep.equal([200, '']);
    } finally {
      await server.stop();
    }
    const unknown = await run('export', '--format', 'none');
    expect([unknown.code, unknown.stderr]).to.satisfy(
      ([code, text]: [number, string]) => code === 2 && /lines +a text file with one resource per line/.test(text),
    );
  }).timeout(60_000);
});
