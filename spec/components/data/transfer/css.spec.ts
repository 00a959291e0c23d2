/** Data directories of Community Solid Server: one written by version 7.2.0, and those written by an export. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'chai';
import fc from 'fast-check';
import { formatTools } from '../../../../components/data/exchange/format-tools.js';
import { writeTools } from '../../../../components/data/exchange/write-tools.js';
import { cssReader, isCss } from '../../../../components/formats/css-reader.js';
import { CssWriter } from '../../../../components/formats/css-writer.js';
import type { FileTree } from '../../../../lib/exchange/file-tree.js';
import type { BytesMember, Member, ResourceMember } from '../../../../lib/exchange/member.js';
import { packageRoot } from '../../../../lib/tools/threads/package-root.js';
import {
  arbitraryResources,
  base,
  bytesMember,
  comparable,
  contentsOf,
  factory,
  node,
  type ReadAll,
  readAll,
  sortedLines,
  writeAll,
} from '../../../support/members.js';
import { type Files, memorySink, memoryTree } from '../../../support/memory-tree.js';
import '../../../support/random-seed.js';
import { runs } from '../../../support/speed.js';

/** Returns the files written by version 7.2.0 at http://localhost:3055/. */
const written = (): Files => {
  const file = join(packageRoot, 'spec/components/data/transfer/css-folder.json');
  const texts = JSON.parse(readFileSync(file, 'utf8')) as Record<string, string>;
  return new Map(Object.entries(texts).map(([path, text]) => [path, Buffer.from(text)]));
};
const filesOf = (texts: Readonly<Record<string, string>>): Files =>
  new Map(Object.entries(texts).map(([path, text]) => [path, Buffer.from(text)]));

const resourceAt = ({ members }: ReadAll, path: string): ResourceMember =>
  members.find((member) => member.kind !== 'state' && member.path === path) as ResourceMember;
const triplesOf = (member: ResourceMember): string[] => (member.kind === 'rdf' ? sortedLines(member.quads) : []);
const leftOutOf = ({ leftOut }: ReadAll): string[] => leftOut.map(({ source, why }) => `${source}: ${why}`);

