/** Import and export of directories and ZIPs. */
import { createWriteStream } from 'node:fs';
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import type { Quad } from '@rdfjs/types';
import { expect } from 'chai';
import fc from 'fast-check';
import { Parser } from 'n3';
import { DataFactory } from 'rdf-data-factory';
import type { Member, MemberOptions, ReadStep, ResourceMember } from '../../../../lib/exchange/member.js';
import { isomorphic } from '../../../lib/rdf/isomorphism.js';
import { openReader, openWriter } from '../../../support/formats.js';
import '../../../support/random-seed.js';
import { runs } from '../../../support/speed.js';

const into = 'http://new.example/in/';
const factory = new DataFactory<Quad>();

/** Member with its content. */
interface Shown {
  readonly member: Omit<Member, 'open' | 'quads' | 'source'>;
  readonly quads?: readonly Quad[];
  readonly content?: string;
}

async function shownOf({ member }: Pick<ReadStep, 'member'>): Promise<Shown> {
  if (member.kind === 'left-out' || member.kind === 'state') throw new Error(JSON.stringify(member));
  const { source: _source, ...rest } = member;
  if (rest.kind === 'container') return { member: rest };
  if (rest.kind === 'rdf') {
    const { quads, prefixes: _prefixes, ...facts } = rest;
    return { member: facts as Shown['member'], quads };
  }
  const chunks: Uint8Array[] = [];
  for await (const chunk of rest.open()) chunks.push(chunk);
  const { open: _open, size: _size, ...facts } = rest;
  return { member: facts as Shown['member'], content: Buffer.concat(chunks).toString() };
}

