/** What is read of RDF documents, and what is refused, where the parsers that we use are less strict or more. */
import { expect } from 'chai';
import { parseRdf } from '../../../lib/rdf/parse.js';

const base = 'http://localhost/r';
const parse = (text: string, format: Parameters<typeof parseRdf>[1]) => parseRdf(Buffer.from(text), format, { base });
const refused = async (text: string, format: Parameters<typeof parseRdf>[1]): Promise<string> => {
  try {
    await parse(text, format);
  } catch (error) {
    return (error as Error).message;
  }
  throw new Error(`accepted: ${text}`);
};

describe('N-Triples (section 7)', () => {
  const count = async (text: string): Promise<number> => (await parse(text, 'application/n-triples')).quads.length;

  it('has one triple on a line, with comments and blank lines', async () => {
    expect(await count('')).to.equal(0);
    expect(await count('# nothing\n\n \t\n')).to.equal(0);
    expect(await count('<a:s> <a:p> <a:o> .')).to.equal(1);
    expect(await count('<a:s><a:p><a:o>.#c\r\n\t_:a.b <a:p> _:c. # d\r<a:s> <a:p> "x" . \n')).to.equal(3);
    expect(
      await count('<a:s> <a:p> "a \\" . <b:s> # \\\\" .\n<a:s> <a:p> "1"^^<a:t>.\n<a:s> <a:p> "x"@en-GB .'),
    ).to.equal(3);
    expect(await count(`<a:s> <a:p> "${'\\n'.repeat(5_000_000)}" .`)).to.equal(1);
  });

  for (const [title, text] of Object.entries({
    'two triples on a line': '<a:s> <a:p> <a:o> .\n<a:s> <a:p> <a:o> . <a:s> <a:p> "o" .',
    'two triples without a blank between': '<a:s> <a:p> <a:o> .\n_:a <a:p> _:b._:c <a:p> _:d .',
    'a triple on two lines': '<a:s> <a:p> <a:o> .\n<a:s> <a:p>\n<a:o> .',
    'a full stop on the next line': '<a:s> <a:p> <a:o> .\n<a:s> <a:p> <a:o>\n.',
  }))
    it(`has no ${title}`, async () => {
      expect(await refused(text, 'application/n-triples')).to.contain('line 2');
    });
});

describe('JSON-LD documents', () => {
  it('may hold anything in a JSON literal, also what looks like a context (JSON-LD 1.1, 4.2.2)', async () => {
    const value = { '@context': 'https://elsewhere.example/c', '@import': 'x', a: [{ '@context': ['y'] }] };
    for (const document of [
      { 'http://e.example/p': { '@value': value, '@type': '@json' } },
      { '@context': { p: { '@id': 'http://e.example/p', '@type': '@json' } }, p: value },
    ]) {
      const { quads } = await parse(JSON.stringify(document), 'application/ld+json');
      expect(quads).to.have.length(1);
      expect(JSON.parse(quads[0]!.object.value)).to.deep.equal(value);
    }
  });

  for (const [title, context] of Object.entries({
    'the document': 'https://elsewhere.example/c',
    'a list of contexts': [{}, 'https://elsewhere.example/c'],
    'an import': { '@import': 'https://elsewhere.example/c' },
    'the context of a property': { p: { '@id': 'http://e.example/p', '@context': 'https://elsewhere.example/c' } },
    'the context of a type': { T: { '@id': 'http://e.example/T', '@context': 'https://elsewhere.example/c' } },
  }))
    it(`name the context that does not ship, in ${title}`, async () => {
      const document = { '@context': context, '@type': 'T', p: { 'http://e.example/q': 'x' } };
      expect(await refused(JSON.stringify(document), 'application/ld+json')).to.contain('https://elsewhere.example/c');
    });
});