describe('Data directory of Community Solid Server 7.2.0', () => {
  let all: ReadAll;
  before(async () => {
    expect(await isCss(memoryTree(written()))).to.equal(true);
    all = await readAll(cssReader(memoryTree(written()), formatTools));
  });

  it('has the resources of that server, with their media types', () => {
    expect(all.error).to.equal(undefined);
    const shown = all.members.map((member) =>
      member.kind === 'state' ? '' : `${member.path} ${member.kind === 'bytes' ? member.mediaType : member.kind}`,
    );
    expect(shown).to.deep.equal([
      ' container',
      'files/ container',
      'files/.hidden text/plain',
      'files/10%3A30.txt text/plain',
      'files/a%2Cb%3Bc%2Bd%40e!f(g).txt text/plain',
      'files/a%2Cb%3Bc%2Bd%40e.txt text/plain',
      'files/a.txt text/plain; charset=utf-8',
      'files/broken.ttl text/turtle',
      'files/code.js application/javascript',
      'files/code2.js text/javascript',
      'files/data.bin application/x-strange',
      'files/dollar%24.txt.png text/plain',
      'files/file.meta.txt text/plain',
      'files/index.html text/html',
      'files/latin.txt text/plain; charset=iso-8859-1',
      'files/noext application/x-strange',
      'files/notes.md text/markdown',
      'files/param application/x-odd; a="b c"; version=2',
      'files/photo image/png',
      'files/photo.JPG image/jpeg',
      'files/remote.jsonld application/ld+json',
      'files/slash%2Fname.txt text/plain',
      'files/two.tar.gz application/gzip',
      'files/with%20blank.txt text/plain',
      'files/x.html text/html',
      'files/x.json application/json',
      'files/x.n3 text/n3',
      'files/x.rdf rdf',
      'files/x.trig rdf',
      'files/%C3%BCml%C3%A4ut%20%25%23%3F.txt text/plain',
      'notes/ container',
      'notes/hello.ttl rdf',
      'people/ container',
      'people/ann rdf',
      'people/bob.jsonld rdf',
      'people/carl.ttl rdf',
      'typed/ container',
      'typed/c19d900a-5ec8-4b74-a61e-25e736c30537 rdf',
    ]);
    expect(String(all.contents.get('files/param'))).to.equal('params');
  });

  it('has IRIs of the target, including absolute ones', () => {
    const knows = triplesOf(resourceAt(all, 'notes/hello.ttl')).filter((line) => line.includes('knows> <'));
    expect(knows).to.deep.equal(
      ['people/ann#me', 'people/ann', 'people/bob.jsonld#me'].map(
        (path) => `<${base}notes/hello.ttl#it> <http://xmlns.com/foaf/0.1/knows> <${base}${path}> .`,
      ),
    );
    expect(triplesOf(resourceAt(all, 'people/bob.jsonld'))).to.deep.equal([
      `<${base}people/bob.jsonld#me> <http://xmlns.com/foaf/0.1/name> "Bob" .`,
    ]);
  });

  it('is rewritten once if the target is below its base URI', async () => {
    const into = 'http://localhost:3055/moved/';
    const moved = await readAll(cssReader(memoryTree(written()), formatTools), { into });
    const text = triplesOf(resourceAt(moved, 'notes/hello.ttl')).join('\n');
    expect(text).to.contain(`<${into}people/ann>`).and.contain(`<${into}people/ann#me>`);
    expect(text).not.to.contain('moved/moved').and.not.contain('3055/people');
  });

  it('has the links and declared types of descriptions, and reports other triples', () => {
    expect(resourceAt(all, 'files/photo').links).to.deep.equal({
      type: [{ href: 'http://e.example/Photo' }],
      'http://e.example/depicts': [{ href: `${base}people/ann#me` }],
    });
    expect(resourceAt(all, 'files/10%3A30.txt').links).to.deep.equal({ 'http://e.example/x': 'y' });
    expect(resourceAt(all, 'typed/').links).to.deep.equal({
      type: [{ href: 'http://e.example/Album' }],
      'http://purl.org/dc/terms/title': 'My album',
      'http://e.example/cover': [{ href: `${base}files/photo` }],
    });
    expect(resourceAt(all, '').links).to.equal(undefined);
    const [internal, broken, photo, remote, list, ...none] = leftOutOf(all);
    expect(internal).to.match(/^\.internal\/: Internal data of the server/);
    expect(broken).to.match(/^files\/broken\.ttl: Its triples are lost: .*files\/broken\.ttl:1: /);
    expect(photo).to.equal(
      'files/photo.meta: Links cannot say: 2 triples with a language-tagged or typed literal, ' +
        '1 triple with a blank node, 2 triples about another resource.',
    );
    expect(remote).to.match(/^files\/remote\.jsonld: Its triples are lost: .*unknown\.example/);
    expect(list).to.match(/^notes\/\.acl: Its acl:defaultForNew has no effect/);
    expect(none).to.deep.equal([]);
  });

  it('has its ACLs, in any syntax', () => {
    const lines = (path: string): string => sortedLines(resourceAt(all, path).acl!.quads).join('\n');
    expect(lines('')).to.contain(`<${base}.acl#authorization> <http://www.w3.org/ns/auth/acl#default> <${base}>`);
    expect(lines('notes/')).to.contain(`acl#agent> <${base}people/ann#me>`);
    expect(lines('files/photo')).to.contain(`acl#accessTo> <${base}files/photo>`);
    expect(lines('people/ann')).to.contain(`<${base}people/ann.acl#o>`).and.contain('https://ann.example/#me');
    expect(all.members.filter((member) => 'acl' in member)).to.have.lengthOf(4);
  });

  it('is resumed after any member', async () => {
    for (const [index, { cursor }] of all.steps.entries()) {
      const { steps } = await readAll(cssReader(memoryTree(written()), formatTools), { cursor });
      // Messages about a file have the cursor of its member.
      const next = all.steps.findIndex((step, at) => at > index && step.cursor !== cursor);
      const rest = next < 0 ? [] : all.steps.slice(next);
      expect(steps.map(({ member }) => member.source)).to.deep.equal(rest.map(({ member }) => member.source));
    }
  });
});

