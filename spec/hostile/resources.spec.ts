/** Exhaustion of files, sockets and disk: other clients are still served, and no state is left behind. */
import { once } from 'node:events';
import { request as requestPlain } from 'node:http';
import { connect, type Socket } from 'node:net';
import { expect } from 'chai';
import { SmallDisk } from '../crash/small-disk.js';
import { request } from '../support/http.js';
import { type ServerProcess, startProcess } from '../support/process.js';

describe('Connections without end', function () {
  this.timeout(30_000);
  let server: ServerProcess;
  const sockets: Socket[] = [];
  before(async () => {
    server = await startProcess({
      environment: { LWS_MAX_CONNECTIONS: '100', LWS_MAX_CONNECTIONS_PER_ADDRESS: '40' },
    });
  });
  after(() => {
    for (const socket of sockets) socket.destroy();
    return server?.kill();
  });

  const open = async (localAddress: string, count: number): Promise<number> => {
    const port = Number(new URL(server.root).port);
    const opened = Array.from({ length: count }, () => connect({ host: '127.0.0.1', port, localAddress }));
    sockets.push(...opened);
    await Promise.all(
      opened.map((socket) =>
        once(
          socket.on('error', () => {}),
          'connect',
        ),
      ),
    );
    return opened.length;
  };
  const getFrom = (localAddress: string): Promise<number> =>
    new Promise((resolve, reject) => {
      const options = { host: '127.0.0.1', localAddress, agent: false as const };
      requestPlain(server.root, options, (response) => {
        response.resume();
        resolve(response.statusCode!);
      })
        .once('error', reject)
        .end();
    });

  it('from one address do not block other addresses', async () => {
    await open('127.0.0.2', 300);
    expect(await getFrom('127.0.0.3')).to.equal(200);
    const own = await getFrom('127.0.0.2').catch((error: NodeJS.ErrnoException) => error.code);
    expect(own).to.equal('ECONNRESET');
  });

  it('free their slots when they end', async () => {
    for (const socket of sockets.splice(0)) socket.destroy();
    let answer: unknown;
    for (let at = 0; at < 50 && answer !== 200; at++) answer = await getFrom('127.0.0.2').catch(() => undefined);
    expect(answer).to.equal(200);
  });
});

describe('A batch larger than the free disk space (skipped if no tmpfs can be mounted)', function () {
  this.timeout(30_000);
  let disk: SmallDisk;
  let server: ServerProcess;
  before(async function () {
    const mounted = SmallDisk.mount('size=72m');
    if (!mounted) return this.skip();
    disk = mounted;
    server = await startProcess({ dataDir: disk.folder });
  });
  after(async () => {
    await server?.kill();
    disk?.unmount();
  });
  const put = async (name: string, body: string): Promise<number> =>
    (await request(`${server.root}${name}`, { method: 'PUT', headers: { 'Content-Type': 'text/turtle' }, body }))
      .status;

  it('is 507, and the storage continues with smaller writes and with DELETE', async () => {
    const lines = Array.from({ length: 160_000 }, (_, at) => `<#s${at}> <https://e.example/p> "text ${at}" .`);
    expect(await put('small', '<#a> <#b> 1 .')).to.equal(201);
    expect(await put('large', lines.join('\n'))).to.equal(507);
    expect(await put('other', '<#a> <#b> 1 .')).to.equal(201);
    expect((await request(`${server.root}small`, { method: 'DELETE' })).status).to.equal(204);
    expect(server.output.stdout).not.to.include('read-only');
    disk.fill(8 << 20);
    expect((await request(`${server.root}other`, { method: 'DELETE' })).status).to.equal(204);
  });
});
