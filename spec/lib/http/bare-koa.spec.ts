/** koa without its own responses: errors that middleware does not handle are only reported to the server. */
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { expect } from 'chai';
import { BareKoa } from '../../../lib/http/koa.js';

describe('http/bare-koa', () => {
  const faults: unknown[] = [];
  const koa = new BareKoa((error) => faults.push(error));
  koa.use((ctx) => {
    if (ctx.path === '/fault') throw new Error('an error of the middleware');
    // koa leaves this listener on a response while it waits for the end.
    ctx.res.end(String('__onFinished' in ctx.res));
  });
  let server: Server;
  let base: string;
  before(async () => {
    server = createServer(koa.callback());
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    base = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  });
  after(() => server.close());

  it('closes the connection of a request if middleware throws, and prints nothing', async () => {
    const printed: unknown[] = [];
    const { error } = console;
    console.error = (line) => printed.push(line);
    const outcome = await fetch(`${base}/fault`).then(
      () => 'answered',
      () => 'broken off',
    );
    console.error = error;
    expect([outcome, faults.map(String), printed]).to.deep.equal([
      'broken off',
      ['Error: an error of the middleware'],
      [],
    ]);
  });

  it('leaves the response to the middleware', async () => {
    const answer = await fetch(`${base}/`);
    expect(await answer.text()).to.equal('false');
    expect([answer.status, answer.headers.get('content-type')]).to.deep.equal([200, null]);
  });
});
