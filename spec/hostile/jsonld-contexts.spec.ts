/** JSON-LD contexts that each cost as much as the active context: parsing cost stays linear in the document length. */
import { expect } from 'chai';
import { cidContext, lwsContext } from '../../lib/rdf/contexts.js';
import { parseRdf } from '../../lib/rdf/parse.js';
import { LwsError } from '../../lib/tools/errors.js';
import { slowness } from '../support/patience.js';

const times = <T>(count: number, make: (at: number) => T): T[] => Array.from({ length: count }, (_, at) => make(at));
const terms = (count: number): object => Object.fromEntries(times(count, (at) => [`t${at}`, `http://e.example/${at}`]));
const node = (at: number, context: unknown): object => ({
  '@context': context,
  '@id': `http://e.example/${at}`,
  'http://e.example/p': at,
});

/** Hostile documents. The count determines their length. */
const hostile: readonly (readonly [what: string, make: (count: number) => object])[] = [
  ['an array of contexts', (count) => ({ '@context': times(count, (at) => ({ [`t${at}`]: 'http://e.example/' })) })],
  ['a shipped context again and again', (count) => ({ '@context': times(count, () => lwsContext) })],
  [
    'two shipped contexts in turn',
    (count) => ({ '@context': times(count, (at) => (at % 2 ? lwsContext : cidContext)) }),
  ],
  [
    'a shipped context between others',
    (count) => ({ '@context': times(count, (at) => (at % 2 ? lwsContext : { [`t${at}`]: 'http://e.example/' })) }),
  ],
  [
    'nodes with contexts of their own below a large one',
    (count) => ({
      '@context': terms(count),
      '@graph': times(count, (at) => node(at, { [`own${at}`]: 'http://e.example/' })),
    }),
  ],
];

const usual: readonly (readonly [what: string, document: object, triples: number])[] = [
  ['a few contexts', { ...node(1, [lwsContext, cidContext, terms(50)]), t1: 'x' }, 2],
  ['nodes with a shipped context each', { '@graph': times(2000, (at) => node(at, lwsContext)) }, 2000],
  [
    'nodes with the same context each',
    { '@context': terms(500), '@graph': times(2000, (at) => node(at, { a: 'http://e.example/a' })) },
    2000,
  ],
  ['a large context', { ...node(1, terms(4000)), t5: 'x' }, 2],
];

const parse = async (document: object) =>
  parseRdf(Buffer.from(JSON.stringify(document)), 'application/ld+json', { base: 'http://e.example/' });

describe('JSON-LD contexts', () => {
  before(() => parse({ '@context': lwsContext }));

  for (const [what, make] of hostile)
    for (const count of [180, 6000])
      it(`${what} (${JSON.stringify(make(count)).length} bytes) is rejected or parsed quickly (rule 1.11)`, async () => {
        const started = performance.now();
        const fault = await parse(make(count)).then(
          () => undefined,
          (error: unknown) => error,
        );
        expect(performance.now() - started).to.be.below(1000 * slowness);
        if (fault !== undefined || count === 6000)
          expect(fault).to.be.instanceOf(LwsError).with.property('code', 'malformed-body');
      });

  for (const [what, document, triples] of usual)
    it(`${what} is accepted (rule 1.11)`, async () => {
      expect((await parse(document)).quads).to.have.length(triples);
    });
});
