/** Rules 21.4 and 21.5: unfinished requests of unauthorized callers take neither open storages nor slots from owners. */

import { once } from 'node:events';
import { connect as connectHttp2 } from 'node:http2';
import { connect, type Socket } from 'node:net';
import { expect } from 'chai';
import { type Pod, type SpecDeployment, startDeployment } from '../support/deployments.js';
import { head } from '../support/http.js';
import { tlsSettings } from '../support/http2.js';
import { localhostCertificate } from '../support/localhost-certificate.js';
import { until } from '../support/until.js';

const form = { 'Content-Type': 'application/x-www-form-urlencoded', 'Content-Length': '1000' };
const query = { 'Content-Type': 'application/sparql-query', 'Content-Length': '1000' };

describe('Unfinished requests of unauthorized callers', function () {
  this.timeout(60_000);
  let deployment: SpecDeployment;
  const sockets: Socket[] = [];
  afterEach(async () => {
    for (const socket of sockets.splice(0)) socket.destroy();
    await deployment?.stop();
  });

  /** Sends the head of a request and a part of its body. @returns the response received so far */
  const begin = async (
    { root }: Pod,
    path: string,
    fields: Record<string, string>,
    from = '127.0.0.1',
  ): Promise<() => string> => {
    const socket = connect({ port: deployment.port, host: '127.0.0.1', localAddress: from });
    sockets.push(socket);
    let received = '';
    socket.on('data', (chunk) => {
      received += chunk.toString();
    });
    socket.on('error', () => {});
    await once(socket, 'connect');
    socket.write(`${head(root + path, 'POST', fields)}a`);
    return () => received;
  };
  const statuses = async (pod: Pod, count: number): Promise<number[]> => {
    const all: number[] = [];
    for (let each = 0; each < count; each++) all.push((await pod.ask(each % 2 ? 'GET' : 'HEAD', '')).status);
    return [...new Set(all)];
  };
  const underWay = async (pod: Pod): Promise<void> => {
    // The requests on other connections arrived before this one.
    await pod.ask('GET', '', {}, undefined, null);
  };

  it('do not keep storages open that other callers need (rule 21.4)', async () => {
    deployment = await startDeployment('path', { 'storages.max-open': '2', 'public-read': 'true' });
    const [one, two, three] = [await deployment.add('one'), await deployment.add('two'), await deployment.add('three')];
    const slow = [await begin(one, '.lws/token', form), await begin(two, '.lws/sparql', query)];
    await underWay(deployment.home);
    expect(await statuses(three, 10)).to.deep.equal([200]);
    expect(await statuses(one, 10)).to.deep.equal([200]);
    expect(await statuses(two, 10)).to.deep.equal([200]);
    expect(slow.map((answer) => answer().split('\r\n', 1)[0])).to.deep.equal(
      slow.map(() => 'HTTP/1.1 503 Service Unavailable'),
    );
  });

  it('lose their slots to other callers, from any address (rule 21.5)', async () => {
    deployment = await startDeployment('path', { 'public-read': 'true' });
    const pod = await deployment.add('one');
    expect((await pod.ask('GET', '')).status).to.equal(200);
    for (let each = 0; each < 300; each++)
      await begin(pod, each % 2 ? '.lws/token' : '.lws/sparql', each % 2 ? form : query, `127.0.0.${2 + (each % 3)}`);
    await underWay(deployment.home);
    expect(await statuses(pod, 20)).to.deep.equal([200]);
    expect((await pod.put('x', '<a:b> <a:c> <a:d> .')).status).to.equal(201);
    expect((await pod.ask('GET', '', {}, undefined, null)).status).to.equal(200);
  });

  it('lose them over HTTP/2, too (rule 21.5)', async () => {
    deployment = await startDeployment('path', { ...tlsSettings, 'public-read': 'true' });
    const pod = await deployment.add('one');
    expect((await pod.ask('GET', '')).status).to.equal(200);
    const sessions = Array.from({ length: 4 }, () =>
      connectHttp2(new URL(pod.root).origin, { ca: localhostCertificate }),
    );
    const ended: number[] = [];
    try {
      for (const session of sessions)
        for (let each = 0; each < 80; each++) {
          const fields = { 'content-type': query['Content-Type'], 'content-length': 1000 };
          const path = `${new URL(pod.root).pathname}.lws/sparql`;
          const stream = session.request({ ':method': 'POST', ':path': path, ...fields }, { endStream: false });
          stream.on('response', ({ ':status': status = 0 }) => ended.push(status));
          stream.on('error', () => {});
          stream.write('a');
        }
      for (const session of sessions) await new Promise((done) => session.ping(() => done(undefined)));
      expect(await statuses(pod, 20)).to.deep.equal([200]);
      // Those of a crowd are answered one after the other (rule 21.11).
      await until(() => ended.length >= 4 * 80 - 128);
      // One address has 128 slots. The owner's requests need none of them.
      expect([new Set(ended).size, ended[0], ended.length]).to.deep.equal([1, 503, 4 * 80 - 128]);
    } finally {
      for (const session of sessions) session.destroy();
    }
  });
});
