/** Rules 21.4 and 21.5: responses that no client reads take no slots from owners, and end. */

import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import { expect } from 'chai';
import { type Pod, type SpecDeployment, startDeployment } from '../support/deployments.js';
import { head, request } from '../support/http.js';
import { credential, ed25519Identity } from '../support/identity.js';
import { until } from '../support/until.js';

const grant = 'grant_type=urn:ietf:params:oauth:grant-type:token-exchange';
const form = { 'Content-Type': 'application/x-www-form-urlencoded' };

describe('Unread responses', function () {
  this.timeout(120_000);
  let deployment: SpecDeployment;
  let pod: Pod;
  const sockets = new Set<Socket>();
  afterEach(async () => {
    for (const socket of sockets) socket.destroy();
    sockets.clear();
    await deployment?.stop();
  });

  const start = async (settings: Record<string, string> = {}): Promise<void> => {
    deployment = await startDeployment('path', {
      'public-read': 'true',
      'streams.max-of-strangers': '500',
      ...settings,
    });
    pod = await deployment.add('one');
    const media = { 'Content-Type': 'application/octet-stream' };
    expect((await pod.ask('PUT', 'file', media, 'x'.repeat(4 << 20))).status).to.equal(201);
    const lines = Array.from({ length: 19_000 }, (_, at) => `<#s${at}> <#p> "${'x'.repeat(60)} ${at}" .`);
    expect((await pod.put('graph', lines.join('\n'))).status).to.equal(201);
  };
  /** Sends a GET and reads nothing. */
  const ask = async (path: string, from: string, fields: Record<string, string> = {}): Promise<void> => {
    const socket = connect({ port: deployment.port, host: '127.0.0.1', localAddress: from });
    socket.on('error', () => {});
    socket.pause();
    sockets.add(socket);
    socket.once('close', () => sockets.delete(socket));
    await once(socket, 'connect');
    socket.write(head(pod.root + path, 'GET', fields));
  };
  /** Statuses of an owner with credentials that the server has not seen, also at the token endpoint. */
  const ofOwner = async (count: number): Promise<readonly number[]> => {
    const statuses = new Set<number>();
    for (let each = 0; each < count; each++) {
      statuses.add((await pod.ask('GET', 'graph', { Accept: 'text/turtle', Range: 'bytes=0-9' })).status);
      const body = `${grant}&resource=${encodeURIComponent(pod.root)}&subject_token_type=urn:ietf:params:oauth:token-type:jwt&subject_token=${pod.token()}`;
      statuses.add((await pod.ask('POST', '.lws/token', form, body, null)).status);
    }
    return [...statuses];
  };

  const query = `.lws/sparql?query=${encodeURIComponent('SELECT * { ?s ?p ?o }')}`;
  for (const [what, paths] of Object.entries({
    files: ['file'],
    'event streams': ['.lws/subscriptions/stream?topic='],
    'a mix of files, graphs, rows and listings': ['file', 'graph', query, ''],
  }))
    it(`take no slot of an owner: ${what}`, async () => {
      await start();
      for (let each = 0; each < 260; each++) {
        const path = paths[each % paths.length]!;
        const topic = path.endsWith('topic=') ? encodeURIComponent(`${pod.root}graph`) : '';
        const isKnown = each % 3 === 0 && topic === '';
        const token = isKnown ? { Authorization: `Bearer ${credential(ed25519Identity(), { aud: pod.base })}` } : {};
        await ask(path + topic, `127.0.0.${2 + (each % 5)}`, token);
      }
      // The requests on other connections arrived before this one.
      await deployment.home.ask('GET', '', {}, undefined, null);
      expect((await ofOwner(20)).filter((status) => status >= 400)).to.deep.equal([]);
      expect(
        await request(`http://127.0.0.1:${deployment.port}/one/file`, {
          method: 'HEAD',
          headers: { Host: new URL(pod.root).host },
        }),
      ).to.have.property('status', 200);
    });

  it('end after the idle time over HTTP/1.1, and read ones do not', async () => {
    await start({ 'request-idle-seconds': '1' });
    for (let each = 0; each < 20; each++) await ask('file', '127.0.0.2');
    const reader = connect({ port: deployment.port, host: '127.0.0.1' });
    let received = 0;
    reader.on('data', (chunk) => {
      received += chunk.length;
      reader.pause();
      setTimeout(() => reader.resume(), 10);
    });
    reader.write(head(`${pod.root}file`, 'GET', { Connection: 'close' }));
    await once(reader, 'end');
    expect(received).to.be.above(4 << 20);
    // A request is logged when its response ends.
    const ended = (): number =>
      deployment.log.filter(({ method, path }) => method === 'GET' && path === '/one/file').length;
    await until(() => ended() >= 21);
  });
});
