/** Rule 16.10: WebSocketChannel2023 of the Solid Notifications Protocol, with the steps of a client. */
import { expect } from 'chai';
import { WebSocket } from 'ws';
import { describeStorage, type Sender, type StorageUnderTest } from '../support/conformance.js';
import { linked } from '../support/expectations.js';
import { type Answer, exchange, head } from '../support/http.js';
import { slowness } from '../support/patience.js';
import { until } from '../support/until.js';
import { agent, alice, anybody, as, bob, inWac, rule, setAcl } from '../support/wac.js';

const at = (s: StorageUnderTest): string => `${s.root}.lws/notifications/WebSocketChannel2023`;
const jsonLd = { 'Content-Type': 'application/ld+json' };
const bounds = { 'streams.max-per-subject': '4', 'cors.allowed-origins': 'https://app.example' };

const ask = (
  s: StorageUnderTest,
  topic: unknown,
  by?: Sender,
  changes: object = {},
  headers: Readonly<Record<string, string>> = {},
): Promise<Answer> => {
  const type = 'http://www.w3.org/ns/solid/notifications#WebSocketChannel2023';
  const context = ['https://www.w3.org/ns/solid/notification/v1'];
  return s.send(
    'POST',
    at(s),
    { ...jsonLd, ...headers },
    JSON.stringify({ '@context': context, type, topic, ...changes }),
    by,
  );
};

const addressIn = ({ status, text }: Answer): string => {
  expect(status, text).to.equal(200);
  return (JSON.parse(text) as { receiveFrom: string }).receiveFrom;
};

class Client {
  readonly messages: Record<string, unknown>[] = [];
  code: number | undefined;

  constructor(readonly socket: WebSocket) {
    socket.on('message', (data) => this.messages.push(JSON.parse(String(data))));
    socket.on('close', (code) => {
      this.code = code;
    });
  }

  get told(): string[] {
    return this.messages.map(({ type, object }) => `${type} ${object}`);
  }
}

/** Opens a channel. @returns the client, or the status of the rejection */
const connect = (address: string, headers: Readonly<Record<string, string>> = {}): Promise<Client | number> =>
  new Promise((resolve, reject) => {
    const socket = new WebSocket(address, { headers });
    const client = new Client(socket);
    socket.once('open', () => resolve(client));
    socket.once('unexpected-response', (_, { statusCode }) => {
      socket.terminate();
      resolve(statusCode!);
    });
    socket.on('error', (error) => {
      if (socket.readyState === socket.CONNECTING) reject(error);
    });
  });

const opened = async (...args: Parameters<typeof connect>): Promise<Client> => {
  const client = await connect(...args);
  if (typeof client === 'number') throw new Error(`refused with ${client}`);
  return client;
};

