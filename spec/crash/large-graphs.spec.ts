/** After a kill during a write, move or deletion of a large graph, all of it or nothing is present, and leftovers are deleted. */
import { rmSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';
import { expect } from 'chai';
import { runProcess, type ServerProcess, startProcess } from '../support/process.js';
import { isThorough } from '../support/speed.js';

const triples = 40_000;
const line = (number: number): string =>
  `<http://data.example/s${number}> <http://data.example/p> "text ${number}" .\n`;
const body = Array.from({ length: triples }, (_, i) => line(i)).join('');
const headers = { 'Content-Type': 'text/turtle' };
/** Its postings are written and removed with the slices of a graph. `check` compares them. */
const environment = { LWS_TEXT_SEARCH_ENABLED: 'true' };

describe('kill -9 during a write, move or deletion of a large graph', function () {
  this.timeout(120_000);
  let server: ServerProcess;
  before(async () => {
    server = await startProcess({ environment });
  });
  after(async () => {
    await server.kill();
    rmSync(server.dataDir, { recursive: true, force: true });
  });
  const start = async (): Promise<void> => {
    server = await startProcess({ ...server, environment });
  };
  const countOf = async (): Promise<number> => {
    const answer = await fetch(`${server.root}.lws/sparql`, {
      method: 'POST',
      headers: { 'Content-Type': 'application/sparql-query', Accept: 'application/sparql-results+json' },
      body: 'SELECT (COUNT(*) AS ?count) { GRAPH ?g { ?s <http://data.example/p> ?o } }',
    });
    const { results } = (await answer.json()) as { results: { bindings: { count: { value: string } }[] } };
    return Number(results.bindings[0]!.count.value);
  };
  const expectInOrder = async (): Promise<void> => {
    expect(await server.stop()).to.equal(0);
    const check = await runProcess(['check'], server);
    expect(check.stdout).to.match(/: all in order\.\n$/);
  };

  it('keeps nothing of an unacknowledged PUT, and queries never see a part', async () => {
    const large = `${server.root}large`;
    let isDone = false;
    const put = fetch(large, { method: 'PUT', headers, body }).then(
      ({ status }) => status,
      () => 'broken',
    );
    void put.then(() => {
      isDone = true;
    });
    // The first query starts its thread, and then the graph is being written.
    const seen = [await countOf()];
    if (!isDone) seen.push(await countOf());
    const wasDone = isDone;
    await server.kill();
    const status = await put;
    await start();
    const answer = await fetch(large);
    const text = await answer.text();
    if (wasDone) expect(status).to.equal(201);
    if (status === 201) expect(answer.status).to.equal(200);
    if (answer.status === 200) expect(text.length).to.equal(body.length);
    else expect(answer.status).to.equal(404);
    seen.push(await countOf());
    for (const count of seen) expect([0, triples]).to.include(count);
    expect(seen.at(-1)).to.equal(answer.status === 200 ? triples : 0);
    await expectInOrder();
  });

  it('keeps nothing of a graph after an acknowledged DELETE, and its name can be reused immediately', async () => {
    await start();
    const large = `${server.root}deleted`;
    expect((await fetch(large, { method: 'PUT', headers, body })).status).to.equal(201);
    expect(await countOf()).to.be.at.least(triples);
    await fetch(`${server.root}large`, { method: 'DELETE' });
    expect((await fetch(large, { method: 'DELETE' })).status).to.equal(204);
    await server.kill();
    await start();
    expect((await fetch(large)).status).to.equal(404);
    expect(await countOf()).to.equal(0);
    expect((await fetch(large, { method: 'PUT', headers, body: line(0) })).status).to.equal(201);
    expect(await countOf()).to.equal(1);
    const found = (await (await fetch(`${server.root}.lws/text-search?q=text`)).json()) as { totalItems: number };
    expect(found.totalItems).to.equal(1);
    await expectInOrder();
  });

  it('keeps everything at one name after a MOVE, acknowledged or not', async () => {
    await start();
    expect((await fetch(`${server.root}deleted`, { method: 'DELETE' })).status).to.equal(204);
    let names = ['from', 'to'];
    expect((await fetch(`${server.root}from`, { method: 'PUT', headers, body })).status).to.equal(201);
    for (const part of isThorough ? [0.2, 0.6, 1] : [0.5]) {
      const [from, to] = names.map((name) => server.root + name) as [string, string];
      const began = performance.now();
      const unharmed = await fetch(from, { method: 'MOVE', headers: { Destination: `${to}-first` } });
      expect(unharmed.status).to.equal(201);
      const duration = performance.now() - began;
      const moving = fetch(`${to}-first`, { method: 'MOVE', headers: { Destination: to } }).then(
        ({ status }) => status,
        () => 'broken',
      );
      await sleep(part * duration);
      await server.kill();
      const status = await moving;
      await start();
      const found = await Promise.all([to, `${to}-first`].map(async (iri) => (await fetch(iri)).status));
      expect(found).to.deep.equal(found[0] === 200 ? [200, 404] : [404, 200]);
      if (status === 201) expect(found[0]).to.equal(200);
      expect(await countOf()).to.equal(triples);
      names = [found[0] === 200 ? names[1]! : `${names[1]}-first`, `next-${part}`];
    }
    await expectInOrder();
  });
});
