/** The example of docs/search.md, on the SKOS vocabulary of npm (rules 13.8, 13.9, 13.12, 14.18). */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'chai';
import { packageRoot } from '../../lib/tools/threads/package-root.js';
import { type Answer, request } from '../support/http.js';
import { type SpecServer, startSpecServer } from '../support/server.js';
import { loadOntology } from './ontologies.js';

/** Splits a command line into words, with the variables of the example. */
function wordsOf(line: string, variables: Readonly<Record<string, string>>): string[] {
  const words = line.match(/(?:"[^"]*"|'[^']*'|[^\s"'])+/g) ?? [];
  const filled = (text: string): string => text.replace(/\$([A-Z]+)/g, (_, name: string) => variables[name] ?? '');
  return words.map((word) =>
    word.replace(/"([^"]*)"|'([^']*)'|([^"']+)/g, (_, double?: string, single?: string, plain?: string) =>
      single !== undefined ? single : filled(double ?? plain ?? ''),
    ),
  );
}

/** Sends the request of a curl command. @param file content of the file that it sends */
function curl(words: readonly string[], file: string): Promise<Answer> {
  const headers: Record<string, string> = {};
  const query: string[] = [];
  let [method, url, body]: [string, string, string | undefined] = ['GET', '', undefined];
  for (let at = 1; at < words.length; at++) {
    const word = words[at]!;
    if (word === '-H') {
      const [, name, value] = /^([^:]+): (.*)$/.exec(words[++at]!)!;
      headers[name!] = value!;
    } else if (word === '-X') method = words[++at]!;
    else if (word === '-d') query.push(words[++at]!);
    else if (word === '--data-urlencode')
      query.push(words[++at]!.replace(/=([\s\S]*)/, (_, text) => `=${encodeURIComponent(text)}`));
    else if (word === '--data-binary') [body] = [file, at++];
    else if (word !== '-G') url = word;
  }
  return request(query.length === 0 ? url : `${url}?${query.join('&')}`, { method, headers, body });
}

describe('The example of docs/search.md', () => {
  let server: SpecServer;
  const answers: Answer[] = [];
  before(async () => {
    server = await startSpecServer({ settings: { 'text-search.enabled': 'true' } });
    const [, block = ''] = /```sh\n([\s\S]*?)```/.exec(readFileSync(join(packageRoot, 'docs/search.md'), 'utf8')) ?? [];
    const variables = { A: `Authorization: Bearer ${server.ownerToken}`, B: server.root.slice(0, -1) };
    const { nTriples } = await loadOntology('skos');
    for (const command of block.split(/\n(?=curl )/).slice(1))
      answers.push(await curl(wordsOf(command.replace(/\n#.*/g, ''), variables), nTriples));
  });
  after(() => server.stop());

  const items = (at: number) => JSON.parse(answers[at]!.text).items as Record<string, unknown>[];
  const skos = 'http://www.w3.org/2004/02/skos/core#';

  it('stores the vocabulary and finds it by words, phrases, beginnings and other forms (rules 13.8, 13.9)', () => {
    expect(answers.map(({ status }) => status)).to.deep.equal([201, 200, 200, 200, 200, 200]);
    for (const at of [1, 2]) expect(items(at).map(({ id }) => id)).to.deep.equal([`${server.root}skos`]);
    const { text, matches } = items(2)[0]!['snippet'] as { text: string; matches: [number, number][] };
    expect(matches.map(([from, to]) => text.slice(from, to).toLowerCase())[0]).to.match(/^mapping/);
  });

  it('returns labels, and labels with a beginning (rule 13.12)', () => {
    expect(items(3)[0]).to.deep.include({ id: `${skos}Concept` });
    expect((items(3)[0]!['labels'] as { value: string }[])[0]).to.include({ value: 'Concept', language: 'en' });
    expect(items(4).map(({ value }) => value)).to.include('has broader');
  });

  it('finds properties in SPARQL (rule 14.18)', () => {
    const lines = answers[5]!.text.trim().split(/\r?\n/);
    expect(lines[0]).to.equal('property,label,score');
    expect(lines.length).to.be.above(2);
    expect(lines[1]).to.contain(skos);
  });
});
