/** After a kill during a write or deletion of a large graph, all of it or nothing is present, and leftovers are deleted. */
import { rmSync } from 'node:fs';
import { expect } from 'chai';
import { runProcess, type ServerProcess, startProcess } from '../support/process.js';

const triples = 40_000;
const line = (number: number): string =>
  `<http://data.example/s${number}> <http://data.example/p> "text ${number}" .\n`;
const body = Array.from({ length: triples }, (_, i) => line(i)).join('');
const headers = { 'Content-Type': 'text/turtle' };
/** Its postings are written and removed with the slices of a graph. `check` compares them. */
const environment = { LWS_TEXT_SEARCH_ENABLED: 'true' };

describe('kill -9 during a write or deletion of a large graph', function () {
  this.timeout(60_000);
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
});