describe('Directory in the format of Community Solid Server', () => {
  it('limits a resource with an unreadable ACL to owners', async () => {
    const files = filesOf({ 'a.txt': 'a', 'a.txt.acl': '<a> <b', 'b.txt': 'b' });
    const tree: FileTree = memoryTree(files);
    const withLink: FileTree = {
      ...tree,
      async *files(after) {
        yield* tree.files(after);
        yield { path: 'b.txt.acl', refused: 'It is a symbolic link; these are not followed.' };
      },
    };
    const all = await readAll(cssReader(withLink, formatTools));
    for (const path of ['a.txt', 'b.txt']) expect(resourceAt(all, path).acl).to.deep.equal({ quads: [], prefixes: {} });
    expect(leftOutOf(all)[0]).to.match(/^a\.txt\.acl: It cannot be parsed\. a\.txt\.acl:1: .* only owners have access/);
    expect(leftOutOf(all)[1]).to.match(/^b\.txt\.acl: It is a symbolic link.* only owners have access/);
  });

  it('grants no more access than that server, and reports terms with another meaning', async () => {
    const list = (term: string): string =>
      `@prefix acl: <http://www.w3.org/ns/auth/acl#>. <#a> a acl:Authorization; acl:agent <urn:a>; acl:accessTo <./>; ${term}; acl:mode acl:Read.`;
    const files = filesOf({
      'a/.acl': list('acl:defaultForNew <./>'),
      'b/.acl': list('acl:origin <https://app.example>'),
      'c/.acl': list('acl:default <./>'),
    });
    for (const folder of ['a/', 'b/', 'c/']) files.set(folder, Buffer.alloc(0));
    const all = await readAll(cssReader(memoryTree(files), formatTools));
    const inherited = all.members.filter(
      (member) => 'acl' in member && member.acl?.quads.some(({ predicate }) => predicate.value.endsWith('#default')),
    );
    expect(inherited.map((member) => member.kind !== 'state' && member.path)).to.deep.equal(['c/']);
    expect(leftOutOf(all)).to.deep.equal([
      'a/.acl: Its acl:defaultForNew has no effect, as on that server. Use acl:default.',
      'b/.acl: Its acl:origin is now enforced: that server ignored it, and gave the same access to all origins.',
    ]);
  });

  it('has resources at their original addresses', async () => {
    // Names written by version 7.2.0 for the resources on the right.
    const names = {
      'star%2A': 'star*',
      'colon%3A': 'colon%3A',
      'back%5Cslash': 'back%5Cslash',
      'twice%252Fencoded': 'twice%252Fencoded',
      'a,b;c': 'a%2Cb%3Bc',
      'hundred%': 'hundred%25',
    };
    const files = filesOf(Object.fromEntries(Object.keys(names).map((name) => [name, ''])));
    const all = await readAll(cssReader(memoryTree(files), formatTools));
    const paths = all.members.map((member) => (member.kind === 'state' ? '' : member.path));
    expect(paths.sort()).to.deep.equal(Object.values(names).sort());
  });

  it('reports descriptions without a resource, duplicate resources, and access control policies', async () => {
    const files = filesOf({
      'gone.meta': '',
      'gone.acl': '',
      'x.acr': '',
      'y.acr': '',
      'p$.png': '1',
      'p$.txt': '2',
      'x.meta': '<',
      x: 'x',
    });
    const all = await readAll(cssReader(memoryTree(files), formatTools));
    expect(leftOutOf(all)).to.deep.equal([
      'gone.acl: The resource does not exist.',
      'gone.meta: The resource does not exist.',
      'p$.txt: Another file has the same resource name.',
      leftOutOf(all)[3],
      'The directory: 2 access control files in the Access Control Policy language (.acr) are not imported: their permissions and prohibitions are lost.',
    ]);
    expect(leftOutOf(all)[3]).to.match(/^x\.meta: It cannot be parsed\. x\.meta:1: /);
  });

  it('is rewritten from the base URI of a rewrite rule to the target', async () => {
    const files = filesOf({
      'a.ttl': '<> <p> <http://old.example/pod/b>.',
      'b.txt.meta': '<http://old.example/pod/b.txt> a <urn:T>.',
      'b.txt': '',
    });
    const rewrite = [{ from: 'http://old.example/pod/', to: base }];
    const all = await readAll(cssReader(memoryTree(files), formatTools), { rewrite });
    expect(triplesOf(resourceAt(all, 'a.ttl'))).to.deep.equal([`<${base}a.ttl> <${base}p> <${base}b> .`]);
    expect((resourceAt(all, 'b.txt') as BytesMember).links).to.deep.equal({ type: [{ href: 'urn:T' }] });
  });
});

async function folderOf(members: readonly Member[]): Promise<Files> {
  const { sink, files } = memorySink();
  await writeAll(new CssWriter(sink, base, writeTools), members);
  return files;
}

