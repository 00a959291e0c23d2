/** Kills while large graphs with versions are changed and removed: no version has a gap (rule 27.1). */
import { rmSync } from 'node:fs';
import { expect } from 'chai';
import { runProcess, type ServerProcess, startProcess } from '../support/process.js';
import { below } from './contents.js';

const rounds = Number(process.env['QUADPOD_CRASH_ROUNDS'] ?? 1);
const environment = { LWS_VERSIONS_ALL: 'true' };
const graphOf = (count: number, from: number): string =>
  Array.from({ length: count }, (_, at) => `<#s> <http://p.example/p> ${from + at} .`).join('\n');

describe('kill -9 amid versions of large graphs', function () {
  this.timeout(120_000);
  let server: ServerProcess;
  before(async () => {
    server = await startProcess({ environment });
  });
  after(async () => {
    await server.kill();
    rmSync(server.dataDir, { recursive: true, force: true });
  });
  const read = async (url: string): Promise<string> => {
    const answer = await fetch(url, { headers: { Accept: 'application/n-triples' } });
    const text = await answer.text();
    expect(answer.status, text.slice(0, 300)).to.equal(200);
    return text.trim().split('\n').sort().join('\n');
  };
  const send = async (method: string, iri: string, type: string, body: string): Promise<void> => {
    const condition: Record<string, string> = method === 'PUT' && type === 'text/turtle' ? {} : { 'If-Match': '*' };
    const { status } = await fetch(iri, { method, headers: { 'Content-Type': type, ...condition }, body });
    expect(status, method).to.be.oneOf([201, 204]);
  };

  for (let round = 1; round <= rounds; round++)
    it(`keeps the states of graphs whose removal was killed, round ${round} (rule 27.1)`, async () => {
      const update = `DELETE DATA { ${graphOf(100, 5)} } ; INSERT DATA { ${graphOf(200, 70_000)} }`;
      const iris = [1, 2].map((at) => `${server.root}g${round}-${at}`);
      const states: string[] = [];
      for (const iri of iris) {
        await send('PUT', iri, 'text/turtle', graphOf(22_000, 0));
        const first = await read(iri);
        await send('PATCH', iri, 'application/sparql-update', update);
        const second = await read(iri);
        // Its links are a state too.
        await send('PATCH', `${iri}.meta`, 'application/merge-patch+json', '{"license":[{"href":"urn:l:1"}]}');
        states.push(second, second, first);
      }
      // Drops the graphs, the second one while the first is being removed.
      for (const iri of iris) {
        await send('PUT', iri, 'text/plain', 'text');
        for (let requests = below(20); requests > 0; requests--) await fetch(iri, { method: 'HEAD' });
        await server.kill();
        server = await startProcess({ ...server, environment });
      }
      const urls: string[] = [];
      for (const iri of iris) {
        const { versions } = (await (await fetch(`${iri}?versions`)).json()) as { versions: { url: string }[] };
        urls.push(...versions.slice(1).map(({ url }) => url));
        const linksets = await Promise.all(
          versions.map(async ({ url }) => (await fetch(url.replace('?', '.meta?'))).text()),
        );
        expect(linksets.map((text) => text.includes('urn:l:1'))).to.deep.equal([true, true, false, false]);
      }
      // The rest is being removed.
      for (let at = 0; at < 2; at++) expect(await Promise.all(urls.map(read))).to.deep.equal(states);
      expect(await server.stop(), 'exit code').to.equal(0);
      const check = await runProcess(['check', '--content'], server);
      expect(check.stdout).to.match(/: all in order\.\n$/);
      server = await startProcess({ ...server, environment });
      expect(await Promise.all(urls.map(read))).to.deep.equal(states);
    });
});