describeStorage(
  'WebSocketChannel2023',
  (s) => {
    it('is discovered from the storage, in Turtle and in JSON-LD', async () => {
      const found = await s.send('GET', `${s.root}.well-known/solid`, {}, undefined, 'anonymous');
      expect(found.headers['content-type']).to.contain('text/turtle');
      expect(found.text).to.contain('notify:subscription').and.to.contain('WebSocketChannel2023');
      const json = await s.get(`${s.root}.well-known/solid`, { Accept: 'application/ld+json' });
      expect(json.headers['content-type']).to.contain('application/ld+json');
      expect(json.text).to.contain(at(s));
      const { service } = JSON.parse((await s.get(`${s.root}.lws/storage-description`)).text);
      expect(service).to.deep.include({
        type: 'http://www.w3.org/ns/solid/notifications#WebSocketChannel2023',
        serviceEndpoint: at(s),
      });
    });

    it('is discovered from every resource, and also requested and described in Turtle (rule 16.10)', async () => {
      const { iri } = await s.stored('text/plain', 'x');
      for (const method of ['GET', 'HEAD', 'OPTIONS'])
        for (const at of [iri, s.scratch])
          expect(linked(await s.send(method, at), 'http://www.w3.org/ns/solid/terms#storageDescription')).to.deep.equal(
            [`${s.root}.well-known/solid`],
          );
      const notify = 'http://www.w3.org/ns/solid/notifications#';
      const asTurtle = { 'Content-Type': 'text/turtle', Accept: 'text/turtle' };
      const wish = `[] a <${notify}WebSocketChannel2023> ; <${notify}topic> <${iri}> .`;
      const answer = await s.send('POST', at(s), asTurtle, wish);
      expect([answer.status, answer.headers['content-type']], answer.text).to.deep.equal([200, 'text/turtle']);
      const address = new RegExp(`<${notify}receiveFrom>|notify:receiveFrom <([^>]+)>`).exec(answer.text)?.[1];
      const client = await opened(address!);
      await s.put(iri, 'text/plain', 'y', { 'If-Match': '*' });
      await until(async () => client.told.length === 1, 'the change is told');
      client.socket.close();
      for (const bad of [`[] <${notify}topic> <${iri}> .`, `[] a <${notify}WebSocketChannel2023> .`, 'no Turtle'])
        expect((await s.send('POST', at(s), asTurtle, bad)).status, bad).to.equal(400);
    });

    it('notifies of the topic, and of created and deleted members of a container', async () => {
      const container = await s.container();
      const { iri } = await s.stored('text/plain', 'x');
      const [ofContainer, ofResource] = [
        await opened(addressIn(await ask(s, container))),
        await opened(addressIn(await ask(s, iri))),
      ];
      await s.container(`${container}below/`);
      await s.stored('text/plain', 'x', `${container}below/deep`);
      await s.stored('text/plain', 'x', `${container}a`);
      await s.delete(`${container}a`);
      await s.put(iri, 'text/plain', 'y', { 'If-Match': '*' });
      await s.delete(iri);
      await until(async () => ofResource.told.length === 2 && ofContainer.told.length === 3, 'all is told');
      expect(ofResource.told).to.deep.equal([`Update ${iri}`, `Delete ${iri}`]);
      expect(ofContainer.told).to.deep.equal([`Add ${container}below/`, `Add ${container}a`, `Remove ${container}a`]);
      expect(ofContainer.messages[1]).to.include({ target: container });
      await until(async () => ofResource.code === 1001, 'the channel ends with its topic');
      ofContainer.socket.close();
    });

    it('is rejected for an unreadable topic, and an unknown channel gets an error (rule 4.3)', async () => {
      const hidden = await s.container();
      for (const topic of [hidden, s.fresh()]) {
        expect((await ask(s, topic, as(s, bob))).status).to.equal(404);
        expect((await ask(s, topic, 'anonymous')).status).to.equal(401);
      }
      for (const [topic, changes] of [
        ['no IRI', {}],
        [[hidden, s.root], {}],
        [hidden, { type: 'WebhookChannel2023' }],
        [hidden, { endAt: '2020-01-01T00:00:00Z' }],
        [hidden, { endAt: 'soon' }],
      ] as const)
        expect((await ask(s, topic, undefined, changes)).status).to.equal(400);
      expect((await s.post(at(s), 'text/plain', '')).status).to.equal(415);
      expect((await s.post(at(s), 'application/ld+json', 'x'.repeat(20_000))).status).to.equal(413);
    });

    it('uses an unguessable address, valid for one connection of one origin', async () => {
      const container = await s.container();
      await setAcl(s, container, rule('Read', anybody));
      const address = addressIn(await ask(s, container, 'anonymous', {}, { Origin: 'https://app.example' }));
      expect(address).to.match(/^ws:.*\/[\w-]{43}$/);
      expect(await connect(address), 'without an origin').to.equal(403);
      expect(await connect(address, { Origin: 'https://evil.example' }), 'of another one').to.equal(403);
      const client = await opened(address, { Origin: 'https://app.example' });
      expect(await connect(address, { Origin: 'https://app.example' }), 'twice').to.equal(404);
      expect(await connect(`${address.slice(0, -1)}`), 'guessed').to.equal(404);
      expect(await connect(s.root.replace('http', 'ws')), 'elsewhere').to.equal(404);
      client.socket.close();
      const unused = addressIn(await ask(s, container, as(s, bob)));
      await setAcl(s, container);
      expect(await connect(unused), 'revoked meanwhile').to.equal(404);
    });

    it('ends when access is revoked, at endAt, and when the client sends too much', async () => {
      const container = await s.container();
      await setAcl(s, container, rule('Read', agent(alice)));
      const lost = await opened(addressIn(await ask(s, container, as(s, alice))));
      const endAt = new Date(Date.now() + 500).toISOString();
      const short = await opened(addressIn(await ask(s, container, undefined, { endAt })));
      const loud = await opened(addressIn(await ask(s, container)));
      loud.socket.send('x'.repeat(2000));
      await setAcl(s, container);
      await until(async () => lost.code !== undefined && short.code !== undefined, 'both end');
      await until(async () => loud.code !== undefined, 'the loud one ends');
      expect([lost.code, short.code, loud.code]).to.deep.equal([1001, 1001, 1009]);
    });

    it('ignores other Upgrade requests (RFC 9110 7.8)', async () => {
      const { iri } = await s.stored('text/plain', 'plain');
      const fields = { Authorization: `Bearer ${s.token}`, Connection: 'Upgrade, HTTP2-Settings', Upgrade: 'h2c' };
      const answer = await exchange(iri, [head(iri, 'GET', fields)]);
      expect([answer?.status, answer?.text]).to.deep.equal([200, 'plain']);
    });

    it('returns 400 for an invalid handshake and releases its slot', async () => {
      const container = await s.container();
      const address = addressIn(await ask(s, container)).replace('ws:', 'http:');
      const fields = { Connection: 'Upgrade', Upgrade: 'websocket' };
      expect((await exchange(address, [head(address, 'GET', fields)]))?.status).to.equal(400);
    });

    it('never logs a valid address, for any request (rule 16.10)', async () => {
      const container = await s.container();
      const address = addressIn(await ask(s, container)).replace('ws:', 'http:');
      const name = address.split('/').at(-1)!;
      for (const method of ['GET', 'POST', 'PUT'])
        await s.send(method, `${address}?x=${name}`, {}, undefined, 'anonymous');
      const lines = s.server!.log.filter(({ path }) => String(path).includes('/WebSocketChannel2023/.'));
      expect(lines.map(({ path }) => path)).to.deep.equal(Array(3).fill(`${new URL(at(s)).pathname}/...`));
      expect(JSON.stringify(s.server!.log)).not.to.contain(name);
    });

    it('counts unused addresses and connections as streams, and lets the server stop while they are open', async () => {
      const container = await s.container();
      await setAcl(s, container, rule('Read', agent(bob)));
      const clients: Client[] = [];
      for (let i = 0; i < 3; i++) clients.push(await opened(addressIn(await ask(s, container, as(s, bob)))));
      const address = addressIn(await ask(s, container, as(s, bob)));
      expect((await ask(s, container, as(s, bob))).status).to.equal(429);
      clients[0]!.socket.terminate();
      await until(async () => (await ask(s, container, as(s, bob))).status === 200, 'its place is free');
      const started = performance.now();
      await s.server!.stop(true);
      expect(performance.now() - started).to.be.below(8_000 * slowness);
      await until(async () => clients.every(({ code }) => code !== undefined), 'all end');
      await s.restart(inWac(bounds));
      expect(await connect(address)).to.equal(404);
    });
  },
  inWac(bounds),
);
