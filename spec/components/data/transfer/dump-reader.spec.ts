/** Dump reader: graphs become resources, and other triples are reported. */
import { gzipSync } from 'node:zlib';
import { expect } from 'chai';
import fc from 'fast-check';
import { dumpReader } from '../../../../components/data/transfer/formats/dump-reader.js';
import { type ByteSource, textOf } from '../../../../lib/exchange/byte-source.js';
import type { GraphMember, MemberOptions, ReadStep } from '../../../../lib/exchange/member.js';
import { dumpKind } from '../../../support/formats.js';
import '../../../support/random-seed.js';
import { runs } from '../../../support/speed.js';

const into = 'http://new.example/';

function sourceOf(name: string, text: string | Uint8Array, chunk = 1 << 16): ByteSource {
  const bytes = Buffer.from(text as string);
  return {
    name,
    size: bytes.length,
    async *open() {
      for (let at = 0; at < bytes.length; at += chunk) yield bytes.subarray(at, at + chunk);
    },
  };
}

const read = (source: ByteSource, options: Partial<MemberOptions> = {}): AsyncIterable<ReadStep> =>
  dumpReader(source, dumpKind(source.name)).read({ into, rewrite: [], ...options });

interface Read {
  readonly steps: readonly ReadStep[];
  readonly error: string | undefined;
}

async function readAll(source: ByteSource, options: Partial<MemberOptions> = {}): Promise<Read> {
  const steps: ReadStep[] = [];
  try {
    for await (const step of read(source, options)) steps.push({ ...step });
  } catch (error) {
    return { steps, error: (error as Error).message };
  }
  return { steps, error: undefined };
}

const graphsOf = ({ steps }: Read): GraphMember[] =>
  steps.map(({ member }) => member).filter((member) => member.kind === 'rdf');
const leftOutOf = ({ steps }: Read): string[] =>
  steps.flatMap(({ member }) => (member.kind === 'left-out' ? [`${member.source} ${member.why}`] : []));
/** Returns each part as path and number of triples. */
const shown = (all: Read): string[] =>
  graphsOf(all).map(({ path, quads, hasMore }) => `${path} ${quads.length}${hasMore ? '+' : ''}`);

const line = (graph: string, object = '"o"'): string =>
  `<http://e.example/s> <http://e.example/p> ${object} <${graph}> .\n`;