describe('Directory written for Community Solid Server', () => {
  it('round-trips members', async () => {
    await fc.assert(
      fc.asyncProperty(arbitraryResources({ blank: false }), async (members) => {
        const found = await readAll(cssReader(memoryTree(await folderOf(members)), formatTools));
        expect(found.error).to.equal(undefined);
        expect(leftOutOf(found)).to.deep.equal([]);
        const shown = comparable(found.members, found.contents);
        expect(shown).to.deep.equal(comparable(members, await contentsOf(members)));
      }),
      { numRuns: runs(60) },
    );
  });

  it('has the file names of that server', async () => {
    const graph = { kind: 'rdf', path: 'a', source: '', prefixes: {} } as const;
    const quads = [factory.quad(node(`${base}a#it`), node('urn:p'), node(`${base}b/`))];
    const links = { type: [{ href: 'urn:T' }], license: [{ href: `${base}l` }], 'urn:text': 'text' };
    const files = await folderOf([
      { ...graph, quads: [], hasMore: true },
      { ...graph, quads, acl: { quads, prefixes: {} } },
      { kind: 'container', path: 'b/', source: '', links, acl: { quads: [], prefixes: {} } },
      bytesMember('b/10%3A30', 'image/png', ''),
      bytesMember('b/c.jpg', 'image/jpeg', ''),
      bytesMember('b/d.js', 'text/javascript; v="1 2"', ''),
    ]);
    const names = [
      'a$.ttl',
      'a.acl',
      'b/',
      'b/.meta',
      'b/.acl',
      'b/10%3A30$.png',
      'b/c.jpg',
      'b/d.js.meta',
      'b/d.js$.unknown',
    ];
    expect([...files.keys()]).to.deep.equal(names);
    expect(String(files.get('a$.ttl'))).to.contain('<#it> <urn:p> <b/> .');
    expect(String(files.get('a.acl'))).to.contain('<a#it> <urn:p> <b/> .');
    expect(String(files.get('b/.meta')))
      .to.contain('<> a <urn:T>')
      .and.contain('relation/license> <http://pod.example/c/l>');
  });

  it('leaves out resources without a valid name on that server, with their descendants, and lists them in a file', async () => {
    const faults: [path: string, line: RegExp][] = [
      ['%61', /c\/%61: Community Solid Server treats it as the same resource as another one/],
      ['%FF', /c\/%FF: %FF is not a valid name .* UTF-8/],
      ['%FF/a', /c\/%FF\/a: %FF is not a valid name .* UTF-8/],
      ['.internal', /c\/\.internal: .* reserved/],
      ['.internal/a', /c\/\.internal\/a: .* reserved/],
      ['b%2Cc/', /c\/b%2Cc\/: Community Solid Server treats it as the same resource as another one/],
      ['b%2Cc/d', /c\/b%2Cc\/d: Its container is skipped/],
      ['x.acr', /c\/x\.acr: .* reserved/],
      ['x.acr/a', /c\/x\.acr\/a: .* reserved/],
    ];
    const memberOf = (path: string): Member =>
      path.endsWith('/') ? { kind: 'container', path, source: '' } : bytesMember(path, 'image/png', '');
    const graph = { kind: 'rdf', path: 'y.meta', source: '', prefixes: {}, quads: [] } as const;
    const files = await folderOf([
      ...['a', 'b,c/', 'b,c/d', ...faults.map(([path]) => path), 'z'].map(memberOf),
      ...[{ ...graph, hasMore: true }, graph, { ...graph, path: 'y' }],
    ]);
    const report = '.internal/left-out.txt';
    expect([...files.keys()]).to.deep.equal(['a$.png', 'b,c/', 'b,c/d$.png', 'z$.png', 'y$.ttl', report]);
    const lines = String(files.get(report)).trim().split('\n');
    expect(lines).to.have.length(faults.length + 1);
    for (const [index, [, line]] of faults.entries()) expect(lines[index]).to.match(line);
    const found = await readAll(cssReader(memoryTree(files), formatTools));
    expect(found.error).to.equal(undefined);
    expect(found.members.filter(({ kind }) => kind === 'bytes')).to.have.length(3);
  });

  it('lists up to 500 resources that it leaves out', async () => {
    const files = await folderOf(Array.from({ length: 600 }, (_, index) => bytesMember(`${index}.acr`, 'a/b', '')));
    const lines = String(files.get('.internal/left-out.txt')).trim().split('\n');
    expect(lines).to.have.length(501);
    expect(lines[500]).to.equal('More resources follow.');
  });
});
