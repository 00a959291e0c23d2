/** Rebuild of the text index of a server that is serving requests, and is killed (rule 13.13). */

import { rmSync } from 'node:fs';
import { expect } from 'chai';
import { runProcess, type ServerProcess, startProcess } from '../support/process.js';
import { until } from '../support/until.js';

const [on, off] = ['true', 'false'].map((LWS_TEXT_SEARCH_ENABLED) => ({ LWS_TEXT_SEARCH_ENABLED }));
const turtle = { 'Content-Type': 'text/turtle' };
const words = (name: string): string => {
  const texts = Array.from({ length: 1_000 }, (_, at) => `<#${at}> <urn:p> "${name} lorem ipsum dolor w${at}"@en .`);
  return texts.join('\n');
};

describe('The rebuild of the text index', function () {
  this.timeout(240_000);
  let server: ServerProcess;
  before(async () => {
    server = await startProcess({ environment: off! });
    await fetch(`${server.root}c/`, { method: 'PUT' });
    for (let i = 0; i < 120; i++) await put(`c/${100 + i}`, `first f${i}`);
    expect(await server.stop()).to.equal(0);
  });
  after(async () => {
    await server.kill();
    rmSync(server.dataDir, { recursive: true, force: true });
  });

  const put = async (path: string, name: string, more: Readonly<Record<string, string>> = {}): Promise<void> => {
    const { status } = await fetch(server.root + path, {
      method: 'PUT',
      headers: { ...turtle, ...more },
      body: words(name),
    });
    expect(status).to.be.within(200, 204);
  };
  const again = async (): Promise<void> => {
    server = await startProcess({ ...server, environment: on! });
  };
  const search = (q: string): Promise<Response> =>
    fetch(`${server.root}.lws/text-search?${new URLSearchParams({ q })}`);
  async function found(q: string): Promise<readonly string[]> {
    let items: readonly { readonly id: string }[] = [];
    await until(async () => {
      const response = await search(q);
      ({ items } = (await response.json()) as { readonly items: typeof items });
      if (response.status !== 200) expect(response.status).to.equal(503);
      return response.status === 200;
    });
    return items.map(({ id }) => id.slice(server.root.length));
  }
  async function expectUnavailable(): Promise<void> {
    const query = 'PREFIX text: <http://jena.apache.org/text#> SELECT * { ?s text:query "lorem" }';
    for (const path of [
      'text-search?q=lorem',
      'labels?iri=urn:x',
      'labels?prefix=lo',
      `sparql?${new URLSearchParams({ query })}`,
    ]) {
      const response = await fetch(`${server.root}.lws/${path}`);
      const text = await response.text();
      expect([path, response.status], text).to.deep.equal([path, 503]);
      expect(Number(response.headers.get('retry-after'))).to.be.within(1, 60);
      expect(JSON.parse(text)).to.include({ status: 503 });
    }
  }

  it('serves other requests, and text searches with 503 and Retry-After (rule 13.13)', async () => {
    await again();
    await expectUnavailable();
    await put('c/219', 'second changed', { 'If-Match': '*' });
    await put('c/new', 'third new');
    expect((await fetch(`${server.root}c/100`, { method: 'DELETE', headers: { 'If-Match': '*' } })).status).to.equal(
      204,
    );
    expect((await search('')).status).to.equal(400);
    await server.kill();
  });

  it('begins again after it was killed, with all changes (rule 13.13)', async () => {
    await again();
    await expectUnavailable();
    await put('c/218', 'fourth again', { 'If-Match': '*' });
    expect(await found('second lorem')).to.deep.equal(['c/219']);
    expect([await found('third'), await found('fourth'), await found('f5')]).to.deep.equal([
      ['c/new'],
      ['c/218'],
      ['c/105'],
    ]);
    for (const q of ['f0', 'f119', 'f118']) expect(await found(q), q).to.deep.equal([]);
    // The process of this spec may read the output after the answers.
    await until(() => (server.output.stderr + server.output.stdout).includes('The text index is complete.'));
  });

  it('is not repeated when the index is complete', async () => {
    expect(await server.stop()).to.equal(0);
    const check = await runProcess(['check'], { ...server, environment: on! });
    expect([check.code, check.stdout]).to.deep.equal([0, check.stdout.replace(/:.*/s, ': all in order.\n')]);
    await again();
    expect((await search('second')).status).to.equal(200);
    expect(server.output.stdout).to.not.include('text index');
    expect(await server.stop()).to.equal(0);
  });
});
