/** Rules 11.11, 12.9: Signposting and DCAT (`lws.signposting`), and the dataset of docs/publishing.md by the metrics of F-UJI. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Quad } from '@rdfjs/types';
import { expect } from 'chai';
import { ShapesGraph } from '../../components/shapes/shapes-graph.js';
import { TokenGraph } from '../../components/shapes/token-graph.js';
import { Validation } from '../../components/shapes/validation.js';
import { parseRdf } from '../../lib/rdf/parse.js';
import { encodeGraph } from '../../lib/storage/keys/quad-keys.js';
import { packageRoot } from '../../lib/tools/threads/package-root.js';
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
/** Files of the document in order: data, metadata, landing page, and three linksets. */
const [data, about, page, ofPage, ofData, ofContainer] = [
  ...text.matchAll(/```(?:csv|turtle|html|json)\n([\s\S]*?)```/g),
].map(([, file]) => file!);

/** Mandatory properties of DCAT-AP 3.0 (6.3 to 6.10), restated. */
const mandatory = async (): Promise<TokenGraph> => {
  const shape = (type: string, ...properties: readonly string[]): string =>
    `[] a sh:NodeShape ; sh:targetClass ${type} ; ${properties.map((each) => `sh:property [ ${each} ]`).join(' ; ')} .`;
  const literal = (path: string): string => `sh:path ${path} ; sh:minCount 1 ; sh:nodeKind sh:Literal`;
  const shapes = [
    '@prefix sh: <http://www.w3.org/ns/shacl#> . @prefix dcat: <http://www.w3.org/ns/dcat#> .',
    '@prefix dct: <http://purl.org/dc/terms/> . @prefix foaf: <http://xmlns.com/foaf/0.1/> .',
    shape(
      'dcat:Catalog',
      ...[
        literal('dct:title'),
        literal('dct:description'),
        'sh:path dcat:dataset ; sh:minCount 1 ; sh:class dcat:Dataset',
      ],
      'sh:path dct:publisher ; sh:minCount 1 ; sh:maxCount 1 ; sh:class foaf:Agent',
    ),
    shape('dcat:Dataset', literal('dct:title'), literal('dct:description')),
    shape('dcat:DataService', literal('dct:title'), 'sh:path dcat:endpointURL ; sh:minCount 1 ; sh:nodeKind sh:IRI'),
    shape('foaf:Agent', literal('foaf:name')),
  ];
  const { quads } = await parseRdf(Buffer.from(shapes.join('\n')), 'text/turtle', { base: 'urn:shapes' });
  return new TokenGraph([encodeGraph('urn:shapes', quads)]);
};

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
    ['', ofContainer],
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

    it('the catalog is RDF at the URL that the storage description names, with what DCAT-AP requires (rule 12.9)', async () => {
      const at = `${s.root}.lws/catalog`;
      const description = `${s.root}.lws/storage-description`;
      const named = await graphOf(await s.get(description, { Accept: 'text/turtle' }), description);
      const topic = 'http://xmlns.com/foaf/0.1/isPrimaryTopicOf';
      expect(named.filter(({ predicate }) => predicate.value === topic).map((q) => q.object.value)).to.deep.equal([at]);
      for (const [accept, type] of [
        [undefined, 'text/turtle'],
        ['text/html', 'text/turtle'],
        ['application/ld+json', 'application/ld+json'],
        ['application/rdf+xml', 'application/rdf+xml'],
      ] as const) {
        const answer = await publicly(s, at, accept === undefined ? {} : { Accept: accept });
        expect([answer.status, answer.headers['content-type']]).to.deep.equal([200, type]);
        const graph = new TokenGraph([encodeGraph(at, await graphOf(answer, at))]);
        const results = new Validation(new ShapesGraph(await mandatory(), {}), graph).run();
        expect(results.map(({ sentence }) => sentence)).to.deep.equal([]);
        for (const name of ['Catalog', 'Dataset', 'DataService'])
          expect(
            [...graph.triples(rdfType)].some(([, each]) => each === dcat + name),
            name,
          ).to.equal(true);
      }
      const again = await publicly(s, at);
      const cached = await publicly(s, at, { 'If-None-Match': again.headers['etag']! });
      expect(cached.status).to.equal(304);
      expect((await s.put(at, 'text/turtle', '')).status).to.equal(409);
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
      // The license that `export --format ro-crate` copies.
      const ofFolder = JSON.parse(
        (await publicly(s, `${container}.meta`, { Accept: 'application/linkset+json' })).text,
      );
      expect(JSON.stringify(ofFolder)).to.contain('creativecommons.org/licenses/by/4.0/');
      const points = [...text.matchAll(/^\| `FsF-[\w.-]+` [^|]*\| (\d) \|/gm)].map(([, count]) => Number(count));
      expect([points.length, points.reduce((sum, count) => sum + count, 0)]).to.deep.equal([17, 26]);
    });
  },
  { settings: { signposting: 'true' } },
);

describeStorage(
  'Signposting, with texts of the catalog',
  (s: StorageUnderTest) => {
    it('has the title, description and publisher of the settings (rule 12.9)', async () => {
      const { text } = await s.get(`${s.root}.lws/catalog`, { Accept: 'application/n-triples' });
      for (const literal of ['Rivers "and" lakes', 'Levels of rivers', 'University of Bern'])
        expect(text).to.contain(JSON.stringify(literal));
    });
  },
  {
    settings: {
      ...{ signposting: 'true', 'catalog.title': 'Rivers "and" lakes' },
      ...{ 'catalog.description': 'Levels of rivers', 'catalog.publisher': 'University of Bern' },
    },
  },
);

describeStorage('Signposting, by default', (s: StorageUnderTest) => {
  it('is off: responses have no links of the linkset but its types (rule 11.11)', async () => {
    const { iri } = await s.stored('text/plain', 'x');
    const before = (await s.get(iri)).headers['link'];
    await putLinks(s, iri, { 'cite-as': [{ href: 'https://doi.org/10.1000/182' }] });
    expect((await s.get(iri)).headers['link']).to.equal(before);
    expect((await s.get(`${s.root}.lws/storage-description`)).text).to.not.include(dcat);
    expect((await s.get(`${s.root}.lws/catalog`)).status).to.equal(404);
  });
});
