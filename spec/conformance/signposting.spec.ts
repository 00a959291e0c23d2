/** Rules 11.11, 12.9: Signposting and DCAT (`lws.signposting`), and the dataset of docs/publishing.md by the metrics of F-UJI. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Quad } from '@rdfjs/types';
import { expect } from 'chai';
import { packageRoot } from '../../lib/threads/package-root.js';
import { describeStorage, type StorageUnderTest } from '../support/conformance.js';
import { linked } from '../support/expectations.js';
import { grant, policy, publicAgentIri } from '../support/grants.js';
import type { Answer } from '../support/http.js';
import { putLinks } from '../support/linkset.js';
import { graphOf } from '../support/rdf.js';

const [dcat, dct] = ['http://www.w3.org/ns/dcat#', 'http://purl.org/dc/terms/'];
const rdfType = 'http://www.w3.org/1999/02/22-rdf-syntax-ns#type';
const identifier = 'https://w3id.org/example/rivers';

const text = readFileSync(join(packageRoot, 'docs/publishing.md'), 'utf8');
/** Files of the document in order: data, metadata, landing page, and two linksets. */
const [data, about, page, ofPage, ofData] = [...text.matchAll(/```(?:csv|turtle|html|json)\n([\s\S]*?)```/g)].map(
  ([, file]) => file!,
);

/** Uploads the files of the document as it does. */
async function published(s: StorageUnderTest): Promise<string> {
  const container = await s.container();
  for (const [name, type, body] of [
    ['measurements.csv', 'text/csv', data],
    ['about', 'text/turtle', about],
    ['index.html', 'text/html', page],
  ] as const)
    await s.stored(type, body, container + name);
  for (const [name, body] of [
    ['index.html', ofPage],
    ['measurements.csv', ofData],
  ] as const) {
    const answer = await s.put(`${container}${name}.meta`, 'application/linkset+json', body, { 'If-Match': '*' });
    expect(answer.status, answer.text).to.equal(204);
  }
  await grant(s, policy(publicAgentIri, 'read', container));
  return container;
}

const publicly = (s: StorageUnderTest, iri: string, headers = {}): Promise<Answer> =>
  s.send('GET', iri, headers, undefined, 'anonymous');

