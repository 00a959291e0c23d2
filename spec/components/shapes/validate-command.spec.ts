/** `quadpod validate FILE --against FILES` (rule 23.3). */
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect } from 'chai';
import { validateFile } from '../../../components/shapes/validate-command.js';
import type { CommandContext } from '../../../lib/component/component.js';
import { CommandError } from '../../../lib/tools/errors.js';

const prefixes = '@prefix sh: <http://www.w3.org/ns/shacl#> . @prefix ex: <https://example.org/> . ';

describe('quadpod validate', () => {
  let folder: string;
  beforeEach(() => {
    folder = mkdtempSync(join(tmpdir(), 'quadpod-validate-'));
  });
  afterEach(() => rmSync(folder, { recursive: true }));

  const file = (name: string, text: string): string => {
    writeFileSync(join(folder, name), prefixes + text);
    return join(folder, name);
  };
  async function run(data: string, against: string): Promise<{ code: number; lines: string[] }> {
    const lines: string[] = [];
    const context = { operands: [data], flags: { against }, print: (line: string) => lines.push(line) };
    return { code: await validateFile(context as unknown as CommandContext), lines };
  }
  const refusal = (data: string, against: string): Promise<string> =>
    run(data, against).then(
      () => 'none',
      (error: unknown) => (error instanceof CommandError ? error.message : String(error)),
    );

  it('ignores undefined properties of the SHACL namespace with one warning each (rule 23.3)', async () => {
    const shapes = `ex:S a sh:NodeShape ; sh:targetClass ex:C ; sh:shape ex:T ;
      sh:property [ sh:path ex:p ; sh:minCount 1 ; sh:shape ex:U ; sh:minSize 3 ] .`;
    const data = file('data.ttl', 'ex:a a ex:C .');
    const { code, lines } = await run(data, file('shapes.ttl', shapes));
    expect(code).to.equal(1);
    const warnings = lines.filter((line) => line.endsWith('is not a property of SHACL. It is ignored.'));
    expect(warnings.map((line) => /sh:\w+/.exec(line)![0]).sort()).to.deep.equal(['sh:minSize', 'sh:shape']);
    expect(lines.at(-1)).to.equal('violations: 1, warnings and infos: 0.');
  });

  it('applies the shapes of several files, and of a directory, as one document (rule 23.3)', async () => {
    const first = file('a.ttl', 'ex:S a sh:NodeShape ; sh:targetClass ex:C ; sh:node ex:T . _:b a sh:NodeShape .');
    const second = file('b.ttl', 'ex:T sh:property _:b . _:b sh:path ex:p ; sh:minCount 1 .');
    // The same triples in two files are one value.
    const third = file('c.ttl', 'ex:T sh:nodeKind sh:IRI . ex:S sh:node ex:T .');
    file('d.ttl', 'ex:T sh:nodeKind sh:IRI .');
    writeFileSync(join(folder, 'readme.txt'), 'not RDF');
    const bad = file('z.ttl', 'ex:a a ex:C .');
    for (const against of [[first, second].join(','), [first, second, third].join(','), folder])
      expect((await run(bad, against)).lines.at(-1), against).to.equal('violations: 1, warnings and infos: 0.');
    const good = file('y.ttl', 'ex:a a ex:C ; ex:p 1 .');
    expect((await run(good, `${first},${second}`)).code).to.equal(0);
    expect(await refusal(good, first)).to.contain('ex:T is used, but');
  });

  it('rejects files that are missing, malformed or no shapes (rule 23.3)', async () => {
    const data = file('data.ttl', 'ex:a a ex:C .');
    const shapes = file('shapes.ttl', 'ex:S a sh:NodeShape ; sh:targetClass ex:C .');
    expect(await refusal(data, `${shapes},${join(folder, 'none.ttl')}`)).to.match(/none\.ttl does not exist/);
    expect(await refusal(data, `${shapes},${file('bad.ttl', 'ex:S')}`)).to.match(/bad\.ttl: /);
    expect(await refusal(data, `${shapes},${file('a.txt', 'x')}`)).to.match(/a\.txt is not RDF/);
    expect(await refusal(data, file('rule.ttl', 'ex:S a sh:NodeShape ; sh:targetClass ex:C ; sh:rule [] .'))).to.match(
      /sh:rule, which the shape ex:S has, is not supported/,
    );
    expect(await refusal(data, ',')).to.contain('no shape with a target');
    const empty = mkdtempSync(join(tmpdir(), 'quadpod-validate-'));
    expect(await refusal(data, empty)).to.contain('has no RDF files');
    rmSync(empty, { recursive: true });
  });
});
