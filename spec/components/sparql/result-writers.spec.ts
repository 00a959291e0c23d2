/** SPARQL 1.1 Query Results JSON, XML, CSV and TSV: exact texts. */
import { expect } from 'chai';
import { DataFactory } from 'rdf-data-factory';
import type { ResultFormat } from '../../../components/sparql/protocol/protocol.js';
import { type ResultRow, resultWriter } from '../../../components/sparql/results/result-writers.js';

const f = new DataFactory();
const xsd = 'http://www.w3.org/2001/XMLSchema#';
const typed = (value: string, name: string) => f.literal(value, f.namedNode(xsd + name));
const text = (format: ResultFormat, variables: readonly string[], ...rows: readonly ResultRow[]): string => {
  const writer = resultWriter(format, variables);
  return writer.head() + rows.map((row) => writer.row(row)).join('') + writer.end();
};
const [json, xml, csv, tsv] = [
  'application/sparql-results+json',
  'application/sparql-results+xml',
  'text/csv',
  'text/tab-separated-values',
] as const;
const row: ResultRow = [f.namedNode('https://e.example/a?b&c'), f.blankNode('x'), f.literal('hé', 'en-gb'), undefined];
const names = ['i', 'b', 'l', 'u'];

describe('SPARQL result writers', () => {
  it('JSON 3.2: terms by their kind, an unbound variable left out', () => {
    expect(
      JSON.parse(text(json, names, row, [undefined, undefined, typed('1', 'integer'), f.literal('"\\\n')])),
    ).to.deep.equal({
      head: { vars: names },
      results: {
        bindings: [
          {
            i: { type: 'uri', value: 'https://e.example/a?b&c' },
            b: { type: 'bnode', value: 'x' },
            l: { type: 'literal', value: 'hé', 'xml:lang': 'en-gb' },
          },
          {
            l: { type: 'literal', value: '1', datatype: `${xsd}integer` },
            u: { type: 'literal', value: '"\\\n' },
          },
        ],
      },
    });
    expect(JSON.parse(text(json, []))).to.deep.equal({ head: { vars: [] }, results: { bindings: [] } });
    expect(JSON.parse(text(json, [], [], []))).to.deep.equal({ head: { vars: [] }, results: { bindings: [{}, {}] } });
    expect(JSON.parse(resultWriter(json, []).boolean(true))).to.deep.equal({ head: {}, boolean: true });
  });

  it('XML 2: terms by their kind, escaped', () => {
    const open = '<?xml version="1.0"?>\n<sparql xmlns="http://www.w3.org/2005/sparql-results#">\n';
    expect(text(xml, ['i', 'l'], [row[0], row[2]], [undefined, typed('<&>]]>\r', 'token')])).to.equal(
      `${open}<head><variable name="i"/><variable name="l"/></head>\n<results>\n<result><binding name="i"><uri>https://e.example/a?b&amp;c</uri></binding><binding name="l"><literal xml:lang="en-gb">hé</literal></binding></result>\n<result><binding name="l"><literal datatype="${xsd}token">&lt;&amp;&gt;]]&gt;&#13;</literal></binding></result>\n</results>\n</sparql>\n`,
    );
    expect(resultWriter(xml, []).boolean(false)).to.equal(`${open}<head/>\n<boolean>false</boolean>\n</sparql>\n`);
  });

  it('CSV 3: plain values, quoted if needed, CRLF', () => {
    const nasty = f.literal('a"b,c\nd');
    expect(text(csv, ['i', 'b', 'l', 'u'], row, [nasty, typed('1.0', 'decimal'), f.literal(''), undefined])).to.equal(
      'i,b,l,u\r\nhttps://e.example/a?b&c,_:x,hé,\r\n"a""b,c\nd",1.0,,\r\n',
    );
  });

  it('TSV 4: terms as in Turtle, escaped', () => {
    expect(text(tsv, names, row, [f.literal('a\t"\\\n\r'), typed('x', 'token'), undefined, undefined])).to.equal(
      '?i\t?b\t?l\t?u\n<https://e.example/a?b&c>\t_:x\t"hé"@en-gb\t\n"a\\t\\"\\\\\\n\\r"\t"x"^^<http://www.w3.org/2001/XMLSchema#token>\t\t\n',
    );
  });

  for (const [value, type, plain] of [
    ['1', 'integer', true],
    ['-01', 'integer', true],
    ['1.5', 'decimal', true],
    ['1e0', 'double', true],
    ['1', 'decimal', false],
    ['1', 'double', false],
    ['1.5', 'double', false],
    ['1.5', 'integer', false],
    ['1e0', 'decimal', false],
    ['INF', 'double', false],
    ['x', 'integer', false],
    ['1', 'int', false],
    ['true', 'boolean', undefined],
  ] as const)
    it(`TSV 4: a number is bare only if Turtle reads the same datatype: ${value} of ${type}`, () => {
      const [, cell] = text(tsv, ['x'], [typed(value, type)]).split('\n');
      const forms = { true: [value], false: [`"${value}"^^<${xsd}${type}>`] };
      expect(cell).to.be.oneOf(plain === undefined ? [...forms.true, ...forms.false] : forms[`${plain}`]);
    });
});