describeStorage(
  'Signposting',
  (s: StorageUnderTest) => {
    it('GET and HEAD have the links of the linkset with the relations of the profile and their types (rule 11.11)', async () => {
      const { iri } = await s.stored('text/plain', 'x');
      const own = linked(await s.get(iri), 'type');
      const links = {
        'cite-as': [{ href: 'https://doi.org/10.1000/182' }],
        Item: [{ href: 'part', type: 'text/csv' }, { href: 'other' }],
        license: 'a text is no link',
        related: [{ href: 'https://e.example/' }],
        'https://e.example/author': [{ href: 'https://e.example/' }],
      };
      expect((await putLinks(s, iri, links)).status).to.equal(204);
      for (const method of ['GET', 'HEAD']) {
        const answer = await s.send(method, iri);
        expect(linked(answer, 'cite-as')).to.deep.equal(['https://doi.org/10.1000/182']);
        const container = iri.slice(0, iri.lastIndexOf('/') + 1);
        expect(linked(answer, 'item')).to.deep.equal([`${container}part`, `${container}other`]);
        expect(answer.headers['link']).to.include(`<${container}part>; rel="item"; type="text/csv"`);
        expect(linked(answer, 'type')).to.deep.equal(own);
        for (const relation of ['license', 'related', 'https://e.example/author'])
          expect(linked(answer, relation)).to.deep.equal([]);
      }
      expect((await putLinks(s, iri, {})).status).to.equal(204);
      expect(linked(await s.get(iri), 'cite-as')).to.deep.equal([]);
    });

    it('the added links have at most 4096 characters, and cannot add other fields (rule 11.11)', async () => {
      const { iri } = await s.stored('text/plain', 'x');
      const before = (await s.get(iri)).headers['link']!.length;
      const item = Array.from({ length: 500 }, (_, at) => ({
        href: `https://e.example/${at}`,
        type: 'a"\r\nSet-Cookie: b=c',
      }));
      expect((await putLinks(s, iri, { item })).status).to.equal(204);
      const answer = await s.get(iri);
      expect(answer.headers['link']!.length - before).to.be.within(3500, 4096 + 200);
      expect(answer.headers['set-cookie']).to.equal(undefined);
      expect(linked(answer, 'item').length).to.be.within(20, 100);
    });

    it('callers without read access get no links of a resource', async () => {
      const { iri } = await s.stored('text/plain', 'x');
      await putLinks(s, iri, { 'cite-as': [{ href: 'https://doi.org/10.1000/182' }] });
      const [hidden, absent] = [await publicly(s, iri), await publicly(s, s.fresh())];
      expect([hidden.status, hidden.headers['link']]).to.deep.equal([absent.status, absent.headers['link']]);
    });

    it('the storage is a catalog of its services (rule 12.9)', async () => {
      const at = `${s.root}.lws/storage-description`;
      const quads = await graphOf(await s.get(at, { Accept: 'text/turtle' }), at);
      const objects = (subject: string, predicate: string): string[] =>
        quads.filter((q) => q.subject.value === subject && q.predicate.value === predicate).map((q) => q.object.value);
      expect(objects(s.root, rdfType)).to.include(`${dcat}Catalog`);
      const services = objects(s.root, `${dcat}service`);
      expect(services).to.include(`${s.root}.lws/sparql`);
      for (const service of services) {
        expect(objects(service, rdfType)).to.include(`${dcat}DataService`);
        expect(objects(service, `${dcat}endpointURL`)).to.deep.equal([service]);
      }
      const { type, service } = JSON.parse((await s.get(at)).text);
      const endpoints = new Set(service.map(({ serviceEndpoint }: { serviceEndpoint: string }) => serviceEndpoint));
      expect(type).to.equal('Storage');
      expect(new Set([s.root, ...services])).to.deep.equal(endpoints);
    });

    it('docs/publishing.md has what each metric of F-UJI asks for, to anonymous callers', async () => {
      const container = await published(s);
      const landing = await publicly(s, `${container}index.html`);
      expect([landing.status, linked(landing, 'cite-as')]).to.deep.equal([200, [identifier]]);
      expect(linked(landing, 'license')).to.have.length(1);
      expect(linked(landing, 'author')).to.have.length(1);
      const [item] = linked(landing, 'item');
      const content = await publicly(s, item!);
      expect([content.status, content.text, linked(content, 'collection')]).to.deep.equal([
        ...[200, data],
        [`${container}index.html`],
      ]);
      const [described] = linked(landing, 'describedby');
      for (const Accept of ['text/turtle', 'application/ld+json']) {
        const quads = await graphOf(await publicly(s, described!, { Accept }), described!);
        const has = (predicate: string): boolean =>
          quads.some(({ subject, predicate: p }: Quad) => subject.value === identifier && p.value === predicate);
        for (const name of [
          'identifier',
          'title',
          'description',
          'creator',
          'publisher',
          'issued',
          'type',
          'license',
          'accessRights',
          'isReferencedBy',
        ])
          expect(has(dct + name), name).to.equal(true);
        expect(has(`${dcat}keyword`) && has('http://www.w3.org/ns/prov#wasGeneratedBy')).to.equal(true);
        const size = quads.find(({ predicate }) => predicate.value === `${dcat}byteSize`)!;
        expect([size.subject.value, size.object.value]).to.deep.equal([item, String(data!.length)]);
      }
      const embedded = JSON.parse(/<script type="application\/ld\+json">([\s\S]*?)<\/script>/.exec(landing.text)![1]!);
      expect(embedded).to.include.keys(
        ...['@type', 'identifier', 'name', 'description', 'keywords', 'creator', 'publisher', 'datePublished'],
        ...['license', 'conditionsOfAccess', 'citation', 'distribution'],
      );
      const points = [...text.matchAll(/^\| `FsF-[\w.-]+` [^|]*\| (\d) \|/gm)].map(([, count]) => Number(count));
      expect([points.length, points.reduce((sum, count) => sum + count, 0)]).to.deep.equal([17, 26]);
    });
  },
  { settings: { signposting: 'true' } },
);

describeStorage('Signposting, by default', (s: StorageUnderTest) => {
  it('is off: responses have no links of the linkset but its types (rule 11.11)', async () => {
    const { iri } = await s.stored('text/plain', 'x');
    const before = (await s.get(iri)).headers['link'];
    await putLinks(s, iri, { 'cite-as': [{ href: 'https://doi.org/10.1000/182' }] });
    expect((await s.get(iri)).headers['link']).to.equal(before);
    expect((await s.get(`${s.root}.lws/storage-description`)).text).to.not.include(dcat);
  });
});
