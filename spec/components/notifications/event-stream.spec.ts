/** Streams of live updates, with a controlled clock and controlled readers. */
import type { IncomingMessage } from 'node:http';
import type { Readable } from 'node:stream';
import { setImmediate as yieldToEventLoop } from 'node:timers/promises';
import { expect } from 'chai';
import type { Activity } from '../../../components/notifications/delivery/events.js';
import { Channels } from '../../../components/notifications/streams/channels.js';
import { streamRoutes } from '../../../components/notifications/streams/event-stream.js';
import { StreamSlots } from '../../../components/notifications/streams/places.js';
import { Tallies } from '../../../lib/authentication/tally.js';
import type { Question } from '../../../lib/authorization/authorizer.js';
import type { Platform } from '../../../lib/component/contract.js';
import { createLog } from '../../../lib/tools/log.js';
import { type MemoryStore, memoryStore, root } from '../../support/memory-store.js';

const activity = (name: string): Activity => ({
  id: 'urn:uuid:1',
  type: ['Update'],
  object: { id: root + name, type: ['DataResource'] },
  published: new Date(0).toISOString(),
});

describe('Streams of live updates', () => {
  let memory: MemoryStore;
  let channels: Channels;
  let mayRead = true;
  let position = Number.MAX_SAFE_INTEGER / 2;
  let listen: (lastEventId?: string) => Promise<Readable>;

  beforeEach(async () => {
    memory = await memoryStore();
    mayRead = true;
    const authorizer = {
      allows: ({ iri }: Question) => mayRead && iri !== `${root}hidden`,
      decide: () => ({ allowed: mayRead, rule: 'the spec' }),
      callerClass: () => 'known',
    };
    const platform = {
      store: memory.store,
      rootIri: root,
      mask: true,
      authorizer,
      clock: () => 0,
      tally: (kind: string) => new Tallies().of(kind, root),
      log: createLog('silent'),
    } as unknown as Platform;
    channels = new Channels(platform);
    memory.store.onCommit(channels.committed);
    const places = new StreamSlots(platform, { inAll: 3, perSubject: 3, perAddress: 3, ofStrangers: 3 });
    const [get] = streamRoutes({ platform, channels, places, includeActor: false });
    listen = async (lastEventId) => {
      const headers = lastEventId === undefined ? {} : { 'last-event-id': lastEventId };
      const { body } = await get!.handle({
        req: { headers } as unknown as IncomingMessage,
        access: {},
        address: '127.0.0.1',
        query: new URLSearchParams({ topic: root }),
        body: () => {
          throw new Error('there is none');
        },
        parameters: {},
      });
      return body as Readable;
    };
  });
  afterEach(async () => {
    channels.end();
    await memory.dispose();
  });

  const tell = (name: string): void => {
    for (const channel of channels.covering(root + name)) channel.tell(activity(name), ++position);
  };
  const textOf = (body: Readable): string => String(body.read() ?? '');

  it('a client that does not read is disconnected, its slot is released, and others continue', async () => {
    const [slow, reader] = [await listen(), await listen()];
    let heard = 0;
    reader.on('data', () => {
      heard += 1;
    });
    let count = 0;
    for (; !slow.destroyed && count < 1000; count++) {
      tell('x'.repeat(2000));
      await yieldToEventLoop();
    }
    expect(count).to.be.within(100, 160);
    expect(reader.destroyed).to.equal(false);
    expect(heard).to.be.above(0);
    expect([(await listen()).destroyed, (await listen()).destroyed]).to.deep.equal([false, false]);
    const refusal = await listen().catch((error: unknown) => error);
    expect(refusal).to.include({ code: 'too-many-requests' });
  });

  const closed = async (body: Readable): Promise<void> => {
    body.destroy();
    await new Promise((resolve) => body.once('close', resolve));
  };
  /** Commits a number of events of one resource. */
  const commit = (name: string, count = 1): Promise<void> =>
    memory.store.transact((tx) => {
      tx.putEntry('\u0000any', name);
      const record = { ...tx.record(root)!, iri: root + name, kind: 'binary' as const };
      for (let at = 0; at < count; at++) tx.changed({ before: record, after: record });
    });
  /** Reads until an event arrives. */
  const until = async (body: Readable, holds: (text: string) => boolean): Promise<string> => {
    let text = '';
    for (let turn = 0; !holds(text); turn++) {
      expect(turn, `received so far: ${text.slice(-500)}`).to.be.below(100_000);
      await yieldToEventLoop();
      text += textOf(body);
    }
    return text;
  };

  it('a channel ends with its last listener, and missed events come from the log (rule 16.9)', async () => {
    const [first, second] = [await listen(), await listen()];
    const [, id] = /id: (\S+)/.exec(textOf(first))!;
    await closed(first);
    expect([...channels.covering(root)]).to.have.length(1);
    await closed(second);
    expect([...channels.covering(root)]).to.deep.equal([]);
    await commit('a', 3);
    const again = await listen(id);
    const text = await until(again, (told) => told.split(`${root}a`).length > 3);
    await commit('b');
    expect(text).to.match(/id: (\d+)\ndata: .*\n\nid: (\d+)\ndata: .*\n\nid: (\d+)\ndata: /);
    channels.end();
    expect([...channels.covering(root)]).to.deep.equal([]);
    expect(await listen(id).catch((error: unknown) => error)).to.include({ code: 'too-busy' });
  });

  it('after too many missed events the client must read again, and gets later events (rule 16.9)', async () => {
    const { committed } = memory.store.changes;
    await commit('hidden', 20_400);
    const stream = await listen(String(committed));
    const told = await until(stream, (text) => text.includes('event: reset'));
    expect(told).to.match(/^retry: 3000\nid: \d+\nevent: reset/);
    tell('live');
    expect(await until(stream, (text) => text.includes(`${root}live`))).not.to.contain('reset');
  });

  it('a stream ends when access cannot be decided', async () => {
    const body = await listen();
    body.resume();
    mayRead = false;
    await memory.store.transact((tx) => tx.putEntry('\u0000any', 'thing'));
    await new Promise((resolve) => body.once('end', resolve));
    expect([...channels.covering(root)]).to.deep.equal([]);
  });
});
