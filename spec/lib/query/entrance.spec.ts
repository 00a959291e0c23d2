/** Every query, update and type search of a running server enters through Comunica's QueryEngine, and nothing else does. */
import { expect } from 'chai';
import { type ServerProcess, startProcess } from '../../support/process.js';

describe('Calls of the query engine', function () {
  this.timeout(60_000);
  let server: ServerProcess;
  before(async () => {
    const counter = new URL('../../support/count-queries.js', import.meta.url);
    server = await startProcess({
      nodeOptions: [`--import=${counter.href}`],
      environment: { LWS_SPARQL_ENDPOINT_UPDATE: 'true' },
    });
  });
  after(() => server.kill());

  /** Engine calls caused by a request. */
  const callsOf = async (path: string, init: RequestInit, status: number): Promise<string[]> => {
    const before = server.output.stderr.length;
    const answer = await fetch(server.root + path, init);
    expect(answer.status, await answer.text()).to.equal(status);
    // Output of a thread arrives with its response, at the latest one turn of the event loop later.
    await new Promise((resolve) => setTimeout(resolve, 50));
    const written = server.output.stderr.slice(before);
    return [...written.matchAll(/^QueryEngine\.(\w+) (\w+)$/gm)].map(([, method, type]) => `${method} ${type}`);
  };
  const turtle = { 'Content-Type': 'text/turtle' };
  const put = (path: string, body: string): Promise<string[]> =>
    callsOf(path, { method: 'PUT', headers: turtle, body }, 201);
  const patch = (path: string, body: string): Promise<string[]> =>
    callsOf(path, { method: 'PATCH', headers: { 'Content-Type': 'application/sparql-update' }, body }, 204);
  const ask = (query: string): Promise<string[]> => callsOf(`.lws/sparql?query=${encodeURIComponent(query)}`, {}, 200);

  it('makes none for reads and writes of resources', async () => {
    expect(await put('r', '<> a <#T> ; <#p> <#o> .')).to.deep.equal([]);
    expect(await callsOf('r', {}, 200)).to.deep.equal([]);
    expect(await callsOf('', {}, 200)).to.deep.equal([]);
  });

  it('makes one for each SPARQL query, in every form', async () => {
    expect(await ask('SELECT * { ?s ?p ?o }')).to.deep.equal(['queryBindings project']);
    expect(await ask('SELECT * { ?s ?p ?o FILTER(EXISTS { ?o ?q ?z } || ?o = 1) }')).to.deep.equal([
      'queryBindings project',
    ]);
    expect(await ask('ASK { ?s <p>* ?o }')).to.deep.equal(['queryBoolean ask']);
    expect(await ask('CONSTRUCT { ?o ?p ?s } { ?s ?p ?o }')).to.deep.equal(['queryQuads construct']);
    expect(await ask('DESCRIBE <r>')).to.deep.equal(['queryQuads describe']);
    const query = { method: 'QUERY', headers: { 'Content-Type': 'application/sparql-query' }, body: 'ASK {}' };
    expect(await callsOf('r', query, 200)).to.deep.equal(['queryBoolean ask']);
  });

  it('makes one for each update, with or without a WHERE', async () => {
    expect(await patch('r', 'INSERT DATA { <#a> <#b> 1 }')).to.deep.equal(['queryVoid deleteinsert']);
    expect(await patch('r', 'DELETE DATA { <#a> <#b> 1 } ; INSERT DATA { <#a> <#b> 2 }')).to.deep.equal([
      'queryVoid compositeupdate',
    ]);
    expect(await patch('r', 'DELETE { ?s <#b> ?o } INSERT { ?s <#c> ?o } WHERE { ?s <#b> ?o }')).to.deep.equal([
      'queryVoid deleteinsert',
    ]);
  });

  it('makes one for each operation of an update of named graphs', async () => {
    const graph = `<${server.root}r>`;
    const body = `INSERT { GRAPH ${graph} { ?s <#d> ?o } } WHERE { GRAPH ${graph} { ?s ?p ?o } } ; COPY ${graph} TO ${graph} ; CLEAR GRAPH ${graph}`;
    const headers = { 'Content-Type': 'application/sparql-update' };
    const calls = await callsOf('.lws/sparql', { method: 'POST', headers, body }, 200);
    expect(calls).to.deep.equal(['queryVoid deleteinsert', 'queryVoid copy', 'queryVoid clear']);
    expect(await put('s', '<> a <#T> .')).to.deep.equal([]);
  });

  it('makes one for each type search, and none for the type index', async () => {
    const type = encodeURIComponent(`${server.root}r#T`);
    expect(await callsOf(`.lws/type-search?type=${type}`, {}, 200)).to.deep.equal(['queryBindings distinct']);
    expect(await callsOf('.lws/type-search', {}, 200)).to.deep.equal(['queryBindings distinct']);
    expect(await callsOf('.lws/type-index', {}, 200)).to.deep.equal([]);
  });
});
