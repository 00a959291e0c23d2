/** Compressed responses that are cut off, or that clients request and do not read. */

import { once } from 'node:events';
import { get, type IncomingMessage } from 'node:http';
import { gunzipSync } from 'node:zlib';
import { expect } from 'chai';
import { by, startOwned } from '../support/attack.js';
import { request } from '../support/http.js';
import { ed25519Identity } from '../support/identity.js';
import type { ServerProcess } from '../support/process.js';
import { until } from '../support/until.js';

const owner = ed25519Identity();

describe('Compressed responses', function () {
  this.timeout(120_000);
  let server: ServerProcess;
  before(async () => {
    server = await startOwned(owner, { LWS_SPARQL_ENDPOINT_MAX_RESULTS: '200000' });
    const put = async (name: string, type: string, body: string): Promise<void> => {
      const headers = { ...by(server, owner), 'Content-Type': type };
      expect((await request(server.root + name, { method: 'PUT', headers, body })).status).to.equal(201);
    };
    await put('graph', 'text/turtle', Array.from({ length: 2000 }, (_, at) => `<#s${at}> <#p> ${at} .`).join('\n'));
    // Hardly compressible: a client that does not read stops the stream.
    await put(
      'large',
      'text/plain',
      Buffer.from(Array.from({ length: 4 << 20 }, () => Math.random() * 256)).toString('hex'),
    );
  });
  after(() => server?.kill());

  const asked = { 'Accept-Encoding': 'gzip' };
  const begin = async (path: string): Promise<IncomingMessage> => {
    const sent = get(server.root + path, { headers: asked, agent: false });
    const [answer] = (await once(sent, 'response')) as [IncomingMessage];
    // Of connections that the test closes.
    sent.on('error', () => {});
    return answer;
  };
  const query = (text: string): string => `.lws/sparql?query=${encodeURIComponent(text)}`;

  it('do not look complete if the result exceeds a limit (rule 14.6)', async () => {
    const answer = await begin(query('SELECT ?a ?b { ?a ?p ?x . ?b ?q ?y }'));
    expect([answer.statusCode, answer.headers['content-encoding']]).to.deep.equal([200, 'gzip']);
    const chunks: Buffer[] = [];
    const end = await new Promise((resolve) => {
      answer.on('data', (chunk: Buffer) => chunks.push(chunk)).on('end', () => resolve('complete'));
      answer.once('error', (error: NodeJS.ErrnoException) => resolve(error.code));
    });
    expect(end).to.equal('ECONNRESET');
    expect(chunks.length).to.be.above(0);
    expect(() => gunzipSync(Buffer.concat(chunks))).to.throw('unexpected end of file');
  });

  it('that are not read are limited in number: further ones are uncoded, until a client leaves', async () => {
    const unread = await Promise.all(Array.from({ length: 70 }, () => begin('large')));
    const codings = unread.map(({ headers }) => headers['content-encoding']);
    expect(codings.filter((coding) => coding === 'gzip')).to.have.length(64);
    const plain = unread[codings.indexOf(undefined)]!;
    expect(plain.headers).to.include({ 'content-length': String(8 << 20), vary: 'Accept-Encoding' });
    for (const answer of unread) answer.destroy();
    await until(async () => {
      const answer = await begin('large');
      answer.destroy();
      return answer.headers['content-encoding'] === 'gzip';
    });
  });

  it('end their queries if the client disconnects (rule 14.7)', async () => {
    for (let at = 0; at < 3; at++) (await begin(query('SELECT ?a ?b { ?a ?p ?x . ?b ?q ?y }'))).destroy();
    const { status, headers } = await request(server.root + query('SELECT * { ?s ?p ?o } LIMIT 100'), {
      headers: asked,
    });
    expect([status, headers['content-encoding']]).to.deep.equal([200, 'gzip']);
  });
});
