/** Result readers and result comparison of the W3C tests, including every kind of difference. */
import { expect } from 'chai';
import { mediaTypeOf, type Outcome, readOutcome } from './outcomes.js';
import { type Comparison, sameOutcome } from './same-outcome.js';

const base = 'https://e.example/folder/';
const rs = '@prefix rs: <http://www.w3.org/2001/sw/DataAccess/tests/result-set#> .';
const read = (text: string, extension: string): Promise<Outcome> =>
  readOutcome(text, mediaTypeOf(`x.${extension}`), base);
const same = async (left: string, right: string, how: Comparison = {}, extension = 'tsv'): Promise<boolean> =>
  sameOutcome(await read(left, extension), await read(right, extension), how);

const json = `{"head":{"vars":["x","y"]},"results":{"bindings":[
  {"x":{"type":"uri","value":"${base}a"},"y":{"type":"literal","value":"t","xml:lang":"en"}},
  {"x":{"type":"bnode","value":"b"},"y":{"type":"literal","value":"1","datatype":"http://www.w3.org/2001/XMLSchema#integer"}},
  {"y":{"type":"literal","value":""}}]}}`;
const inOtherFormats = {
  srx: `<sparql xmlns="http://www.w3.org/2005/sparql-results#"><head><variable name="y"/><variable name="x"/></head><results>
    <result><binding name="x"><uri>a</uri></binding><binding name="y"><literal xml:lang="EN">t</literal></binding></result>
    <result><binding name="y"><literal/></binding></result>
    <result><binding name="x"><bnode>n</bnode></binding>
      <binding name="y"><literal datatype="http://www.w3.org/2001/XMLSchema#integer">1</literal></binding></result>
    </results></sparql>`,
  tsv: `?x\t?y\n<${base}a>\t"t"@en\n_:n\t1\n\t""\n`,
  ttl: `${rs} [] a rs:ResultSet ; rs:resultVariable "x", "y" ; rs:solution
    [ rs:binding [ rs:variable "x" ; rs:value <a> ], [ rs:variable "y" ; rs:value "t"@en ] ],
    [ rs:binding [ rs:variable "x" ; rs:value [] ], [ rs:variable "y" ; rs:value 1 ] ], [ rs:binding [ rs:variable "y" ; rs:value "" ] ] .`,
};

describe('Query outcomes', () => {
  for (const [extension, text] of Object.entries(inOtherFormats))
    it(`reads ${extension} with the same outcome as JSON`, async () => {
      const [left, right] = [await read(json, 'srj'), await read(text, extension)];
      expect(sameOutcome(left, right)).to.equal(true);
      expect(sameOutcome(left, await read(text.replace('"x"', '"z"').replace('?x', '?z'), extension))).to.equal(false);
    });

  it('reads CSV with quotes, line ends, blank nodes and empty values', async () => {
    const outcome = await read('x,y\r\n"a,""b""\nc",_:b\r\n,1\r\n', 'csv');
    expect(
      outcome.kind === 'solutions' && outcome.rows.map((row) => [...row].map(([n, t]) => [n, t.termType, t.value])),
    ).to.deep.equal([
      [
        ['x', 'Literal', 'a,"b"\nc'],
        ['y', 'BlankNode', 'b'],
      ],
      [['y', 'Literal', '1']],
    ]);
  });

  for (const [extension, text] of [
    ['srj', '{"head":{},"boolean":true}'],
    ['srx', '<sparql xmlns="http://www.w3.org/2005/sparql-results#"><head/><boolean>true</boolean></sparql>'],
    ['ttl', `${rs} [] a rs:ResultSet ; rs:boolean true .`],
  ] as const)
    it(`reads a boolean from ${extension}`, async () => {
      expect(await read(text, extension)).to.deep.equal({ kind: 'boolean', value: true });
      expect(await read(text.replaceAll('true', 'false'), extension)).to.deep.equal({ kind: 'boolean', value: false });
    });

  it('reads numbered solutions in order', async () => {
    const solution = (index: number, value: number) =>
      `[ rs:index ${index} ; rs:binding [ rs:variable "x" ; rs:value ${value} ] ]`;
    const set = `${rs} [] a rs:ResultSet ; rs:resultVariable "x" ; rs:solution ${solution(2, 7)}, ${solution(10, 5)}, ${solution(1, 6)} .`;
    const outcome = await read(set, 'ttl');
    expect(outcome.kind === 'solutions' && outcome.rows.map((row) => row.get('x')?.value)).to.deep.equal([
      '6',
      '7',
      '5',
    ]);
    expect(outcome.kind === 'solutions' && outcome.isNumbered).to.equal(true);
  });

  it('compares solutions as multisets, in order, or without duplicates', async () => {
    expect(await same('?x\n1\n2\n2\n', '?x\n2\n1\n2\n')).to.equal(true);
    expect(await same('?x\n1\n2\n2\n', '?x\n2\n1\n2\n', { isOrdered: true })).to.equal(false);
    expect(await same('?x\n1\n2\n2\n', '?x\n1\n1\n2\n')).to.equal(false);
    expect(await same('?x\n1\n2\n2\n', '?x\n1\n2\n')).to.equal(false);
    expect(await same('?x\n1\n2\n2\n', '?x\n1\n1\n2\n', { isLax: true })).to.equal(true);
    expect(await same('?x\n1\n2\n', '?x\n1\n3\n', { isLax: true })).to.equal(false);
    expect(await same('?x\t?y\n1\t\n', '?x\t?y\n1\t1\n')).to.equal(false);
    expect(await same('?x\t?y\n1\t2\n', '?x\t?y\n2\t1\n')).to.equal(false);
  });

  it('maps blank nodes one to one across all solutions', async () => {
    expect(await same('?x\t?y\n_:a\t1\n_:a\t2\n', '?x\t?y\n_:b\t1\n_:b\t2\n')).to.equal(true);
    expect(await same('?x\t?y\n_:a\t1\n_:a\t2\n', '?x\t?y\n_:b\t1\n_:c\t2\n')).to.equal(false);
    expect(await same('?x\n_:a\n', '?x\n<urn:a>\n')).to.equal(false);
  });

  it('compares terms, and numbers by value on request', async () => {
    expect(await same('?x\n1.0\n', '?x\n1.00\n')).to.equal(false);
    expect(await same('?x\n1.0\n', '?x\n1.00\n', { byValue: true })).to.equal(true);
    expect(await same('?x\n1.0\n', '?x\n1.1\n', { byValue: true })).to.equal(false);
    expect(await same('?x\n1.0\n', '?x\n1\n', { byValue: true })).to.equal(false);
    expect(await same('?x\n"1.0"\n', '?x\n"1"\n', { byValue: true })).to.equal(false);
    expect(await same('?x\n"a"@en\n', '?x\n"a"\n')).to.equal(false);
  });

  it('compares graphs, and distinguishes graphs, tables and booleans', async () => {
    expect(await same('<a> <b> [ <c> 1 ] .', '_:x <c> 1 . <a> <b> _:x .', {}, 'ttl')).to.equal(true);
    expect(await same('<a> <b> [ <c> 1 ] .', '_:x <c> 2 . <a> <b> _:x .', {}, 'ttl')).to.equal(false);
    const [graph, table, truth] = [
      await read('', 'ttl'),
      await read('?x\n', 'tsv'),
      await read('{"head":{},"boolean":false}', 'srj'),
    ];
    for (const [left, right] of [
      [graph, table],
      [table, graph],
      [graph, truth],
      [truth, table],
      [table, truth],
    ] as const)
      expect(sameOutcome(left, right)).to.equal(false);
  });
});
