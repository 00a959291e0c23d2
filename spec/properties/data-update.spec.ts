/** Fast parser of data updates, compared with the SPARQL parser. */
import type { Quad } from '@rdfjs/types';
import { expect } from 'chai';
import fc from 'fast-check';
import { readDataUpdate } from '../../lib/query/parse/data-update.js';
import { type ReadUpdate, readUpdate } from '../../lib/query/parse/read-update.js';
import { encodeGraph } from '../../lib/storage/keys/quad-keys.js';
import { enough, runs } from '../support/speed.js';

const base = 'http://spec.example/c/r';

interface DataOperation {
  readonly type: string;
  readonly delete?: readonly Quad[];
  readonly insert?: readonly Quad[];
  readonly where?: unknown;
}

/** Returns the removed and added triples of each operation. Asserts that all operations are plain data. */
const keysOf = ({ steps }: ReadUpdate): string[][][] =>
  steps
    .flatMap(({ operation }) => (operation as { updates?: DataOperation[] }).updates ?? [operation as DataOperation])
    .filter(({ type }) => type !== 'nop')
    .map((each) => {
      expect(each.type).to.equal('deleteinsert');
      expect(each.where).to.equal(undefined);
      return [ground(each.delete ?? []), ground(each.insert ?? [])];
    });
/** Removes blank node labels, which depend on the parser. The properties use anonymous blank nodes at one position only. */
const ground = (quads: readonly Quad[]): string[] =>
  encodeGraph(base, quads).map((key) => key.replace(/\u0000(?:e_|n3-|g_)?[\w-]*\u0000/g, '\u0000'));

const iri = fc.constantFrom(
  '<#it>',
  '<>',
  '<other>',
  '</abs>',
  '<http://e/a>',
  'ex:a',
  'ex:b.c',
  ':local',
  'ex:',
  '<../up>',
  '<?q>',
);
const literal = fc.constantFrom(
  ...[
    '"x"',
    "'y'",
    '"""long "quoted" }{ text\n"""',
    "'''it''s # }'''",
    '"esc \\" \\n }"',
    '"x"@en',
    '"x"@en-GB',
    '"1"^^<http://e/t>',
    '"1"^^ex:t',
  ],
  ...['1', '-2', '+3', '4.5', '1e3', '1.0E-2', 'true', 'false', '"# no comment"', "'a' # a } comment\n"],
);
const verb = fc.constantFrom('a', 'ex:p', '<http://e/p>', '<p>', ':p');
const triple = fc
  .tuple(iri, verb, fc.array(fc.oneof(iri, literal), { minLength: 1, maxLength: 3 }))
  .map(([s, p, o]) => `${s} ${p} ${o.join(' , ')}`);
const block = fc
  .tuple(fc.array(triple, { maxLength: 3 }), fc.constantFrom('', '.', ' . ', '\n'))
  .map(([triples, end]) => triples.join(' .\n') + (triples.length > 0 ? end : ''));
const prologue = fc.constantFrom('PREFIX ex: <http://e/> PREFIX : <http://l/>', 'prefix ex:<http://e/>#c\nPREFIX :<#>');
const operation = fc
  .tuple(fc.constantFrom('INSERT DATA', 'delete data', 'DELETE  DATA'), block)
  .map(([word, content]) => `${word} { ${content} }`);
const noise = fc.constantFrom(
  '',
  ' ',
  ';',
  'WHERE {}',
  'CLEAR ALL',
  '{',
  '}',
  'INSERT { <a> <b> 1 } WHERE {}',
  'GRAPH <g> { <a> <b> 1 }',
  '?x',
  '@prefix x: <y> .',
  '_:b',
  'BASE <http://b/>',
);

describe('query/parse/data-update', () => {
  it('parses data updates like the SPARQL parser', async () => {
    let quick = 0;
    await fc.assert(
      fc.asyncProperty(
        prologue,
        fc.array(operation, { maxLength: 3 }),
        fc.constantFrom('', ';'),
        async (head, operations, end) => {
          const text = `${head}\n${operations.join(' ; ')}${operations.length > 0 ? end : ''}`;
          const mine = readDataUpdate(text, base);
          const theirs = await readUpdate(text, base);
          if (!mine) return;
          quick++;
          expect(keysOf(mine).filter((each) => each.flat().length > 0)).to.deep.equal(
            keysOf(theirs).filter((each) => each.flat().length > 0),
          );
        },
      ),
      { numRuns: runs(400) },
    );
    expect(quick).to.be.above(enough(300));
  }).timeout(30_000);

  it('parses nothing that the SPARQL parser rejects or that is more than data', async () => {
    await fc.assert(
      fc.asyncProperty(prologue, fc.array(fc.oneof(operation, noise, block), { maxLength: 5 }), async (head, parts) => {
        const text = `${head} ${parts.join(' ')}`;
        const mine = readDataUpdate(text, base);
        if (!mine) return;
        // Throws if the parser rejects the text.
        expect(keysOf(mine).flat(2)).to.deep.equal(keysOf(await readUpdate(text, base)).flat(2));
      }),
      { numRuns: runs(600) },
    );
  }).timeout(30_000);

  it('parses prefixes, and leaves other operations to the worker thread', () => {
    expect(readDataUpdate('PREFIX ex: <http://e/> INSERT DATA { <#a> ex:p 1 }', base)!.prefixes).to.deep.equal({
      ex: 'http://e/',
    });
    expect(readDataUpdate('', base)!.steps).to.deep.equal([]);
    for (const text of [
      'INSERT DATA { GRAPH <g> { <a> <b> 1 } }',
      'INSERT DATA { ?x <b> 1 }',
      'DELETE DATA { _:b <b> 1 }',
      'DELETE DATA { [] <b> 1 }',
      'DELETE { <a> <b> 1 } WHERE {}',
      'BASE <http://b/> INSERT DATA { <a> <b> 1 }',
      'INSERT DATA { <a> <b> "\\u007D" }',
      'INSERT DATA { <a> <b> 1 ',
      'INSERT DATA { <a> <b> 1 } INSERT DATA { <a> <b> 2 }',
      'INSERT DATA { <a> <b> _:x } ; INSERT DATA { <c> <b> _:x }',
      'INSERT DATA { @prefix x: <y> . <a> <b> 1 }',
    ])
      expect(readDataUpdate(text, base), text).to.equal(undefined);
  });
});