describe('Dump reader', () => {
  it('groups consecutive lines of a graph into a part of its resource', async () => {
    const text = line(`${into}a`) + line(`${into}a`, '"2"') + line(`${into}c/b`) + line(`${into}a`, '"3"');
    const all = await readAll(sourceOf('dump.nq', text));
    expect(shown(all)).to.deep.equal(['a 2', 'c/b 1', 'a 1']);
    expect(graphsOf(all).map(({ source }) => source)).to.deep.equal(['dump.nq:1', 'dump.nq:3', 'dump.nq:4']);
  });

  it('rewrites graph names and terms by the first matching rule', async () => {
    const text = line('http://old.example/x/a', '<http://old.example/b>');
    const rewrite = [
      { from: 'http://old.example/x/', to: `${into}y/` },
      { from: 'http://old.example/', to: into },
    ];
    const [graph] = graphsOf(await readAll(sourceOf('dump.nq', text), { rewrite }));
    expect(graph!.path).to.equal('y/a');
    expect(graph!.quads[0]!.object.value).to.equal(`${into}b`);
  });

  it('leaves out triples that belong to no resource, and reports each reason once', async () => {
    const text = [
      line('http://old.example/a') + line(`${into}a`) + line('http://old.example/b'),
      '<http://e.example/s> <http://e.example/p> "o" .\n',
      '<http://e.example/s> <http://e.example/p> "o" _:g .\n',
      line(`${into}c/`) + line(into) + line(`${into}a#it`),
    ].join('');
    const all = await readAll(sourceOf('dump.nq', text));
    expect(shown(all)).to.deep.equal(['a 1']);
    expect(leftOutOf(all)).to.deep.equal([
      `dump.nq:1 2 triples in graphs below http://old.example/, outside of ${into}. To import them, use --rewrite http://old.example/=${into}.`,
      'dump.nq:4 1 triple in no named graph, so that their resource is unknown.',
      'dump.nq:5 1 triple in graphs without an IRI.',
      `dump.nq:6 1 triple about ${into}c/: the server manages the triples of containers.`,
      `dump.nq:7 1 triple about ${into}: the server manages the triples of containers.`,
      `dump.nq:8 1 triple in ${into}a#it: resource IRIs have no query or fragment.`,
    ]);
  });

  it('groups the reports if there are many reasons', async () => {
    const text = Array.from({ length: 500 }, (_, index) => line(`http://h${index}.example/`)).join('');
    const told = leftOutOf(await readAll(sourceOf('dump.nq', text)));
    expect(told).to.have.length(101);
    expect(told.at(-1)).to.equal(`dump.nq:101 400 triples in graphs below further origins, outside of ${into}.`);
  });

  it('reports an invalid line after the preceding resources', async () => {
    const text = `${line(`${into}a`)}# a comment\n\n${line(`${into}b`)}<http://e.example/s> <p> "o" .\n${line(`${into}c`)}`;
    const all = await readAll(sourceOf('dump.nq', text));
    expect(shown(all)).to.deep.equal(['a 1', 'b 1']);
    expect(all.error).to.match(/^dump\.nq:5: /);
  });

  it('accepts a last line without a line end, and reports a truncated one', async () => {
    const whole = line(`${into}a`) + line(`${into}b`).trimEnd();
    expect(shown(await readAll(sourceOf('dump.nq', whole)))).to.deep.equal(['a 1', 'b 1']);
    const half = await readAll(sourceOf('dump.nq', whole.slice(0, -12)));
    expect(shown(half)).to.deep.equal(['a 1']);
    expect(half.error).to.match(/^dump\.nq:2: /);
  });

  it('rejects two statements in a line, invalid UTF-8, and relative IRIs', async () => {
    const both = `${line(`${into}a`).trimEnd()} ${line(`${into}a`)}`;
    expect((await readAll(sourceOf('dump.nq', both))).error).to.equal(
      'dump.nq:1: The line has more than one statement.',
    );
    const bytes = Buffer.from(line(`${into}a`, '"\u00e4"'), 'latin1');
    expect((await readAll(sourceOf('dump.nq', bytes))).error).to.equal('dump.nq:1: It is not UTF-8.');
    expect((await readAll(sourceOf('dump.nq', line('a')))).error).to.match(/^dump\.nq:1: Invalid IRI/);
    const trig = Buffer.from(`<${into}a> { <${into}a> <${into}p> "\u00e4" }`, 'latin1');
    expect((await readAll(sourceOf('dump.trig', trig))).error).to.equal(
      'dump.trig:1: The following bytes are not UTF-8.',
    );
  });

  it('resumes after every cursor, for any chunk size and compression', async () => {
    const graph = fc.record({
      name: fc.constantFrom('a', 'b', 'c/d', '\u00e4?'),
      count: fc.integer({ min: 1, max: 3 }),
    });
    const dumps = fc.array(graph, { minLength: 1, maxLength: 8 });
    await fc.assert(
      fc.asyncProperty(
        dumps,
        fc.integer({ min: 1, max: 300 }),
        fc.constantFrom('x.nq', 'x.nq.gz', 'x.trig'),
        async (graphs, chunk, name) => {
          const lines = graphs.map(({ name: graph, count }) => ({
            nq: `# ä\r\n${line(into + graph, '_:b').repeat(count)}`,
            trig: `<${into}${graph}> { ${'<http://e.example/s> <http://e.example/p> _:b . '.repeat(count)} }\n`,
          }));
          const text = lines.map((each) => (name === 'x.trig' ? each.trig : each.nq)).join('');
          const source = sourceOf(name, name.endsWith('.gz') ? gzipSync(text) : text, chunk);
          const all = await readAll(source);
          expect(all.error).to.equal(undefined);
          for (const [index, { cursor }] of all.steps.entries()) {
            const later = await readAll(source, { cursor });
            const bare = (steps: readonly ReadStep[]) => steps.map(({ member, cursor: at }) => ({ member, at }));
            // Triples left out before the end are reported at the end only.
            const rest = all.steps.slice(index + 1);
            if (all.steps[index]!.member.kind === 'rdf') expect(bare(later.steps)).to.deep.equal(bare(rest));
            else expect(later.steps).to.deep.equal([]);
          }
        },
      ),
      { numRuns: runs(60) },
    );
  });

  it('resumes only in a dump that is unchanged before the cursor', async () => {
    const turned = (text: string, name: string): string | Buffer => (name.endsWith('.gz') ? gzipSync(text) : text);
    const trig = (graph: string, text: string): string =>
      `<${into}${graph}> { <${into}s> <${into}p> "${text}"@en . }\n`;
    for (const [name, quad] of [
      ['x.nq', (graph: string, text: string) => line(into + graph, `"${text}"`)],
      ['x.nq.gz', (graph: string, text: string) => line(into + graph, `"${text}"`)],
      ['x.trig', trig],
    ] as const) {
      const before = quad('a', '1') + quad('b', '2') + quad('c', '3');
      const all = await readAll(sourceOf(name, turned(before, name), 50));
      const { cursor } = all.steps[1]!;
      const later = (text: string): Promise<Read> => readAll(sourceOf(name, turned(text, name), 50), { cursor });
      expect(shown(await later(before))).to.deep.equal(['c 1']);
      expect(shown(await later(before.replace('"3"', '"4"') + quad('d', '5')))).to.deep.equal(['c 1', 'd 1']);
      const others = {
        'another object': before.replace('"2"', '"4"'),
        'another graph name': before.replace(`${into}a`, `${into}x`),
        'a graph less': before.replace(quad('a', '1'), ''),
        'a graph more': quad('x', '0') + before,
        'the beginning only': quad('a', '1'),
        nothing: '',
      };
      for (const [what, text] of Object.entries(others)) {
        const { steps, error } = await later(text);
        expect(error, `${name}: ${what}`).to.match(/^x\S+ has changed before the position where the import stopped/);
        expect(steps).to.deep.equal([]);
      }
    }
  });

  it('splits a large graph, with the same blank nodes in all parts', async () => {
    const text = Array.from({ length: 25_000 }, (_, index) => line(`${into}a`, `_:n${index % 3}`)).join('');
    const all = await readAll(sourceOf('dump.nq', text + line(`${into}b`)));
    expect(shown(all)).to.deep.equal(['a 10000+', 'a 10000+', 'a 5000', 'b 1']);
    const labels = new Set(graphsOf(all).flatMap(({ quads }) => quads.map(({ object }) => object.value)));
    expect(labels.size).to.equal(4);
  });

  it('preserves blank node labels of storages, and prefixes others by document', async () => {
    const own = `b${'0'.repeat(24)}x0000`;
    const labelsOf = async (text: string): Promise<string[]> =>
      graphsOf(await readAll(sourceOf('dump.nq', text))).flatMap(({ quads }) =>
        quads.map(({ object }) => object.value),
      );
    const first = await labelsOf(line(`${into}a`, `_:${own}`) + line(`${into}b`, '_:b0') + line(`${into}c`, '_:b0'));
    expect(first[0]).to.equal(own);
    expect(first[1]).to.match(/^b[0-9a-f]{24}xb0$/);
    expect(first[2]).to.equal(first[1]);
    expect(await labelsOf(line(`${into}b`, '_:b0'))).to.not.include(first[1]);
  });

  it('reads TriG with prefixes, nested nodes and line numbers', async () => {
    const text = `@prefix e: <http://e.example/> .\n@prefix n: <${into}> .\nn:a {\n e:s e:p [ e:q "1" ] .\n}\nGRAPH n:b { e:s e:p "2" }\ne:s e:p "3" .\n`;
    const all = await readAll(sourceOf('dump.trig', text, 7));
    expect(shown(all)).to.deep.equal(['a 2', 'b 1']);
    expect(leftOutOf(all)).to.deep.equal([
      'dump.trig:7 1 triple in no named graph, so that their resource is unknown.',
    ]);
    const broken = await readAll(sourceOf('dump.trig', text.replace('"2" }', '"2" ]'), 7));
    expect(shown(broken)).to.deep.equal(['a 2']);
    expect(broken.error).to.match(/^dump\.trig:6: /);
  });

  it('rejects TriG that would exhaust the memory', async () => {
    const nested = await readAll(sourceOf('dump.trig', `<${into}a> { <${into}a> <${into}b> ${'( '.repeat(5_000)}`));
    expect(nested.error).to.equal('dump.trig:1: More than 1000 brackets are open.');
    const prefixes = Array.from({ length: 11_000 }, (_, index) => `@prefix p${index}: <${into}> .\n`).join('');
    expect((await readAll(sourceOf('dump.trig', prefixes))).error).to.equal(
      'dump.trig:10001: There are more than 10000 prefixes.',
    );
    const long = `@prefix p: <${into}${'a'.repeat(60_000)}> . <${into}a> { p:s p:p ${'p:o, '.repeat(1_000)}p:o }`;
    expect((await readAll(sourceOf('dump.trig', long))).error).to.match(
      /^dump\.trig:1: The terms of the document are much longer than the document/,
    );
  });

  it('rejects an endless line, damaged gzip and a gzip bomb', async () => {
    const megabyte = Buffer.alloc(1 << 20, 'a');
    const endless = async function* (): AsyncGenerator<Uint8Array> {
      for (;;) yield megabyte;
    };
    const error = (await readAll({ name: 'dump.nq', open: endless })).error;
    expect(error).to.equal('dump.nq:1: The line has more than 20971520 bytes.');
    const zipped = gzipSync(line(`${into}a`).repeat(100));
    expect((await readAll(sourceOf('dump.nq.gz', zipped.subarray(0, -20)))).error).to.match(/^dump\.nq\.gz is damaged/);
    expect((await readAll(sourceOf('dump.nq.gz', 'plain'))).error).to.match(/^dump\.nq\.gz is damaged or not gzip/);
    const bomb = sourceOf('dump.nq.gz', gzipSync(Buffer.alloc(40 << 20), { level: 9 }));
    const inflate = async (): Promise<void> => {
      for await (const _ of textOf(bomb, true));
    };
    expect(await inflate().catch((reason: Error) => reason.message)).to.match(/^dump\.nq\.gz is rejected: /);
  });

  it('reads nothing from an empty dump', async () => {
    for (const name of ['a.nq', 'a.trig'])
      expect(await readAll(sourceOf(name, ''))).to.deep.equal({ steps: [], error: undefined });
  });
});
