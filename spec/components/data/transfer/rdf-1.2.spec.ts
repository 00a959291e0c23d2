/** Imports, exports and the text index with triple terms and base directions (rule 1.16). */
import type { Quad } from '@rdfjs/types';
import { expect } from 'chai';
import { Parser } from 'n3';
import { isomorphic } from '../../../lib/rdf/isomorphism.js';
import { describeStorage, type StorageUnderTest } from '../../../support/conformance.js';
import { imported, requestExport } from '../../../support/imports.js';
import { expectGraph, graphOf } from '../../../support/rdf.js';

const reifying = '<http://www.w3.org/1999/02/22-rdf-syntax-ns#reifies>';
const triple = '<<( <http://e.example/s> <http://e.example/p> "inwendig" )>>';
const lines = [
  `_:r ${reifying} ${triple}`,
  `_:r <http://e.example/by> "auswendig"@de--ltr`,
  `<http://e.example/s> <http://e.example/q> <<( _:r <http://e.example/p> <<( <http://e.example/t> <http://e.example/p> _:r )>> )>>`,
  `<http://e.example/s> <http://e.example/p> "plain"`,
];
const expected = `${lines.join(' .\n')} .`;

describeStorage('RDF 1.2 in imports and exports', (s: StorageUnderTest) => {
  before(() => s.restart({ settings: { 'text-search.enabled': 'true' } }));

  const dumpOf = (into: string, name: string): string =>
    `VERSION "1.2"\n${lines.map((line) => `${line} <${into}${name}> .\n`).join('')}`;

  for (const [type, textOf] of [
    ['application/n-quads', dumpOf],
    ['application/trig', (into: string, name: string) => `<${into}${name}> { ${expected} }`],
    [
      'application/trig',
      (into: string, name: string) =>
        `PREFIX e: <http://e.example/> <${into}${name}> { << e:s e:p "inwendig" ~ _:r >> e:by "auswendig"@de--ltr . e:s e:p "plain" ; e:q <<( _:r e:p <<( e:t e:p _:r )>> )>> . }`,
    ],
  ] as const)
    it(`imports ${type}, and exports it as each format that is imported again`, async () => {
      const into = await s.container();
      const outcome = await imported(s, textOf(into, 'g'), { query: { into }, type });
      expect(outcome.report, JSON.stringify(outcome)).to.deep.equal([]);
      expect(outcome.created).to.equal(1);
      const answer = await s.get(`${into}g`);
      expect(answer.headers['content-type']).to.equal('text/turtle; version=1.2');
      await expectGraph(answer, `${into}g`, expected);
      for (const [format, sent] of [
        ['nquads', { type: 'application/n-quads' }],
        ['trig', { type: 'application/trig' }],
        ['archive', { type: 'application/zip' }],
        ['zip', { type: 'application/zip' }],
        ['bagit', { type: 'application/zip' }],
        ['css', { type: 'application/zip' }],
        ['ro-crate', { type: 'application/zip' }],
      ] as const) {
        const exported = await requestExport(s, `?format=${format}&of=${encodeURIComponent(into)}`);
        expect(exported.status, `${format} ${exported.text.slice(0, 200)}`).to.equal(200);
        const again = await s.container();
        const query = { into: again, ...(sent.type === 'application/zip' ? {} : { rewrite: `${into}=${again}` }) };
        const second = await imported(s, exported.bytes, { query, ...sent });
        expect(second.failure, format).to.equal(undefined);
        const [name] = (await s.members(again)).filter((member) => !member.endsWith('/'));
        const copy = await s.get(name!);
        await expectGraph(copy, name!, expected);
        expect(copy.headers['content-type'], format).to.equal('text/turtle; version=1.2');
      }
    });

  it('rewrites IRIs within triple terms once, and keeps labels of blank nodes apart', async () => {
    const into = await s.container();
    const [one, two] = ['http://old.example/', 'http://older.example/'];
    const text = `<${one}s> <${one}p> <<( <${one}s> <${one}p> <<( _:x <${one}p> <${two}o> )>> )>> <${one}g> .\n_:x <${one}p> _:y <${one}h> .\n`;
    const rewrite = `${one}=${into}`;
    const outcome = await imported(s, text, { query: { into, rewrite } });
    expect(outcome.created, JSON.stringify(outcome)).to.equal(2);
    const quads: Quad[] = await graphOf(await s.get(`${into}g`), `${into}g`);
    const wanted = new Parser().parse(
      `<${into}s> <${into}p> <<( <${into}s> <${into}p> <<( _:x <${into}p> <${two}o> )>> )>> .`,
    );
    expect(isomorphic(quads, wanted)).to.equal(true);
  });

  it('indexes texts with a base direction, and nothing within triple terms', async () => {
    const into = await s.container();
    await imported(s, dumpOf(into, 'imported'), { query: { into } });
    await s.stored('text/turtle', expected, `${into}put`);
    const found = async (word: string): Promise<readonly string[]> => {
      const answer = await s.get(`${s.root}.lws/text-search?q=${word}&in=${encodeURIComponent(into)}`);
      expect(answer.status, answer.text).to.equal(200);
      return [...answer.text.matchAll(/"id":\s*"([^"]+)"/g)].map(([, id]) => id!).filter((id) => id.startsWith(into));
    };
    expect(await found('auswendig')).to.have.members([`${into}imported`, `${into}put`]);
    expect(await found('inwendig')).to.deep.equal([]);
  });
});
