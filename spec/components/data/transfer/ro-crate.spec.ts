/** Research Object Crates: metadata become types and links. Round trip. */
import { expect } from 'chai';
import fc from 'fast-check';
import { formatTools } from '../../../../components/data/exchange/format-tools.js';
import { writeTools } from '../../../../components/data/exchange/write-tools.js';
import { crateReader, isCrate } from '../../../../components/formats/ro-crate-reader.js';
import { CrateWriter } from '../../../../components/formats/ro-crate-writer.js';
import type { Member, ResourceMember } from '../../../../lib/exchange/member.js';
import {
  arbitraryResources,
  base,
  bytesMember,
  comparable,
  contentsOf,
  type ReadAll,
  readAll,
  writeAll,
} from '../../../support/members.js';
import { type Files, memorySink, memoryTree } from '../../../support/memory-tree.js';
import '../../../support/random-seed.js';
import { runs } from '../../../support/speed.js';

const metadata = 'ro-crate-metadata.json';

async function crateOf(members: readonly Member[]): Promise<Files> {
  const { sink, files } = memorySink();
  await writeAll(
    new CrateWriter(sink, { of: base, made: new Date('2026-01-02T03:04:05Z'), tools: writeTools }),
    members,
  );
  return files;
}

const graphOf = (files: Files): Record<string, unknown>[] => JSON.parse(String(files.get(metadata)))['@graph'];

function foreign(context: unknown, graph: unknown): Files {
  const files: Files = new Map(
    [
      ['data/my file.csv', 'x'],
      ['data/raw', 'y'],
      ['w.ttl', '<> <urn:p> <urn:o>.'],
    ].map(([path, text]) => [path!, Buffer.from(text!)]),
  );
  files.set(metadata, Buffer.from(JSON.stringify({ '@context': context, '@graph': graph })));
  return files;
}

const context = 'https://w3id.org/ro/crate/1.1/context';
const at = ({ members }: ReadAll, path: string): ResourceMember =>
  members.find((member) => member.kind !== 'state' && member.path === path) as ResourceMember;

