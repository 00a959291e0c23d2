/** Quadpod's archive format: round trip, and rejection of incomplete archives. */
import { hash } from 'node:crypto';
import { expect } from 'chai';
import fc from 'fast-check';
import { archiveReader } from '../../../../components/data/transfer/formats/archive-reader.js';
import { ArchiveWriter } from '../../../../components/data/transfer/formats/archive-writer.js';
import type { GraphMember, Member } from '../../../../lib/exchange/member.js';
import {
  arbitraryResources,
  base,
  bytesMember,
  comparable,
  contentsOf,
  factory,
  node,
  readAll,
  writeAll,
} from '../../../support/members.js';
import { type Files, memorySink, memoryTree } from '../../../support/memory-tree.js';
import '../../../support/random-seed.js';
import { runs } from '../../../support/speed.js';

const head = { storage: 'http://pod.example/', container: base, made: '2026-01-01T00:00:00Z' };
const partName = 'members/00000001.jsonl';
const trailerName = 'quadpod-archive-end.json';

async function archiveOf(members: readonly Member[]): Promise<Files> {
  const { sink, files } = memorySink();
  await writeAll(new ArchiveWriter(sink, head), members);
  return files;
}

const graph: GraphMember = {
  kind: 'rdf',
  path: 'g',
  source: '',
  quads: [factory.quad(node(`${base}g`), node('http://e.example/p'), factory.literal('o'))],
  prefixes: { e: 'http://e.example/', own: base },
  created: 1,
  modified: 2,
  owner: `${base}me`,
  links: { license: [{ href: `${base}l` }] },
  acl: { quads: [factory.quad(node(`${base}.acl#a`), node('http://e.example/to'), node(`${base}g`))], prefixes: {} },
};

const longGraph = Array.from({ length: 20_000 }, (_, count) =>
  factory.quad(node(`${base}g`), node('http://e.example/p'), factory.literal(`${count} `.repeat(20))),
);

/** Returns an archive with these lines as its only part, and a valid digest. */
async function withLines(...lines: readonly unknown[]): Promise<Files> {
  const files = await archiveOf([graph]);
  const bytes = Buffer.from(
    lines.map((line) => `${typeof line === 'string' ? line : JSON.stringify(line)}\n`).join(''),
  );
  files.set(partName, bytes);
  const trailer = JSON.parse(String(files.get(trailerName)));
  trailer.parts = [{ bytes: bytes.length, sha256: hash('sha256', bytes, 'base64') }];
  files.set(trailerName, Buffer.from(JSON.stringify(trailer)));
  return files;
}

