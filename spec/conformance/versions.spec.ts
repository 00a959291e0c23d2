/** Versions of data resources (rules 27.1 to 27.7). */
import { expect } from 'chai';
import { describeStorage, type Sender, type StorageUnderTest } from '../support/conformance.js';
import { expectProblem } from '../support/expectations.js';
import type { Answer } from '../support/http.js';

interface Listed {
  readonly id: string;
  readonly url: string;
  readonly from: string;
  readonly until?: string;
  readonly isPresent?: true;
  readonly actor?: string;
}

const settings = { 'versions.all': 'true', 'cors.allowed-origins': '*', signposting: 'true' };

async function replaced(s: StorageUnderTest, iri: string, type: string, body: string | Uint8Array): Promise<void> {
  const { headers } = await s.head(iri);
  const answer = await s.put(iri, type, body, { 'If-Match': headers['etag']! });
  expect(answer.status, answer.text).to.equal(204);
}

async function listed(s: StorageUnderTest, iri: string, who?: Sender): Promise<readonly Listed[]> {
  const answer = await s.send('GET', `${iri}?versions`, {}, undefined, who);
  expect(answer.status, answer.text).to.equal(200);
  return (JSON.parse(answer.text) as { versions: Listed[] }).versions;
}

const dateOf = (from: string): string => new Date(from).toUTCString();
const turtle = (...values: readonly number[]): string =>
  values.map((value) => `<#a> <http://p.example/p> ${value} .`).join('\n');
const lines = (answer: Answer): string[] => answer.text.trim().split('\n').sort();

