/** Documents parsed by rdf-parse only: pages with RDF and SHACL shapes, each imported as a single file. */

import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Quad } from '@rdfjs/types';
import { expect } from 'chai';
import { DataFactory } from 'rdf-data-factory';
import { DocumentFault, documentQuads } from '../../../../components/data/transfer/documents/foreign-documents.js';
import type { LeftOut, Member } from '../../../../lib/exchange/member.js';
import { openReader } from '../../../support/formats.js';

const into = 'http://new.example/';
const page = `<html><head><script type="application/ld+json">
  {"@context": {"name": "http://old.example/name", "knows": "http://old.example/knows"}, "@id": "#me", "name": "Zoë", "knows": {}}
</script></head><body vocab="http://old.example/" resource="#me"><b property="nick">Z</b></body></html>`;

describe('Import of a single document', () => {
  let folder: string;
  before(async () => {
    folder = await mkdtemp(join(tmpdir(), 'documents-'));
  });
  after(() => rm(folder, { recursive: true }));

  /** Returns the only member of a file. */
  async function memberOf(name: string, content: string, format?: string): Promise<Member | LeftOut> {
    const path = join(folder, name);
    await writeFile(path, content);
    const reader = await openReader({ path }, format);
    const found: (Member | LeftOut)[] = [];
    const rewrite = [{ from: 'http://old.example/', to: into }];
    for await (const { member } of reader.read({ into, rewrite })) found.push(member);
    await reader.close();
    expect(found).to.have.length(1);
    return found[0]!;
  }
  const linesOf = (member: Member | LeftOut): string[] =>
    member.kind === 'rdf'
      ? member.quads.map(({ subject, predicate, object }) => `${subject.value} ${predicate.value} ${object.value}`)
      : [JSON.stringify(member)];

  it('imports the RDF of a page, with the same blank nodes each time', async () => {
    for (const name of ['me.html', 'me.xhtml']) {
      const lines = linesOf(await memberOf(name, page, 'file'));
      const me = `${into}${name}#me`;
      expect(lines).to.include.members([`${me} ${into}name Zoë`, `${me} ${into}nick Z`]);
      expect(lines.some((line) => /knows b[0-9a-f]{24}x/.test(line))).to.equal(true);
      expect(linesOf(await memberOf(name, page, 'file'))).to.deep.equal(lines);
    }
  });

  it('imports a page without RDF as a page', async () => {
    const member = await memberOf('plain.html', '<html><body>Hello</body></html>', 'file');
    expect(member).to.deep.include({ kind: 'bytes', path: 'plain.html', mediaType: 'text/html', size: 31 });
  });

  it('imports a shape in compact syntax as triples', async () => {
    const member = await memberOf(
      'person.shaclc',
      'BASE <http://old.example/s>\nPREFIX ex: <http://old.example/>\nshape ex:S -> ex:Person { ex:name [1..1] . }',
    );
    expect(linesOf(member)).to.include(`${into}S http://www.w3.org/ns/shacl#targetClass ${into}Person`);
    expect(member).to.have.nested.property('prefixes.ex', into);
  });

  it('leaves out an invalid document, with the reason', async () => {
    const member = await memberOf('bad.shaclc', 'shape ex:S {');
    expect(member).to.include({ kind: 'left-out', source: 'bad.shaclc' });
    expect(member)
      .to.have.property('why')
      .that.matches(/^It is invalid\. bad\.shaclc: Unknown prefix: ex\.$/);
    const json = '<script type="application/ld+json">{"a": </script>';
    expect(await memberOf('bad.html', json, 'file')).to.have.property('kind', 'left-out');
  });

  it('fetches no remote context', async () => {
    let requests = 0;
    const server = createServer((_request, response) => {
      requests++;
      response.end('{"@context": {"name": "http://old.example/name"}}');
    });
    await new Promise<void>((done) => server.listen(0, '127.0.0.1', done));
    try {
      const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/context`;
      const json = `{"@context": "${url}", "name": "Zoë"}`;
      for (const content of [
        `<script type="application/ld+json">${json}</script>`,
        `<base href="${url}"><script type="application/ld+json">{"@context": {"@import": "${url}"}, "name": 1}</script>`,
      ]) {
        const member = await memberOf('remote.html', content, 'file');
        expect(member)
          .to.have.property('why')
          .that.includes(`The JSON-LD context ${url} does not ship with this server`);
      }
      expect(requests).to.equal(0);
    } finally {
      server.close();
    }
  });

  it('stops parsing after the time limit', async () => {
    const bytes = Buffer.from(`PREFIX ex: <http://e.example/>\nshape ex:S { ex:p ${'{ ex:p '.repeat(100_000)}`);
    const reading = documentQuads({ bytes, type: 'text/shaclc', base: into, maxMs: 50 }, new DataFactory<Quad>());
    const fault = await reading.catch((error: unknown) => error);
    expect(fault).to.be.instanceOf(DocumentFault).with.property('message', 'Reading it takes more than 0.05 s');
  });
});
