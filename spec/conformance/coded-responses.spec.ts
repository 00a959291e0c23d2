/** Rules 7.7, 8.6. */
import { createHash } from 'node:crypto';
import { brotliDecompressSync, gunzipSync } from 'node:zlib';
import { expect } from 'chai';
import { describeStorage } from '../support/conformance.js';
import type { Answer } from '../support/http.js';

const decoders = { gzip: gunzipSync, br: brotliDecompressSync } as const;
const suffixes = { gzip: '.gz', br: '.br' } as const;
type Coding = keyof typeof decoders;
const turtle = (triples: number): string =>
  Array.from({ length: triples }, (_, at) => `<#s${at}> <https://e.example/p> "text ${at}" .`).join('\n');
const digestOf = (bytes: Uint8Array): string => `sha-256=:${createHash('sha256').update(bytes).digest('base64')}:`;
/** Fields that a coding may change. */
const others = ({ headers }: Answer): object => {
  const { date: _date, etag: _etag, vary: _vary, ...rest } = headers;
  for (const name of ['content-length', 'content-encoding', 'transfer-encoding', 'accept-ranges', 'connection'])
    delete (rest as Record<string, unknown>)[name];
  return rest;
};

describeStorage('Responses with a content coding', (s) => {
  const places: [string, () => Promise<string>, Record<string, string>][] = [
    ['Turtle', async () => (await s.stored('text/turtle', turtle(100))).iri, {}],
    ['JSON-LD', async () => (await s.stored('text/turtle', turtle(100))).iri, { Accept: 'application/ld+json' }],
    ['a large graph', async () => (await s.stored('text/turtle', turtle(20_100))).iri, {}],
    [
      'a large graph as N-Triples',
      async () => (await s.stored('text/turtle', turtle(20_100))).iri,
      { Accept: 'application/n-triples' },
    ],
    ['JSON', async () => (await s.stored('application/json', JSON.stringify({ a: 'b '.repeat(1000) }))).iri, {}],
    ['text', async () => (await s.stored('text/csv', 'a,b\n'.repeat(500))).iri, {}],
    ['a large text', async () => (await s.stored('text/plain', 'a b c\n'.repeat(200_000))).iri, {}],
    ['a container', async () => s.scratch, {}],
    ['a container in Turtle', async () => s.scratch, { Accept: 'text/turtle' }],
    ['the storage description', async () => `${s.root}.lws/storage-description`, {}],
    [
      'a graph of the graph store',
      async () => `${s.root}.lws/graphs?graph=${encodeURIComponent((await s.stored('text/turtle', turtle(100))).iri)}`,
      {},
    ],
  ];
  before(async () => {
    for (let at = 0; at < 12; at++) await s.stored('text/plain', 'member');
  });

  for (const [what, place, fields] of places)
    for (const coding of ['gzip', 'br'] as const)
      it(`sends ${what} with ${coding}, also for HEAD, under a tag of its own (rules 7.7, 8.6)`, async () => {
        const iri = await place();
        const plain = await s.get(iri, fields);
        const asked = { ...fields, 'Accept-Encoding': coding };
        const answer = await s.get(iri, asked);
        expect(answer.headers['content-encoding']).to.equal(coding);
        expect(decoders[coding](answer.bytes).equals(plain.bytes)).to.equal(true);
        expect(answer.bytes.length).to.be.below(plain.bytes.length / 2);
        expect(answer.headers['etag']).to.equal(plain.headers['etag']!.replace(/"$/, `${suffixes[coding]}"`));
        expect(answer.headers['vary']).to.equal([plain.headers['vary'], 'Accept-Encoding'].filter(Boolean).join(', '));
        expect(others(answer)).to.deep.equal(others(plain));
        const head = await s.head(iri, asked);
        const { date: _of, 'transfer-encoding': _ofHead, ...headFields } = head.headers;
        const { date: _other, 'transfer-encoding': _transfer, ...getFields } = answer.headers;
        expect(headFields).to.deep.equal(getFields);
        const again = await s.get(iri, { ...asked, 'If-None-Match': answer.headers['etag']! });
        expect([
          again.status,
          again.headers['etag'],
          again.headers['vary'],
          again.headers['content-encoding'],
        ]).to.deep.equal([304, answer.headers['etag'], answer.headers['vary'], undefined]);
        const uncoded = await s.get(iri, { ...asked, 'If-None-Match': plain.headers['etag']! });
        expect([uncoded.status, uncoded.headers['vary']]).to.deep.equal([304, answer.headers['vary']]);
        const other = {
          ...fields,
          'Accept-Encoding': coding === 'br' ? 'gzip' : 'br',
          'If-None-Match': answer.headers['etag']!,
        };
        expect((await s.get(iri, other)).status).to.equal(200);
        expect((await s.get(iri, { ...fields, 'If-None-Match': answer.headers['etag']! })).status).to.equal(200);
      });

  it('is unchanged for requests without Accept-Encoding, and has Vary in all others (rule 7.7)', async () => {
    const { iri } = await s.stored('text/turtle', turtle(100));
    const before = await s.get(iri);
    await s.get(iri, { 'Accept-Encoding': 'br' });
    const after = await s.get(iri);
    expect([after.headers['vary'], after.headers['content-encoding']]).to.deep.equal(['Accept', undefined]);
    expect([others(after), after.text]).to.deep.equal([others(before), before.text]);
    expect((await s.get(iri, { 'Accept-Encoding': '' })).headers['vary']).to.equal('Accept, Accept-Encoding');
  });

  const choices: [string, Coding | undefined][] = [
    ['gzip, deflate, br', 'br'],
    ['gzip;q=1, br;q=0.5', 'gzip'],
    ['gzip;q=0.5, br;q=0.501', 'br'],
    ['br;q=0, *', 'gzip'],
    ['*', 'br'],
    ['*;q=0', undefined],
    ['*;q=0, gzip;q=0.1', 'gzip'],
    ['x-gzip', 'gzip'],
    ['GZIP', 'gzip'],
    ['identity, gzip;q=0.5', undefined],
    ['identity;q=0.2, gzip;q=0.5', 'gzip'],
    ['identity;q=0, gzip', 'gzip'],
    ['gzip;q=0, br;q=0.000', undefined],
    ['deflate, zstd, constructor', undefined],
    ['gzip;q=2, br;q=x, ,;', undefined],
    ['', undefined],
  ];
  for (const [field, coding] of choices)
    it(`chooses ${coding ?? 'no coding'} for Accept-Encoding "${field}" (rule 7.7)`, async () => {
      const { iri } = await s.stored('text/turtle', turtle(100));
      expect((await s.get(iri, { 'Accept-Encoding': field })).headers['content-encoding']).to.equal(coding);
    });

  it('sends bodies of at most 1 KiB uncoded, unless the client refuses that (rule 7.7)', async () => {
    const [small, large] = [
      await s.stored('text/plain', 'a'.repeat(1024)),
      await s.stored('text/plain', 'a'.repeat(1025)),
    ];
    const codingOf = async (iri: string, field: string): Promise<string | undefined> =>
      (await s.get(iri, { 'Accept-Encoding': field })).headers['content-encoding'];
    expect(await codingOf(small.iri, 'gzip')).to.equal(undefined);
    expect(await codingOf(small.iri, 'gzip, identity;q=0')).to.equal('gzip');
    expect(await codingOf(small.iri, 'gzip, *;q=0')).to.equal('gzip');
    expect(await codingOf(large.iri, 'gzip')).to.equal('gzip');
  });

  it('sends other stored bytes, parts, errors and tokens uncoded (rule 7.7)', async () => {
    const asked = { 'Accept-Encoding': 'gzip, br, identity;q=0' };
    for (const type of ['application/octet-stream', 'image/svg+xml', 'application/pdf']) {
      const { iri } = await s.stored(type, 'a'.repeat(5000));
      const answer = await s.get(iri, asked);
      expect([answer.headers['content-encoding'], answer.headers['vary'], answer.bytes.length], type).to.deep.equal([
        undefined,
        undefined,
        5000,
      ]);
    }
    const { iri, etag } = await s.stored('text/plain', 'abcdefghij'.repeat(500));
    const coded = await s.get(iri, asked);
    for (const condition of [{}, { 'If-Range': etag }]) {
      const part = await s.get(iri, { ...asked, ...condition, Range: 'bytes=10-19' });
      expect([part.status, part.text, part.headers['content-encoding'], part.headers['etag']]).to.deep.equal([
        206,
        'abcdefghij',
        undefined,
        etag,
      ]);
    }
    const whole = await s.get(iri, { ...asked, Range: 'bytes=10-19', 'If-Range': coded.headers['etag']! });
    expect([whole.status, whole.headers['content-encoding'], whole.headers['accept-ranges']]).to.deep.equal([
      200,
      'br',
      undefined,
    ]);
    for (const answer of [
      await s.get(`${s.scratch}absent`, asked),
      await s.send('POST', `${s.root}.lws/token`, asked),
      await s.get(`${s.root}.lws/status`, asked),
    ])
      expect(answer.headers['content-encoding']).to.equal(undefined);
  });

  for (const coding of ['gzip', 'br'] as const)
    it(`accepts the tag of a ${coding} response in writes and reads with If-Match (rules 8.1, 8.6)`, async () => {
      for (const [type, body] of [
        ['text/turtle', turtle(100)],
        ['text/plain', 'a'.repeat(2000)],
      ] as const) {
        const { iri } = await s.stored(type, body);
        const tag = (await s.get(iri, { 'Accept-Encoding': coding })).headers['etag']!;
        expect((await s.get(iri, { 'If-Match': tag })).status).to.equal(200);
        expect((await s.put(iri, type, body.replace('text 1', 'new'), { 'If-None-Match': tag })).status).to.equal(412);
        expect((await s.put(iri, type, '', { 'If-Match': tag })).status).to.equal(204);
        expect((await s.put(iri, type, body, { 'If-Match': tag })).status).to.equal(412);
        expect((await s.get(iri, { 'Accept-Encoding': coding, 'If-None-Match': tag })).status).to.equal(200);
      }
      const container = await s.container();
      for (let at = 0; at < 9; at++) await s.put(`${container}a${at}`, 'text/plain', 'a');
      const tag = (await s.get(container, { 'Accept-Encoding': coding })).headers['etag']!;
      expect(tag).to.match(/\.(?:gz|br)"$/);
      expect((await s.delete(container, { 'If-Match': tag, Depth: 'infinity' })).status).to.equal(204);
    });

  it('sends Content-Digest of the coded bytes, and the uncoded form to clients that want Repr-Digest (rule 10.7)', async () => {
    const { iri } = await s.stored('text/turtle', turtle(100));
    const content = await s.get(iri, { 'Accept-Encoding': 'gzip', 'Want-Content-Digest': 'sha-256=1' });
    expect([content.headers['content-encoding'], content.headers['content-digest']]).to.deep.equal([
      'gzip',
      digestOf(content.bytes),
    ]);
    for (const each of [iri, (await s.stored('application/json', JSON.stringify({ a: 'b'.repeat(2000) }))).iri]) {
      const repr = await s.get(each, { 'Accept-Encoding': 'gzip', 'Want-Repr-Digest': 'sha-256=1' });
      expect([repr.headers['content-encoding'], repr.headers['repr-digest']]).to.deep.equal([
        undefined,
        digestOf(repr.bytes),
      ]);
    }
  });

  it('codes SPARQL results of every form, and the type index and search (rule 7.7)', async () => {
    await s.stored('text/turtle', turtle(3000));
    const queries = [
      'SELECT * { ?s ?p ?o } LIMIT 50',
      'SELECT * { ?s ?p ?o } LIMIT 2500',
      'CONSTRUCT { ?s ?p ?o } { ?s ?p ?o } LIMIT 2500',
    ];
    for (const coding of ['gzip', 'br'] as const)
      for (const query of queries)
        for (const Accept of query.startsWith('C')
          ? ['text/turtle']
          : ['application/sparql-results+json', 'text/csv']) {
          const url = `${s.root}.lws/sparql?query=${encodeURIComponent(query)}`;
          const answer = await s.get(url, { Accept, 'Accept-Encoding': coding });
          expect(answer.headers['content-encoding'], query).to.equal(coding);
          expect(answer.headers['vary']).to.equal('Accept, Authorization, Accept-Encoding');
          expect(decoders[coding](answer.bytes).toString()).to.equal((await s.get(url, { Accept })).text);
        }
    const types = await s.get(`${s.root}.lws/type-search`, { 'Accept-Encoding': 'gzip' });
    expect(JSON.parse(gunzipSync(types.bytes).toString()).items).to.have.length.above(5);
    expect(
      (await s.get(`${s.root}.lws/sparql?query=ASK{}`, { 'Accept-Encoding': 'gzip' })).headers['content-encoding'],
    ).to.equal(undefined);
  });
});