describe('Research Object Crate', () => {
  it('has types and links from its metadata, and the metadata as a resource', async () => {
    const files = foreign(
      [context, { ex: 'http://e.example/', weird: 'ex:weird', Special: { '@id': 'http://e.example/Special' } }],
      [
        { '@id': metadata, '@type': 'CreativeWork', about: { '@id': './' } },
        {
          '@id': './',
          '@type': 'Dataset',
          name: 'Data',
          license: { '@id': 'https://l.example/' },
          hasPart: [{ '@id': 'data/' }],
        },
        { '@id': 'data/', '@type': ['Dataset', 'RepositoryCollection'], author: { '@id': '#ann' } },
        {
          '@id': 'data/my file.csv',
          '@type': ['File', 'Special'],
          weird: [{ '@id': 'w.ttl' }, 'text', { '@id': '_:blank' }],
          'http://e.example/full': { '@id': 'http://old.example/x' },
          conformsTo: { '@id': 'https://p.example/' },
        },
        { '@id': './data/raw', '@type': 'File', encodingFormat: ['text/csv', { '@id': 'https://f.example/' }] },
        { '@id': 'w.ttl', '@type': ['File', 'ComputationalWorkflow', 'not a name'] },
        { '@id': '#ann', '@type': 'Person' },
        { '@id': 'http://elsewhere.example/', '@type': 'Thing' },
        { '@type': 'Thing' },
        7,
      ],
    );
    expect(await isCrate(memoryTree(files))).to.equal(true);
    const rewrite = [{ from: 'http://old.example/', to: 'http://new.example/' }];
    const all = await readAll(crateReader(memoryTree(files), formatTools), { rewrite });
    expect(all.error).to.equal(undefined);
    expect(at(all, '').links).to.deep.equal({
      type: [{ href: 'http://schema.org/Dataset' }],
      'http://schema.org/license': [{ href: 'https://l.example/' }],
    });
    expect(at(all, 'data/').links).to.deep.equal({
      type: [{ href: 'http://pcdm.org/models#Collection' }],
      'http://schema.org/author': [{ href: `${base}${metadata}#ann` }],
    });
    expect(at(all, 'data/my%20file.csv').links).to.deep.equal({
      type: [{ href: 'http://e.example/Special' }],
      'http://e.example/weird': [{ href: `${base}w.ttl` }],
      'http://e.example/full': [{ href: 'http://new.example/x' }],
      'http://purl.org/dc/terms/conformsTo': [{ href: 'https://p.example/' }],
    });
    expect(at(all, 'data/raw')).to.include({ mediaType: 'text/csv' });
    expect(at(all, 'w.ttl').links).to.deep.equal({ type: [{ href: 'https://bioschemas.org/ComputationalWorkflow' }] });
    expect(at(all, metadata)).to.include({ mediaType: 'application/json' });
    expect(all.contents.get(metadata)).to.deep.equal(files.get(metadata));
  });

  it('is read from the only directory of a tree', async () => {
    const files = foreign(context, [{ '@id': './', '@type': 'Dataset', license: { '@id': 'https://l.example/' } }]);
    const nested: Files = new Map([...files].map(([path, bytes]) => [`crate/${path}`, bytes]));
    expect(await isCrate(memoryTree(nested))).to.equal(true);
    const [all, plain] = await Promise.all(
      [nested, files].map((each) => readAll(crateReader(memoryTree(each), formatTools))),
    );
    expect([all!.error, all!.contents]).to.deep.equal([undefined, plain!.contents]);
    expect(at(all!, '').links).to.deep.equal(at(plain!, '').links);
    expect(await isCrate(memoryTree(nested.set('other', Buffer.from('x'))))).to.equal(false);
  });

  it('has the metadata file of RO-Crate 1.0, as bytes, and keeps them in an export (RO-Crate 1.0)', async () => {
    const old = 'ro-crate-metadata.jsonld';
    const files = foreign('https://w3id.org/ro/crate/1.0/context', [
      { '@id': old, '@type': 'CreativeWork', about: { '@id': './' }, description: 'kept' },
      { '@id': './', '@type': 'Dataset', license: { '@id': 'https://l.example/' }, author: { '@id': '#ann' } },
      { '@id': 'data/raw', '@type': 'File', encodingFormat: 'text/csv' },
    ]);
    files.set(old, files.get(metadata)!);
    files.delete(metadata);
    expect(await isCrate(memoryTree(files))).to.equal(true);
    const all = await readAll(crateReader(memoryTree(files), formatTools));
    expect(all.error).to.equal(undefined);
    expect(at(all, '').links?.['http://schema.org/author']).to.deep.equal([{ href: `${base}${old}#ann` }]);
    expect(at(all, 'data/raw')).to.include({ mediaType: 'text/csv' });
    expect(at(all, old)).to.include({ kind: 'bytes', mediaType: 'application/ld+json' });
    expect(all.contents.get(old)).to.deep.equal(files.get(old));
    expect(all.steps.filter(({ member }) => member.source === old && member.kind === 'bytes')).to.have.length(1);
    for (const [index, { cursor }] of all.steps.entries()) {
      const { steps } = await readAll(crateReader(memoryTree(files), formatTools), { cursor });
      expect(steps).to.have.length(all.steps.length - index - 1);
    }
    const written = await crateOf(all.members.filter((member) => member.kind !== 'state') as Member[]);
    expect([...written.keys()])
      .to.include(metadata)
      .and.not.to.include(old);
    const [descriptor, ...others] = graphOf(written);
    expect(descriptor).to.include({ '@id': metadata, description: 'kept' });
    expect(others.map((entity) => entity['@id'])).not.to.include(old);
    files.set(old, Buffer.from('{'));
    expect((await readAll(crateReader(memoryTree(files), formatTools))).error).to.match(/^ro-crate-metadata\.jsonld: /);
  });

  it('is resumed after any member', async () => {
    const tree = memoryTree(foreign(context, [{ '@id': './', '@type': 'Dataset' }]));
    const whole = await readAll(crateReader(tree, formatTools));
    for (const [index, { cursor }] of whole.steps.entries()) {
      const { steps } = await readAll(crateReader(tree, formatTools), { cursor });
      const rest = whole.steps.slice(index + 1).map(({ member }) => member.source);
      expect(steps.map(({ member }) => member.source)).to.deep.equal(rest);
    }
  });

  it('is rejected if its metadata are malformed, and has the valid part of others', async () => {
    const faults: [text: string, message: RegExp][] = [
      ['{', /^ro-crate-metadata\.json: The body is not JSON/],
      ['[]', /"@graph"/],
      ['{"@graph":{}}', /"@graph"/],
      ['['.repeat(100), /deeper/],
    ];
    for (const [text, message] of faults) {
      const files = foreign(context, []);
      files.set(metadata, Buffer.from(text));
      expect((await readAll(crateReader(memoryTree(files), formatTools))).error).to.match(message);
    }
    const odd = [
      { '@id': 'w.ttl', '@type': 7, x: { '@id': 'a b' }, 'a b': { '@id': 'c' }, __proto__: [null] },
      { '@id': '../../out', '@type': 'Thing' },
      { '@id': '%FF', '@type': 'Thing' },
      { '@id': 'data/raw', '@type': 'x'.repeat(20_000) },
    ];
    const contexts = [null, { a: { '@id': 7 }, b: 'b', c: 'd', d: 'c' }, ['x', 7, [[]]]];
    for (const each of contexts) {
      const all = await readAll(crateReader(memoryTree(foreign(each, odd)), formatTools));
      expect(all.error).to.equal(undefined);
      expect(at(all, 'w.ttl').links).to.deep.equal({ 'http://schema.org/x': [{ href: `${base}a%20b` }] });
      expect(at(all, 'data/raw').links).to.equal(undefined);
    }
  });

  it('round-trips members, and adds none', async () => {
    await fc.assert(
      fc.asyncProperty(arbitraryResources({ blank: false, acl: false }), async (members) => {
        const found = await readAll(crateReader(memoryTree(await crateOf(members)), formatTools));
        expect(found.error).to.equal(undefined);
        expect(comparable(found.members, found.contents)).to.deep.equal(comparable(members, await contentsOf(members)));
      }),
      { numRuns: runs(40) },
    );
  });

  it('has its metadata as a resource if they were edited or stored as one', async () => {
    const files = await crateOf([bytesMember('a', 'text/csv', 'x')]);
    const isThere = async (text: string): Promise<boolean> => {
      const all = await readAll(
        crateReader(memoryTree(new Map([...files, [metadata, Buffer.from(text)]])), formatTools),
      );
      expect(all.error).to.equal(undefined);
      return at(all, metadata) !== undefined;
    };
    const text = String(files.get(metadata));
    expect(await isThere(text)).to.equal(false);
    expect(await isThere(text.replace('"Dataset"', '"Dataset","author":"Ann"'))).to.equal(true);
    expect(await isThere(`${text} `)).to.equal(true);
    const again = await crateOf([bytesMember('a', 'text/csv', 'x'), bytesMember(metadata, 'application/json', text)]);
    expect(await isThere(String(again.get(metadata)))).to.equal(true);
  });

  it('describes its files when written, and preserves existing metadata', async () => {
    const before = {
      '@context': context,
      '@graph': [
        { '@id': './', name: 'Mine', '@type': 'Dataset' },
        { '@id': '#ann', '@type': 'Person' },
      ],
    };
    const files = await crateOf([
      { kind: 'container', path: '', source: '' },
      { kind: 'container', path: 'd/', source: '' },
      {
        ...bytesMember('d/my%20file.csv', 'text/csv', 'x'),
        modified: 0,
        links: { type: [{ href: 'http://schema.org/Table' }], license: [{ href: `${base}d/` }] },
      },
      { kind: 'rdf', path: 'g', source: '', quads: [], prefixes: {}, hasMore: true },
      { kind: 'rdf', path: 'g', source: '', quads: [], prefixes: {}, links: { type: [{ href: 'urn:T' }] } },
      bytesMember(metadata, 'application/json', JSON.stringify(before)),
    ]);
    expect(graphOf(files)).to.deep.equal([
      {
        '@id': metadata,
        '@type': 'CreativeWork',
        conformsTo: { '@id': 'https://w3id.org/ro/crate/1.1' },
        about: { '@id': './' },
      },
      {
        '@id': './',
        name: 'Mine',
        '@type': 'Dataset',
        description: `Resources of ${base}`,
        datePublished: '2026-01-02T03:04:05.000Z',
        license: 'The storage states no license.',
        hasPart: [{ '@id': 'd/' }, { '@id': 'g.ttl' }],
      },
      { '@id': 'd/', '@type': 'Dataset', hasPart: [{ '@id': 'd/my%20file.csv' }] },
      {
        '@id': 'd/my%20file.csv',
        '@type': ['File', 'Table'],
        encodingFormat: 'text/csv',
        dateModified: '1970-01-01T00:00:00.000Z',
        'http://www.iana.org/assignments/relation/license': { '@id': 'd/' },
      },
      { '@id': 'g.ttl', '@type': ['File', 'urn:T'], encodingFormat: 'text/turtle' },
      { '@id': '#ann', '@type': 'Person' },
    ]);
  });

  it('has the properties that RO-Crate 1.2 requires, with the license of the linkset', async () => {
    const license = [{ href: 'https://l.example/' }];
    const files = await crateOf([{ kind: 'container', path: '', source: '', links: { license } }]);
    expect(JSON.parse(String(files.get(metadata)))['@context']).to.equal('https://w3id.org/ro/crate/1.2/context');
    const [itself, root] = graphOf(files);
    expect([itself!['conformsTo'], itself!['about']]).to.deep.equal([
      { '@id': 'https://w3id.org/ro/crate/1.2' },
      { '@id': './' },
    ]);
    expect(root).to.include.keys('@type', 'name', 'description', 'datePublished');
    expect([root!['@id'], root!['license']]).to.deep.equal(['./', { '@id': 'https://l.example/' }]);
  });

  it('can have an absolute identifier (RO-Crate 1.2), which stays', async () => {
    const doi = 'https://doi.org/10.1000/182';
    const graph = [
      { '@id': metadata, '@type': 'CreativeWork', about: { '@id': doi } },
      { '@id': doi, '@type': ['Dataset', 'Collection'], name: 'Mine', license: { '@id': 'https://l.example/' } },
    ];
    const all = await readAll(crateReader(memoryTree(foreign(`${doi}/context`, graph)), formatTools));
    expect(at(all, '').links).to.deep.equal({
      type: [{ href: 'http://schema.org/Dataset' }, { href: 'http://schema.org/Collection' }],
      'http://schema.org/license': [{ href: 'https://l.example/' }],
    });
    const text = JSON.stringify({ '@context': context, '@graph': graph });
    const again = await crateOf([bytesMember('a', 'text/csv', 'x'), bytesMember(metadata, 'application/json', text)]);
    const roots = graphOf(again).filter(({ '@id': id }) => id === doi || id === './');
    expect(roots).to.have.length(1);
    expect(roots[0]).to.deep.include({ '@id': doi, name: 'Mine', hasPart: [{ '@id': 'a' }] });
  });
});
