/** Dump writer: a dump that is imported and exported again has the same bytes. */
import { PassThrough, Writable } from 'node:stream';
import { gunzipSync } from 'node:zlib';
import type { Quad } from '@rdfjs/types';
import { expect } from 'chai';
import fc from 'fast-check';
import { dumpReader } from '../../../../components/data/transfer/formats/dump-reader.js';
import { DumpWriter, TriGWriter } from '../../../../components/data/transfer/formats/dump-writer.js';
import type { GraphMember } from '../../../../lib/exchange/member.js';
import { decodeGraph } from '../../../../lib/storage/keys/quad-decoding.js';
import { encodeGraph } from '../../../../lib/storage/keys/quad-keys.js';
import { documents, factory } from '../../../properties/rdf-documents.js';
import { dumpKind } from '../../../support/formats.js';
import '../../../support/random-seed.js';
import { runs } from '../../../support/speed.js';

const of = 'http://new.example/';

async function dumpOf(
  members: readonly GraphMember[],
  isGzip = false,
  Format: typeof DumpWriter | typeof TriGWriter = DumpWriter,
): Promise<Buffer> {
  const out = new PassThrough();
  const chunks: Buffer[] = [];
  out.on('data', (chunk: Buffer) => chunks.push(chunk));
  const writer = new Format(out, of, { isGzip });
  for (const member of members) await writer.write(member);
  await writer.end();
  return Buffer.concat(chunks);
}

const member = (path: string, quads: readonly Quad[]): GraphMember => ({
  kind: 'rdf',
  path,
  source: '',
  quads,
  prefixes: {},
});

async function read(name: string, bytes: Buffer): Promise<GraphMember[]> {
  const source = {
    name,
    open: async function* () {
      yield bytes;
    },
  };
  const found: GraphMember[] = [];
  for await (const step of dumpReader(source, dumpKind(name)).read({ into: of, rewrite: [] }))
    if (step.member.kind === 'rdf') found.push(step.member);
  return found;
}

/** Returns members as stored: triples in key order. */
const stored = (all: readonly GraphMember[]): GraphMember[] =>
  all.map(({ path, quads }) => member(path, decodeGraph(encodeGraph(of + path, quads))));

describe('Dump writer', () => {
  it('writes the same bytes after an import of an export', async () => {
    await fc.assert(
      fc.asyncProperty(documents({ nasty: false }), async ({ quads }) => {
        // Blank nodes get labels of the storage at the latest here.
        const first = stored(await read('a.nq', await dumpOf([member('a', quads), member('c/b', quads)])));
        const exported = await dumpOf(first);
        expect((await dumpOf(stored(await read('a.nq', exported)))).toString()).to.equal(exported.toString());
        expect(gunzipSync(await dumpOf(first, true)).toString()).to.equal(exported.toString());
        const trig = await dumpOf(first, false, TriGWriter);
        expect((await dumpOf(stored(await read('a.trig', trig)))).toString()).to.equal(exported.toString());
        expect(gunzipSync(await dumpOf(first, true, TriGWriter)).toString()).to.equal(trig.toString());
      }),
      { numRuns: runs(40) },
    );
  });

  it('writes canonical lines, and skips members that are not graphs', async () => {
    const iri = factory.namedNode(`${of}a`);
    const quads = [
      factory.quad(factory.blankNode('b0'), iri, factory.literal('1', factory.namedNode('http://e.example/t'))),
      factory.quad(iri, iri, factory.literal('a "b"\n\u0007', 'en')),
    ];
    const out = new PassThrough();
    const writer = new DumpWriter(out, of);
    await writer.write({ kind: 'container', path: 'c/', source: '' });
    await writer.write(member('a', quads));
    await writer.end();
    expect(String(out.read())).to.equal(
      `_:b0 <${of}a> "1"^^<http://e.example/t> <${of}a> .\n<${of}a> <${of}a> "a \\"b\\"\\n\\u0007"@en <${of}a> .\n`,
    );
  });

  it('writes a block of TriG for each graph', async () => {
    const iri = factory.namedNode(`${of}a`);
    const quads = [factory.quad(iri, iri, factory.literal('a')), factory.quad(iri, iri, factory.blankNode('b0'))];
    const text = await dumpOf([member('a', quads), member('b', quads)], false, TriGWriter);
    const [a, block] = [`<${of}a>`, `<${of}a> <${of}a> "a", _:b0`];
    expect(text.toString()).to.equal(`${a} {\n${block}\n}\n<${of}b> {\n${block}\n}\n`);
  });

  it('waits for its reader, and fails if the output fails', async () => {
    const iri = factory.namedNode(`${of}a`);
    const large = member(
      'a',
      Array.from({ length: 20_000 }, (_, i) => factory.quad(iri, iri, factory.literal(`${i}`.padEnd(100)))),
    );
    for (const Format of [DumpWriter, TriGWriter]) await assertPatient(Format, large);
  });

  async function assertPatient(Format: typeof DumpWriter | typeof TriGWriter, large: GraphMember): Promise<void> {
    const out = new PassThrough();
    const writer = new Format(out, of);
    let isThrough = false;
    const writing = writer.write(large).then(() => {
      isThrough = true;
    });
    for (let turn = 0; turn < 100; turn++) await new Promise((resolve) => setImmediate(resolve));
    expect(isThrough).to.equal(false);
    out.resume();
    await writing;
    await writer.end();
    const full = new Writable({ write: (_chunk, _encoding, done) => done(new Error('the disk is full')) });
    const failing = new Format(full, of);
    const all = async (): Promise<void> => {
      await failing.write(large);
      await failing.end();
    };
    expect(await all().catch((error: Error) => error.message)).to.equal('the disk is full');
  }
});