describe('Directory format', () => {
  let folder: string;
  beforeEach(async () => {
    folder = await mkdtemp(join(tmpdir(), 'folder-'));
  });
  afterEach(() => rm(folder, { recursive: true }));

  async function put(files: Readonly<Record<string, string | Uint8Array>>): Promise<string> {
    const root = join(folder, 'in');
    for (const [path, content] of Object.entries(files)) {
      await mkdir(dirname(join(root, path)), { recursive: true });
      await writeFile(join(root, path), content);
    }
    return root;
  }

  async function* readSteps(path: string, options: Partial<MemberOptions> = {}): AsyncGenerator<ReadStep> {
    const reader = await openReader({ path });
    yield* reader.read({ into, rewrite: [], ...options });
    await reader.close();
  }
  async function read(path: string, options: Partial<MemberOptions> = {}): Promise<ReadStep[]> {
    const steps: ReadStep[] = [];
    for await (const step of readSteps(path, options)) steps.push(step);
    return steps;
  }
  const pathsOf = (steps: readonly ReadStep[]): string[] =>
    steps.map(({ member }) => {
      if (member.kind === 'left-out') return `${member.source}: ${member.why}`;
      if (member.kind === 'state') return member.key;
      return `${member.path} ${member.kind === 'bytes' ? member.mediaType : member.kind}`;
    });
  const triplesOf = (steps: readonly ReadStep[]): string[] =>
    steps.flatMap(({ member }) =>
      member.kind === 'rdf'
        ? member.quads.map(({ subject, predicate, object }) => `${subject.value} ${predicate.value} ${object.value}`)
        : [],
    );

  it('imports files as resources of the same names, with media types by extension', async () => {
    const turtle = '<> <#p> <x.jpg>, <../b> .';
    const path = await put({
      'a b.ttl': turtle,
      'c/d.jsonld': '{"@id": "", "http://e.example/p": "o"}',
      'c/e.rdf': `<rdf:RDF xmlns:rdf="http://www.w3.org/1999/02/22-rdf-syntax-ns#" xmlns:e="http://e.example/"><rdf:Description rdf:about=""><e:p>o</e:p></rdf:Description></rdf:RDF>`,
      'c/f.n3': '<> <#p> "n3" .',
      'c/g.nt': '<http://e.example/s> <http://e.example/p> "nt" .\n',
      'c/h.trig': '<> <#p> "trig" .',
      'c/i.nq': '<http://e.example/s> <http://e.example/p> "nq" .\n',
      'j.html': '<p>',
      'k.JSON': '{}',
      l: 'x',
      'ü%.PNG': 'x',
    });
    const steps = await read(path);
    expect(pathsOf(steps)).to.deep.equal([
      'a%20b.ttl rdf',
      'c/ container',
      ...['d.jsonld', 'e.rdf', 'f.n3', 'g.nt', 'h.trig', 'i.nq'].map((name) => `c/${name} rdf`),
      'j.html text/html',
      'k.JSON application/json',
      'l application/octet-stream',
      '%C3%BC%25.PNG image/png',
    ]);
    const triples = triplesOf(steps);
    expect(triples[0]).to.equal(`${into}a%20b.ttl ${into}a%20b.ttl#p ${into}x.jpg`);
    expect(triples[1]).to.equal(`${into}a%20b.ttl ${into}a%20b.ttl#p http://new.example/b`);
    expect(triples.slice(2)).to.deep.equal([
      `${into}c/d.jsonld http://e.example/p o`,
      `${into}c/e.rdf http://e.example/p o`,
      `${into}c/f.n3 ${into}c/f.n3#p n3`,
      'http://e.example/s http://e.example/p nt',
      `${into}c/h.trig ${into}c/h.trig#p trig`,
      'http://e.example/s http://e.example/p nq',
    ]);
  });

  it('leaves out files that are not content, and reports them', async () => {
    const path = await put({
      '.DS_Store': 'x',
      '.git/config': 'x',
      '.git/objects/a': 'x',
      '__MACOSX/._a': 'x',
      'Thumbs.db': 'x',
      'a.ttl.acl': '',
      'a/.meta': '',
      'c.n3': '{ ?x <#p> ?y } => { ?y <#q> ?x } .',
      'd.ttl': '<> <#p>\n\n "1" ; ] .',
      'e.jsonld': '{"@context": "https://remote.example/context", "p": 1}',
    });
    const names = 'Names ending in .acl or .meta are reserved for access control lists and metadata.';
    const shown = pathsOf(await read(path));
    expect(shown.slice(0, 3)).to.deep.equal(['a.ttl.acl: '.concat(names), 'a/ container', 'a/.meta: '.concat(names)]);
    expect(shown[3]).to.match(/^c\.n3: It is invalid\. c\.n3: It has N3 rules, variables or formulas/);
    expect(shown[4]).to.match(/^d\.ttl: It is invalid\. d\.ttl:3: /);
    expect(shown[5]).to.match(/^e\.jsonld: .* The JSON-LD context https:\/\/remote\.example\/context does not ship/);
    expect(shown.slice(6)).to.deep.equal([
      'The directory: 5 files of operating systems and programs, such as .DS_Store, Thumbs.db, __MACOSX/ and .git/.',
    ]);
  });

  /** Returns members with their links and the values of their triples. */
  const graphsOf = (steps: readonly ReadStep[]): unknown[] =>
    steps.map(({ member }) => {
      if (member.kind !== 'rdf') return pathsOf([{ member } as ReadStep])[0];
      const values = member.quads.map(({ object }) => object.value).join();
      return [member.path, values, ...(member.links ? [member.links] : []), ...(member.hasMore ? ['more'] : [])];
    });
  const via = (...names: readonly string[]) => ({ via: names.map((href) => ({ href })) });

  it('imports an .nq or .trig with one graph as a resource, and with several as a container, with links to the original names (rule 17.10)', async () => {
    const line = (graph: string, value: string): string => `<urn:s> <urn:p> "${value}" ${graph}.\n`;
    const prov = '<http://www.w3.org/ns/prov#> ';
    const path = await put({
      'a.nq': line(prov, '1') + line(prov, '2'),
      'b.nq': [
        line(prov, '1'),
        line('', '2'),
        line('<http://x.example/prov/> ', '3'),
        line(prov, '4'),
        line('_:g ', '5'),
        line('<http://x.example/..> ', '6'),
        line('<http://x.example/a%20b.acl> ', '7'),
        line('<http://old.example/c> ', '8'),
      ].join(''),
      'c.trig': '@prefix : <http://e.example/> . :g { <> <#p> "1" } :h { <> <#p> "2" } :g { <> <#p> "3" }',
      'd.nq': '',
      'e.nq': line('', '1'),
    });
    const rewrite = [{ from: 'http://old.example/c', to: 'http://new.example/in/c' }];
    const steps = await read(path, { rewrite });
    expect(graphsOf(steps)).to.deep.equal([
      ['a.nq', '1,2', via('http://www.w3.org/ns/prov#')],
      'b.nq/ container',
      ['b.nq/prov', '1', via('http://www.w3.org/ns/prov#')],
      ['b.nq/default', '2'],
      ['b.nq/prov-2', '3', via('http://x.example/prov/')],
      ['b.nq/prov', '4', via('http://www.w3.org/ns/prov#')],
      ['b.nq/graph', '5'],
      ['b.nq/graph..', '6', via('http://x.example/..')],
      ['b.nq/grapha%20b.acl', '7', via('http://x.example/a%20b.acl')],
      ['b.nq/c', '8', via('http://old.example/c')],
      'c.trig/ container',
      ['c.trig/g', '1', via('http://e.example/g')],
      ['c.trig/h', '2', via('http://e.example/h')],
      ['c.trig/g', '3', via('http://e.example/g')],
      ['d.nq', ''],
      ['e.nq', '1'],
    ]);
    for (const [index, { cursor }] of steps.entries())
      expect(graphsOf(await read(path, { rewrite, cursor }))).to.deep.equal(graphsOf(steps.slice(index + 1)));
  });

  it('splits a large graph into parts, and merges graphs with the same rewritten name (rule 17.10)', async () => {
    const lines = (graph: string, count: number): string =>
      Array.from({ length: count }, (_, index) => `<urn:s> <urn:p> "${index}" <${graph}> .\n`).join('');
    const path = await put({
      'a.nq': lines('http://old.example/g', 10_001) + lines('http://e.example/h', 1),
      'b.nq': lines('http://old.example/g', 1) + lines('http://new.example/g', 1),
    });
    const steps = await read(path, { rewrite: [{ from: 'http://old.example/', to: 'http://new.example/' }] });
    const shown = steps.map(({ member }) =>
      member.kind === 'rdf' ? [member.path, member.quads.length, member.hasMore ?? false] : member.kind,
    );
    expect(shown).to.deep.equal([
      'container',
      ['a.nq/g', 10_000, true],
      ['a.nq/g', 1, false],
      ['a.nq/h', 1, false],
      ['b.nq', 2, false],
    ]);
    expect(graphsOf(steps).at(-1)).to.deep.include(via('http://old.example/g', 'http://new.example/g'));
  });

  it('resolves relative references against the target, and rewrites absolute ones once', async () => {
    const path = await put({
      'a.ttl': '@prefix o: <http://old.example/> . <> o:p o:x, <http://old.example/y>, <z>, "1"^^o:type .',
      'b.jsonld': '{"@id": "http://old.example/s", "http://old.example/p": {"@id": "http://old.example/o"}}',
    });
    const rewrite = [{ from: 'http://old.example/', to: 'http://old.example/new/' }];
    const steps = await read(path, { rewrite });
    expect(triplesOf(steps)).to.deep.equal([
      ...['http://old.example/new/x', 'http://old.example/new/y', `${into}z`, '1'].map(
        (object) => `${into}a.ttl http://old.example/new/p ${object}`,
      ),
      'http://old.example/new/s http://old.example/new/p http://old.example/new/o',
    ]);
    const [first] = steps;
    expect(first!.member).to.have.property('prefixes').that.deep.equals({ o: 'http://old.example/new/' });
  });

  it('rejects an invalid index', async () => {
    for (const index of ['{', '[]', '{"quadpod":2,"files":{}}', '{"quadpod":1,"files":{"a":{"name":"b/c"}}}'])
      expect(await read(await put({ '.quadpod.json': index })).catch((error: Error) => error.message)).to.match(
        /^\.quadpod\.json is invalid: /,
      );
    const links = '{"quadpod":1,"files":{"a":{"links":{"type":[{"href":"relative"}]}}}}';
    expect(await read(await put({ '.quadpod.json': links, a: '' })).catch((error: Error) => error.message)).to.match(
      /^\.quadpod\.json: The links of "a" are invalid\. /,
    );
  });

  it('reads a large graph in parts, and resumes within it', async () => {
    const lines = Array.from({ length: 25_000 }, (_, index) => `_:n${index % 7} <#p> ${index} .`).join('\n');
    const path = await put({ 'a.ttl': lines, 'b.ttl': '<> <#p> 1 .' });
    const steps = await read(path);
    expect(
      steps.map(({ member }) => (member.kind === 'rdf' ? [member.quads.length, member.hasMore] : [])),
    ).to.deep.equal([
      [10_000, true],
      [10_000, true],
      [5_000, undefined],
      [1, undefined],
    ]);
    const later = await read(path, { cursor: steps[0]!.cursor });
    expect(later.map(({ member }) => ({ ...member }))).to.deep.equal(
      steps.slice(1).map(({ member }) => ({ ...member })),
    );
    const { cursor } = steps[1]!;
    await writeFile(join(path, 'a.ttl'), lines.replace('<#p> 24000 .', '<#p> "x" .'));
    expect(await read(path, { cursor })).to.have.length(2);
    for (const other of [lines.replace('<#p> 19000 .', '<#p> "x" .'), '<> <#p> 1 .']) {
      await writeFile(join(path, 'a.ttl'), other);
      const changed = await read(path, { cursor }).catch((error: Error) => error.message);
      expect(changed).to.match(/^a\.ttl has changed before the position where the import stopped/);
    }
    await writeFile(join(path, 'a.ttl'), `${lines}\n<> <#p> ] .`);
    const broken = await read(path).catch((error: Error) => error.message);
    expect(broken).to.match(/^a\.ttl:25001: /);
  });

  async function written(members: readonly Member[], format: 'zip' | 'folder', name: string): Promise<string> {
    const path = join(folder, name);
    const target = format === 'zip' ? { stream: createWriteStream(path) } : { folder: path };
    const writer = await openWriter(format, target, { of: into });
    for (const member of members) await writer.write(member);
    await writer.end();
    return path;
  }

  const graph = (path: string, turtle: string, rest: object = {}): Member => ({
    kind: 'rdf',
    path,
    source: '',
    quads: new Parser({ baseIRI: into + path }).parse(turtle),
    prefixes: {},
    ...rest,
  });
  const bytes = (path: string, mediaType: string, rest: object = {}): Member => ({
    kind: 'bytes',
    path,
    source: '',
    mediaType,
    open: async function* () {
      yield Buffer.from(path);
    },
    ...rest,
  });
  const container = (path: string, rest: object = {}): Member => ({ kind: 'container', path, source: '', ...rest });

  /** Sorts members by path, like an export. */
  const inOrder = <T extends { readonly path: string }>(members: readonly T[]): T[] =>
    [...members].sort((a, b) => (a.path < b.path ? -1 : 1));

  async function expectSame(members: readonly Member[], format: 'zip' | 'folder', name: string): Promise<void> {
    const found = new Map<string, Shown>();
    for await (const step of readSteps(await written(members, format, name))) {
      const shown = await shownOf(step);
      found.set((shown.member as ResourceMember).path, shown);
    }
    const expected = await Promise.all(members.map((member) => shownOf({ member })));
    for (const { member, quads, content } of expected) {
      const same = found.get((member as ResourceMember).path);
      expect(same?.member, JSON.stringify(member)).to.deep.equal(member);
      expect(same!.content).to.equal(content);
      if (quads) expect(isomorphic([...same!.quads!], [...quads]), JSON.stringify(same!.quads)).to.equal(true);
    }
    expect([...found.keys()].filter((path) => path !== '')).to.have.length(
      members.filter((each) => (each as ResourceMember).path !== '').length,
    );
  }

  it('round-trips names of all kinds, including those in the index only', async () => {
    const links = { type: [{ href: 'http://e.example/T' }], author: [{ href: 'http://e.example/me' }] };
    const modified = 1_700_000_000_000;
    const members = inOrder([
      container('', { links }),
      graph('a', '<> <#p> <a.ttl>, <#it>, [ <#q> (1 2) ] .', { links, modified }),
      graph('a.ttl', '<> <#p> "2" .', { modified }),
      container('a.ttl.ttl/'),
      graph('a.ttl.ttl/b.nt', '<> <#p> "nt" .', { modified }),
      bytes('a~2.ttl', 'text/plain', { modified }),
      bytes('b.ttl', 'text/turtle', { modified }),
      bytes('c%20d', 'image/png', { modified }),
      bytes('c%2Dd', 'text/html;charset=utf-8', { modified, links }),
      bytes('c%FFd', 'application/octet-stream', { modified }),
      bytes('c%252Dd', 'application/json', { modified }),
      bytes('c%2Fd', 'application/octet-stream', { modified }),
      bytes('c%5Cd', 'application/octet-stream', { modified }),
      graph('e', '', { modified }),
      graph('.quadpod.json', '<> <#p> "3" .', { modified }),
      container('.git/', { links }),
      bytes('.git/x', 'text/plain', { modified }),
      container('empty/'),
      bytes('Thumbs.db', 'application/octet-stream', { modified }),
      container('e.ttl/', { links }),
      graph('e.ttl/f', '<../e> <#p> <> .', { modified }),
    ] as (Member & { path: string })[]);
    await expectSame(members, 'folder', 'out');
    await expectSame(members, 'zip', 'out.zip');
  });

  it('round-trips random members', async () => {
    const name = fc.constantFrom(
      'a',
      'a.ttl',
      'a.ttl.ttl',
      'a~2.ttl',
      'a~2',
      'b.nt',
      'b.json',
      '%41',
      '%2E',
      '.git',
      'ü'.replace('ü', '%C3%BC'),
      'x.png',
      '.DS_Store',
    );
    const kind = fc.constantFrom('rdf', 'text/turtle', 'text/plain', 'application/json', 'container');
    const entry = fc.record({ folder: fc.option(fc.constantFrom('a.ttl/', 'c/', '%41/')), name, kind });
    let run = 0;
    await fc.assert(
      fc.asyncProperty(
        fc.array(entry, { maxLength: 12 }),
        fc.constantFrom('zip' as const, 'folder' as const),
        async (entries, format) => {
          const members = new Map<string, Member & { path: string }>();
          for (const { folder: parent, name: last, kind: what } of entries) {
            const path = (parent ?? '') + last;
            const modified = 1_700_000_000_000;
            // A storage never has a resource and a container of the same name.
            if (members.has(path) || members.has(`${path}/`) || (parent && members.has(parent.slice(0, -1)))) continue;
            if (parent) members.set(parent, container(parent) as Member & { path: string });
            const member =
              what === 'container'
                ? container(`${path}/`)
                : what === 'rdf'
                  ? graph(path, '<> <#p> <>, [] .', { modified })
                  : bytes(path, what, { modified });
            members.set((member as ResourceMember).path, member as Member & { path: string });
          }
          await expectSame(inOrder([...members.values()]), format, `run${run++}`);
        },
      ),
      { numRuns: runs(60) },
    );
  });

  it('round-trips a large graph, written with one triple a line', async () => {
    const iri = factory.namedNode(`${into}a`);
    const part = (start: number, hasMore: boolean): Member => ({
      kind: 'rdf',
      path: 'a',
      source: '',
      prefixes: { e: 'http://e.example/' },
      quads: Array.from({ length: 9_000 }, (_, index) =>
        factory.quad(factory.blankNode(`b${index}`), iri, factory.literal(String(start + index))),
      ),
      ...(hasMore ? { hasMore } : {}),
    });
    for (const format of ['folder', 'zip'] as const) {
      const path = await written(
        [part(0, true), part(9_000, true), part(18_000, true), part(27_000, false), graph('b', '<> <#p> 1 .')],
        format,
        `large-${format}`,
      );
      const steps = await read(path);
      const quads = steps.flatMap(({ member }) => (member.kind === 'rdf' && member.path === 'a' ? member.quads : []));
      expect(quads).to.have.length(36_000);
      expect(new Set(quads.map(({ subject }) => subject.value)).size).to.equal(9_000);
      expect(steps[0]!.member).to.have.property('prefixes').that.deep.equals({ e: 'http://e.example/' });
      expect(steps.at(-1)!.member).to.have.property('path', 'b');
    }
  });
});