describeStorage(
  'Versions',
  (s) => {
    it('returns the present state of a large graph by date and by version (rule 27.3)', async () => {
      const large = Array.from({ length: 20_100 }, (_, at) => `<#s> <http://p.example/p> ${at} .`).join('\n');
      const { iri } = await s.stored('text/turtle', large);
      const future = { 'Accept-Datetime': 'Fri, 01 Jan 2100 00:00:00 GMT', Accept: 'application/n-triples' };
      const [{ url }] = (await listed(s, iri)) as [Listed];
      for (const answer of [await s.get(iri, future), await s.get(url, { Accept: 'application/n-triples' })]) {
        expect(answer.status, answer.text.slice(0, 300)).to.equal(200);
        expect(lines(answer).length).to.equal(20_100);
        expect(answer.headers['memento-datetime']).to.be.a('string');
      }
    });

    it('runs a stored query whose variable is called version, also with a date (rule 14.12)', async () => {
      const query = 'SELECT ?x { VALUES ?x { 1 2 3 } FILTER(STR(?x) = STR(?version)) }';
      const { iri } = await s.stored('application/sparql-query', query);
      for (const headers of [{}, { 'Accept-Datetime': 'Fri, 01 Jan 2100 00:00:00 GMT' }]) {
        const answer = await s.get(`${iri}?run&version=2`, { Accept: 'text/csv', ...headers });
        expect(answer.status, answer.text).to.equal(200);
        expect(answer.text).to.equal('x\r\n2\r\n');
      }
    });

    it('returns every state of a graph, a JSON document and a file (rule 27.2)', async () => {
      const states = [turtle(1, 2, 3, 4, 5), turtle(1, 2, 3, 4, 6), turtle(1, 2, 3, 4), turtle(7)];
      const { iri } = await s.stored('text/turtle', states[0]);
      for (const state of states.slice(1)) await replaced(s, iri, 'text/turtle', state);
      const versions = await listed(s, iri);
      expect(versions.map(({ isPresent }) => isPresent)).to.deep.equal([true, undefined, undefined, undefined]);
      const { iri: other } = await s.stored('application/n-triples', '');
      for (const [at, { url, from, id }] of versions.entries()) {
        await replaced(s, other, 'text/turtle', states[3 - at]!.replaceAll('#a', `${iri}#a`));
        const expected = await s.get(other, { Accept: 'application/n-triples' });
        const answer = await s.get(url, { Accept: 'application/n-triples' });
        expect(answer.status, answer.text).to.equal(200);
        expect(lines(answer)).to.deep.equal(lines(expected));
        expect(answer.headers['memento-datetime']).to.equal(dateOf(from));
        expect(answer.headers['link']).to.include(`<${iri}?version=${id}>; rel="cite-as"`);
        expect(answer.headers['link']).to.include(`<${iri}>; rel="original timegate"`);
        const again = await s.get(url, { Accept: 'application/n-triples', 'If-None-Match': answer.headers['etag']! });
        expect(again.status).to.equal(304);
        expect(again.headers['vary']).to.include('Accept-Datetime');
      }
      for (const [type, first, second] of [
        ['application/json', '{"a":1}', '[2]'],
        ['application/octet-stream', 'first', 'second'],
      ] as const) {
        const { iri: file } = await s.stored(type, first);
        await replaced(s, file, type, second);
        const [present, old] = await listed(s, file);
        expect((await s.get(present!.url)).text).to.equal(second);
        const answer = await s.get(old!.url);
        expect([answer.text, answer.headers['content-type']]).to.deep.equal([first, type]);
        expect((await s.get(old!.url, { Range: 'bytes=1-2' })).text).to.equal(first.slice(1, 3));
      }
    });

    it('compares the conditions of a read with the version (rule 27.2)', async () => {
      const { iri, etag } = await s.stored('text/turtle', turtle(1, 2));
      await replaced(s, iri, 'text/turtle', turtle(1, 3));
      const present = await s.tag(iri);
      const [, old] = await listed(s, iri);
      const dated = { 'Accept-Datetime': 'Thu, 01 Jan 1970 00:00:00 GMT' };
      for (const [url, fields] of [[old!.url, {}] as const, [iri, dated] as const]) {
        const get = (name: string, value: string): Promise<Answer> => s.get(url, { ...fields, [name]: value });
        expect((await get('If-Match', etag)).status).to.equal(200);
        expect((await get('If-Match', '*')).status).to.equal(200);
        expectProblem(await get('If-Match', present), 412);
        expectProblem(await get('If-Unmodified-Since', 'Thu, 01 Jan 1970 00:00:00 GMT'), 412);
        const same = await get('If-None-Match', etag);
        expect([same.status, same.headers['etag']]).to.deep.equal([304, etag]);
        expect((await get('If-None-Match', present)).status).to.equal(200);
      }
    });

    it('chooses a version by Accept-Datetime (rule 27.3)', async () => {
      const { iri } = await s.stored('text/plain', 'first');
      await new Promise((resolve) => setTimeout(resolve, 1100));
      await replaced(s, iri, 'text/plain', 'second');
      const [present, old] = await listed(s, iri);
      const at = (date: string): Promise<Answer> => s.get(iri, { 'Accept-Datetime': date });
      const early = await at('Thu, 01 Jan 1970 00:00:00 GMT');
      expect([early.status, early.text]).to.deep.equal([200, 'first']);
      expect(early.headers['content-location']).to.equal(old!.url);
      expect(early.headers['memento-datetime']).to.equal(dateOf(old!.from));
      expect((await at(dateOf(old!.from))).text).to.equal('first');
      expect((await at(dateOf(present!.from))).text).to.equal('second');
      expect((await at('Fri, 01 Jan 2100 00:00:00 GMT')).headers['content-location']).to.equal(present!.url);
      expectProblem(await at('yesterday'), 400);
      // A write concerns the present state.
      const answer = await s.put(iri, 'text/plain', 'third', { 'Accept-Datetime': dateOf(old!.from), 'If-Match': '*' });
      expect(answer.status).to.equal(204);
      const container = await s.container();
      expect((await s.get(container, { 'Accept-Datetime': 'yesterday' })).status).to.equal(200);
    });

    it('lists versions as a time map (rule 27.4)', async () => {
      const { iri } = await s.stored('text/plain', '1');
      await replaced(s, iri, 'text/plain', '2');
      const answer = await s.get(`${iri}?versions`, { Accept: 'application/link-format' });
      expect(answer.headers['content-type']).to.equal('application/link-format');
      const [present, old] = await listed(s, iri);
      expect(answer.text.trim().split(',\n')).to.deep.equal([
        `<${iri}>; rel="original timegate"`,
        `<${iri}?versions>; rel="self"; type="application/link-format"`,
        `<${old!.url}>; rel="memento"; datetime="${dateOf(old!.from)}"`,
        `<${present!.url}>; rel="memento"; datetime="${dateOf(present!.from)}"`,
      ]);
      const { headers } = await s.get(iri);
      expect(headers['link']).to.include(`<${iri}?versions>; rel="timemap"; type="application/link-format"`);
      expect(headers['vary']).to.include('Accept-Datetime');
    });

    it('names the fields of dates in responses to other origins (rule 27.3)', async () => {
      const { iri } = await s.stored('text/plain', '1');
      const Origin = 'https://app.example';
      const preflight = { Origin, 'Access-Control-Request-Method': 'GET' };
      const { headers } = await s.send('OPTIONS', iri, preflight, undefined, 'anonymous');
      const answer = await s.get(iri, { Origin });
      if (answer.headers['access-control-allow-origin'] === undefined) throw new Error('The origin is not allowed.');
      expect(headers['access-control-allow-headers']).to.match(/, Accept-Datetime$/);
      expect(answer.headers['access-control-expose-headers']).to.match(/, Content-Location, Memento-Datetime$/);
      expect(answer.headers['vary']).to.include('Accept-Datetime');
    });

    it('keeps the links and types of each state, and serves them as linksets (rules 27.1, 27.2, 27.4)', async () => {
      const merge = { 'If-Match': '*' };
      for (const [type, body, next] of [
        ['text/turtle', turtle(1), turtle(2)],
        ['application/json', '1', '2'],
        ['application/octet-stream', 'first', 'second'],
      ] as const) {
        const { iri } = await s.stored(type, body);
        const meta = `${iri}.meta`;
        const seen: { readonly content: Answer; readonly linkset: Answer }[] = [];
        const look = async (): Promise<void> =>
          void seen.unshift({ content: await s.get(iri), linkset: await s.get(meta) });
        const patched = async (change: object): Promise<void> => {
          const { status, text } = await s.patch(meta, 'application/merge-patch+json', JSON.stringify(change), merge);
          expect(status, text).to.equal(204);
        };
        await look();
        await patched({ license: [{ href: 'urn:l:1' }], type: [{ href: 'urn:t:1' }] });
        await look();
        // Without an effect.
        await patched({ license: [{ href: 'urn:l:1' }] });
        await replaced(s, iri, type, next);
        await look();
        const fields = { Prefer: 'set-linkset', 'If-Match': '*', Link: '<urn:l:2>; rel="license"' };
        expect((await s.put(iri, type, body, fields)).status).to.equal(204);
        await look();
        const document = JSON.stringify({ linkset: [{ anchor: iri, type: [{ href: 'urn:t:2' }] }] });
        expect((await s.put(meta, 'application/linkset+json', document, merge)).status).to.equal(204);
        await look();
        const versions = await listed(s, iri);
        expect(versions.length).to.equal(seen.length);
        const linksets = await listed(s, meta);
        expect(linksets.map(({ url }) => url)).to.deep.equal(versions.map(({ id }) => `${meta}?version=${id}`));
        const userLinks = ({ headers }: Answer): string[] =>
          headers['link']!.split(', ').filter((link) => link.startsWith('<urn:'));
        for (const [at, { url, from, id }] of versions.entries()) {
          const { content, linkset } = seen[at]!;
          const answer = await s.get(url);
          expect([answer.status, answer.text]).to.deep.equal([200, content.text]);
          expect(userLinks(answer)).to.deep.equal(userLinks(content));
          expect(answer.headers['link']).to.include(`<${meta}?version=${id}>; rel="linkset"`);
          const then = await s.get(`${meta}?version=${id}`);
          for (const name of ['etag', 'last-modified', 'content-type'])
            expect(then.headers[name], name).to.equal(linkset.headers[name]);
          expect([then.status, then.text]).to.deep.equal([200, linkset.text]);
          expect(then.headers['memento-datetime']).to.equal(dateOf(from));
          expect(then.headers['link']).to.include(`<${meta}>; rel="original timegate"`);
          expect([then.headers['allow'], then.headers['accept-patch']]).to.deep.equal(['GET, HEAD', undefined]);
          const same = await s.get(`${meta}?version=${id}`, { 'If-None-Match': then.headers['etag']! });
          expect(same.status).to.equal(304);
        }
        const early = await s.get(meta, { 'Accept-Datetime': 'Thu, 01 Jan 1970 00:00:00 GMT' });
        expect(early.headers['content-location']).to.equal(linksets.at(-1)!.url);
        expect(early.text).to.equal(seen.at(-1)!.linkset.text);
        const late = await s.get(meta, {
          'Accept-Datetime': 'Fri, 01 Jan 2100 00:00:00 GMT',
          Prefer: 'include="type"',
        });
        expect(late.headers['content-location']).to.equal(linksets[0]!.url);
        expect(late.headers['preference-applied']).to.equal('include="type"');
        // Writes the links of a version again.
        const old = await s.get(linksets[2]!.url);
        expect((await s.put(meta, 'application/linkset+json', old.text, merge)).status).to.equal(204);
        expect((await s.get(meta)).text).to.equal(old.text);
        for (const method of ['PUT', 'PATCH', 'DELETE'])
          for (const url of [linksets[1]!.url, `${meta}?versions`])
            expectProblem(await s.send(method, url, { 'Content-Type': 'application/linkset+json' }, document), 405);
        expectProblem(await s.get(`${meta}?version=17`), 404);
        expectProblem(await s.get(meta, { 'Accept-Datetime': 'yesterday' }), 400);
        expect((await listed(s, iri)).length).to.equal(seen.length + 1);
      }
      const container = await s.container();
      expect((await s.get(`${container}.meta?version=17`)).status).to.equal(200);
    });

    it('rejects writes to versions (rule 27.5)', async () => {
      const { iri } = await s.stored('text/plain', '1');
      await replaced(s, iri, 'text/plain', '2');
      const old = (await listed(s, iri))[1]!;
      for (const method of ['PUT', 'POST', 'PATCH', 'MOVE', 'COPY', 'QUERY'])
        for (const url of [old.url, `${iri}?versions`]) {
          const answer = await s.send(method, url, { 'Content-Type': 'text/plain' }, 'x');
          expectProblem(answer, 405);
          expect(answer.headers['allow']).to.equal('GET, HEAD');
        }
      expectProblem(await s.get(`${iri}?version=17`), 404);
      expectProblem(await s.get(`${iri}?version=x`), 404);
    });
  },
  { settings },
);