describe('Archive format', () => {
  it('round-trips members', async () => {
    await fc.assert(
      fc.asyncProperty(arbitraryResources(), fc.integer({ min: 1, max: 2 ** 40 }), async (resources, modified) => {
        const members: Member[] = resources.map((member) => ({ ...member, modified, created: 7, owner: 'urn:me' }));
        members.push({ kind: 'state', source: '', key: 'E\u0000grant\u0000x', value: '{"a":1}' });
        const { members: found, contents, error } = await readAll(archiveReader(memoryTree(await archiveOf(members))));
        expect(error).to.equal(undefined);
        expect(comparable(found, contents)).to.deep.equal(comparable(members, await contentsOf(members)));
      }),
      { numRuns: runs(60) },
    );
  });

  it('resumes after any member', async () => {
    const many = Array.from({ length: 30 }, (_, count) =>
      count % 2 === 0
        ? { ...graph, path: `g${count}`, ...(count === 10 ? { quads: longGraph } : {}) }
        : bytesMember(`g${count}`, 'text/plain', String(count).repeat(count === 5 ? 200_000 : 40_000)),
    );
    const tree = memoryTree(await archiveOf(many));
    const whole = await readAll(archiveReader(tree));
    expect(whole.steps.at(-1)!.bytes).to.be.above(3_000_000);
    for (const [index, { cursor }] of whole.steps.entries()) {
      if (index % 4 > 0) continue;
      const { steps } = await readAll(archiveReader(tree), { cursor });
      const rest = (all: typeof steps) => all.map(({ member, bytes }) => [member.source, bytes]);
      expect(rest(steps)).to.deep.equal(rest(whole.steps.slice(index + 1)));
    }
  });

  it('splits long graphs into lines and parts', async () => {
    const files = await archiveOf([{ ...graph, quads: longGraph }]);
    expect([...files.keys()].filter((name) => name.startsWith('members/'))).to.have.lengthOf.above(2);
    const { members, contents } = await readAll(archiveReader(memoryTree(files)));
    expect(members.map((member) => 'hasMore' in member)).to.deep.equal([...members.slice(1).map(() => true), false]);
    expect(comparable(members, contents)).to.deep.equal(comparable([{ ...graph, quads: longGraph }], new Map()));
  });

  it('rewrites IRIs for another container, including component state', async () => {
    const state = {
      kind: 'state',
      source: '',
      key: `E\u0000sub\u0000${base}g`,
      value: `["${base}g","${base}"]`,
    } as const;
    const into = 'https://new.example/deep/';
    const { members } = await readAll(archiveReader(memoryTree(await archiveOf([graph, state]))), { into });
    const shown = JSON.stringify(comparable(members, new Map()));
    expect(shown).to.contain(`${into}.acl#a`).and.contain(`${into}l`).and.contain(`"owner":"${into}me"`);
    expect(shown).to.contain(`"own":"${into}"`).and.not.contain('pod.example');
    expect(members.at(-1)).to.deep.include({ key: `E\u0000sub\u0000${into}g`, value: `["${into}g","${into}"]` });
  });

  it('applies the first matching rewrite rule', async () => {
    const rewrite = [{ from: `${base}me`, to: 'urn:other' }];
    const { members } = await readAll(archiveReader(memoryTree(await archiveOf([graph]))), { into: 'urn:n/', rewrite });
    expect(members[0]).to.include({ owner: 'urn:other' });
    expect((members[0] as GraphMember).quads[0]!.subject.value).to.equal('urn:n/g');
  });

  it('rejects a truncated or damaged archive before the first member', async () => {
    const whole = await archiveOf([graph, bytesMember('x', 'text/plain', 'x')]);
    const damaged = Buffer.from(whole.get(partName)!);
    damaged[10] = damaged[10]! ^ 1;
    const faults: [change: (files: Files) => unknown, message: RegExp][] = [
      [(files) => files.delete(trailerName), /^quadpod-archive-end\.json is missing: the archive is truncated\.$/],
      [(files) => files.delete(partName), /^members\/00000001\.jsonl is missing: the archive is incomplete\.$/],
      [(files) => files.set(partName, damaged), /^members\/00000001\.jsonl is damaged/],
      [(files) => files.set(partName, damaged.subarray(1)), /^members\/00000001\.jsonl has \d+ bytes instead of \d+/],
      [(files) => files.delete('quadpod-archive.json'), /^quadpod-archive\.json is missing/],
      [
        (files) => files.set('quadpod-archive.json', Buffer.from('{"quadpod-archive":2}')),
        /has version 2; this Quadpod/,
      ],
      [(files) => files.set('quadpod-archive.json', Buffer.from('{"quadpod-archive":1}')), /is not the head/],
      [(files) => files.set('quadpod-archive.json', Buffer.from('[')), /^quadpod-archive\.json: The body is not JSON/],
      [
        (files) => files.set(trailerName, Buffer.from('{"parts":[1]}')),
        /^quadpod-archive-end\.json: It is not the trailer/,
      ],
      [(files) => files.set(trailerName, Buffer.from('[]')), /^quadpod-archive-end\.json: It is not an object/],
    ];
    for (const [change, message] of faults) {
      const files = new Map(whole);
      change(files);
      const { steps, error } = await readAll(archiveReader(memoryTree(files)));
      expect(error).to.match(message);
      expect(steps).to.deep.equal([]);
    }
  });

  it('rejects an invalid line, and reports its number', async () => {
    const lines: [unknown, RegExp][] = [
      ['{', /not JSON/],
      ['7', /not an object/],
      [{}, /"path" is missing or not a string/],
      [{ path: 'a', kind: 'container' }, /is not a valid kind of member/],
      [{ path: 'a/', kind: 'rdf', triples: '' }, /is not a valid kind of member/],
      [{ path: 'a', kind: 'rdf', triples: '<a> <b>' }, /./],
      [{ path: 'a', kind: 'rdf', triples: '', prefixes: [] }, /"prefixes" is not an object/],
      [{ path: 'a', kind: 'rdf', triples: '', links: [] }, /linkset is not valid/],
      [{ path: 'a', kind: 'rdf', triples: '', acl: 'x' }, /"acl" is not an object/],
      [{ path: 'a', kind: 'rdf', triples: '', modified: '1' }, /"modified" is no/],
      [{ path: 'a', kind: 'bytes', mediaType: 'x', size: 1, sha256: '', text: 'x' }, /"x" is not a media type/],
      [{ path: 'a', kind: 'bytes', mediaType: 'a/b', size: -1, sha256: '', text: 'x' }, /"size" is no/],
      [{ path: 'a', kind: 'bytes', mediaType: 'a/b', size: 1, sha256: '' }, /"file" is missing or not a string/],
      [{ kind: 'state', key: 'E\u0000a', value: '{' }, /./],
      ['['.repeat(100), /deeper/],
    ];
    for (const [line, message] of lines) {
      const { steps, error } = await readAll(
        archiveReader(memoryTree(await withLines({ path: '', kind: 'container' }, line))),
      );
      expect(steps).to.have.lengthOf(1);
      expect(error)
        .to.match(/^members\/00000001\.jsonl:2: /)
        .and.match(message);
    }
  });

  it('rejects missing contents, and contents with another digest', async () => {
    const files = await archiveOf([bytesMember('x', 'text/plain', 'x'.repeat(9_000))]);
    files.set('blobs/0/0', Buffer.from('y'.repeat(9_000)));
    expect((await readAll(archiveReader(memoryTree(files)))).error).to.match(/^blobs\/0\/0 is damaged/);
    files.delete('blobs/0/0');
    expect((await readAll(archiveReader(memoryTree(files)))).error).to.match(/^blobs\/0\/0 is missing/);
    const line = { path: 'a', kind: 'bytes', mediaType: 'a/b', size: 1, sha256: 'x', text: 'x' };
    expect((await readAll(archiveReader(memoryTree(await withLines(line))))).error).to.match(/is damaged/);
  });

  it('is not written if a content differs from the stored one', async () => {
    const member = { ...bytesMember('x', 'text/plain', 'x'), sha256: 'another' };
    const error = await archiveOf([member]).catch((cause: Error) => cause.message);
    expect(error).to.equal('The content of x differs from the stored content.');
  });
});
