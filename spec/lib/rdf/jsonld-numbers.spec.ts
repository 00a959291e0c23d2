/** Numbers in JSON-LD documents (rule 1.15; JSON-LD 1.1 API 8.2.2, 8.6). */
import { expect } from 'chai';
import { parseRdf } from '../../../lib/rdf/parse.js';

const ns = 'http://www.w3.org/2001/XMLSchema#';
const literals = async (json: string): Promise<string[]> => {
  const { quads } = await parseRdf(Buffer.from(json), 'application/ld+json', { base: 'http://localhost/r' });
  return quads.flatMap(({ object }) =>
    object.termType === 'Literal' ? [`${object.value} ${object.datatype.value.replace(ns, '')}`] : [],
  );
};
/** @param term definition of the term, in a context */
const stored = async (value: string, term = '"urn:p"'): Promise<string> =>
  (await literals(`{"@context": {"p": ${term}}, "@id": "urn:s", "p": ${value}}`)).join();
const refused = (work: Promise<unknown>): Promise<string> =>
  work.then(
    (found) => `stored ${found}`,
    (error: Error) => error.message,
  );

describe('Numbers in JSON-LD', () => {
  // JSON-LD 1.1 API 8.2.2: without a fraction and below 10^21 xsd:integer, otherwise xsd:double.
  for (const [number, literal] of [
    ['12345678901234567890', '12345678901234567890 integer'],
    ['-12345678901234567890', '-12345678901234567890 integer'],
    ['9007199254740993', '9007199254740993 integer'],
    ['100000000000000000000', '100000000000000000000 integer'],
    ['123456789012345680000', '123456789012345680000 integer'],
    ['999999999999999999999', '999999999999999999999 integer'],
    ['1000000000000000000000', '1.0E21 double'],
    ['1234567890123456789012345', '1.234567890123456789012345E24 double'],
    ['12345678901234567890.0', '12345678901234567890 integer'],
    ['1.2345678901234567890e19', '12345678901234567890 integer'],
    ['1.234567890123456789', '1.234567890123456789E0 double'],
    ['0.12345678901234568', '1.2345678901234568E-1 double'],
    ['-0.00012345678901234567', '-1.2345678901234567E-4 double'],
    ['1e300', '1.0E300 double'],
    ['8.452712498170644e+270', '8.452712498170644E270 double'],
    ['5e-324', '5.0E-324 double'],
    ['1e-307', '1.0E-307 double'],
    // These are as before: 15 digits pass a double unchanged.
    ['5', '5 integer'],
    ['-0', '0 integer'],
    ['1.50', '1.5E0 double'],
    ['1e3', '1000 integer'],
    ['9007199254740991', '9007199254740991 integer'],
    ['0.100000000000000000', '1.0E-1 double'],
  ] as const)
    it(`stores ${number} as ${literal} (rule 1.15)`, async () => {
      expect(await stored(number)).to.equal(literal);
    });

  it('keeps digits with a datatype of the context or of the value (rule 1.15)', async () => {
    const number = '12345678901234567890';
    for (const type of ['integer', 'unsignedLong', 'decimal', 'string'])
      expect(await stored(number, `{"@id": "urn:p", "@type": "${ns}${type}"}`)).to.equal(`${number} ${type}`);
    const double = '1.234567890123456789E19 double';
    expect(await stored(number, `{"@id": "urn:p", "@type": "${ns}double"}`)).to.equal(double);
    expect(await stored(`{"@value": ${number}, "@type": "${ns}double"}`)).to.equal(double);
    expect(await stored(`{"@value": ${number}}`)).to.equal(`${number} integer`);
    // Not an IRI, and without the default language, as every number (JSON-LD 1.1 API 5.3.2).
    expect(await stored(number, '{"@id": "urn:p", "@type": "@id"}')).to.equal(`${number} integer`);
    expect(await literals(`{"@context": {"@language": "en"}, "urn:p": ${number}}`)).to.deep.equal([
      `${number} integer`,
    ]);
  });

  it('tells numbers apart that are the same double, in lists, sets and maps (rule 1.15)', async () => {
    const text =
      '{"@context": {"m": {"@id": "urn:m", "@container": "@index"}}, "@id": "urn:s", "m": {"a": 9007199254740993},' +
      '"urn:l": {"@list": [9007199254740992, 9007199254740993]}, "urn:p": [9007199254740992, "9007199254740993", 1]}';
    expect(await literals(text)).to.have.members([
      ...['9007199254740993 integer', '9007199254740992 integer', '9007199254740993 integer'],
      ...['9007199254740992 integer', '9007199254740993 string', '1 integer'],
    ]);
  });

  it('leaves digits in strings and names as they are (rule 1.15)', async () => {
    const words = 'a \\" 12345678901234567890 \\\\';
    expect(await stored(`["${words}", 12345678901234567890]`)).to.equal(
      `${JSON.parse(`"${words}"`)} string,12345678901234567890 integer`,
    );
    expect(await literals('{"urn:12345678901234567890": "x", "urn:p": 1e20}')).to.have.length(2);
  });

  it('rejects numbers outside of the range of xsd:double (rule 1.15)', async () => {
    for (const number of ['1e400', '-1e309', '1e-400', '1e99999999999', `1${'0'.repeat(400)}`])
      expect(await refused(stored(number)), number).to.match(/number .* is outside of the range of xsd:double/);
    expect(await stored('0e999')).to.equal('0 integer');
    expect(await stored('"1e400"')).to.equal('1e400 string');
  });

  it('rejects whole numbers in a JSON literal that are no doubles, and rounds fractions (rule 1.15, RFC 8785 3.2.2.3)', async () => {
    const json = '{"@id": "urn:p", "@type": "@json"}';
    for (const value of ['12345678901234567890', '{"a": [9007199254740993]}'])
      expect(await refused(stored(value, json)), value).to.match(/in a JSON literal \(@json\) is not a double/);
    const type = 'http://www.w3.org/1999/02/22-rdf-syntax-ns#JSON';
    expect(await stored('{"a": [100000000000000000000, 1e300, 1]}', json)).to.equal(
      `{"a":[100000000000000000000,1e+300,1]} ${type}`,
    );
    // toRdf#tjs12 of the W3C's suite.
    expect(await stored('[333333333.33333329]', json)).to.equal(`[333333333.3333333] ${type}`);
  });
});
