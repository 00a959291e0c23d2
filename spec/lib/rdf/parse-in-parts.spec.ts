/** Documents parsed in parts have the same content and errors as those parsed as a whole. */
import type { Quad } from '@rdfjs/types';
import { expect } from 'chai';
import type { RdfFormat } from '../../../lib/rdf/formats.js';
import { parseRdf } from '../../../lib/rdf/parse.js';
import { parseInParts } from '../../../lib/rdf/parse-in-parts.js';

const base = 'http://spec.example/r';
const words = (quads: readonly Quad[]): string[] =>
  quads.map(({ subject, predicate, object }) =>
    [subject, predicate, object].map((t) => (t.termType === 'BlankNode' ? '_' : JSON.stringify(t))).join(),
  );
const many = Array.from(
  { length: 5_000 },
  (_, i) => `<http://a.example/${i}> <http://a.example/p> _:b${i % 3} .\n`,
).join('');

async function both(text: string, format: RdfFormat, triples?: number): Promise<[unknown, unknown]> {
  const bounds = triples === undefined ? undefined : { triples };
  const outcome = (work: () => unknown): Promise<unknown> =>
    Promise.resolve()
      .then(work)
      .catch((error: { code?: string; message: string }) => ({ code: error.code, message: error.message }));
  const whole = await outcome(async () => {
    const { quads, prefixes } = await parseRdf(Buffer.from(text), format, { base, bounds });
    return { quads: words(quads), prefixes };
  });
  const parts = await outcome(() => {
    const found: Quad[] = [];
    const given = { format, base, bounds };
    const prefixes = parseInParts(new Uint8Array(Buffer.from(text)), given, (quads) => found.push(...quads));
    return { quads: words(found), prefixes };
  });
  return [whole, parts];
}

describe('rdf/parse-in-parts', () => {
  for (const [title, text, format, triples] of [
    [
      'Turtle with prefixes',
      `@prefix ex: <http://e.example/> .\n${many}<> ex:p "é", 1, true, [ ex:q ( 1 2 ) ] .`,
      'text/turtle',
    ],
    ['an empty document', '', 'text/turtle'],
    ['N-Triples', many, 'application/n-triples'],
    ['a relative IRI in N-Triples', `${many}<a> <b> <c> .`, 'application/n-triples'],
    [
      'two triples on a line of N-Triples',
      `${many}${many.slice(0, 200).replaceAll('\n', ' ')}`,
      'application/n-triples',
    ],
    ['a mistake with its line and column', `${many}\n<a> <b> "c" ; .. .`, 'text/turtle'],
    ['an end that is missing', `${many}<a> <b>`, 'text/turtle'],
    ['a string that is not closed', `${many}<a> <b> "c .`, 'text/turtle'],
    ['a named graph', `${many}<g> { <a> <b> <c> }\n${many}`, 'application/trig'],
    [
      'a graph in N-Quads',
      `${many}<http://a.example/s> <http://a.example/p> "" <http://a.example/g> .\n`,
      'application/n-quads',
    ],
    ['too many triples', many, 'text/turtle', 4_999],
    ['as many triples as there may be', many, 'text/turtle', 5_000],
  ] as const)
    it(`parses ${title} like the whole document`, async () => {
      const [whole, parts] = await both(text, format, triples);
      expect(parts).to.deep.equal(whole);
    });

  it('gives the blank nodes of a document new labels, the same in all parts, and releases its bytes', () => {
    const bytes = new Uint8Array(Buffer.from(many));
    const labels = new Set<string>();
    let parts = 0;
    parseInParts(bytes, { format: 'text/turtle', base }, (quads) => {
      parts++;
      for (const { object } of quads) labels.add(object.value);
    });
    expect(parts).to.be.above(1);
    expect(labels.size).to.equal(3);
    for (const label of labels) expect(label).to.match(/^b[0-9a-f]{24}x/);
    expect(bytes.byteLength).to.equal(0);
  });
});
