/** Streams of live updates, of a clock and of readers that a spec has in its hand. */
import type { IncomingMessage } from 'node:http';
import type { Readable } from 'node:stream';
import { setImmediate as breathe } from 'node:timers/promises';
import { expect } from 'chai';
import type { Activity } from '../../../components/notifications/events.js';
import { Channels } from '../../../components/notifications/streams/channels.js';
import { streamRoutes } from '../../../components/notifications/streams/event-stream.js';
import { Places } from '../../../components/notifications/streams/places.js';
import type { Platform } from '../../../lib/component.js';
import { createLog } from '../../../lib/log.js';
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
  let now = 0;
  let mayRead = true;
  let listen: (lastEventId?: string) => Promise<Readable>;

  beforeEach(async () => {
    memory = await memoryStore();
    mayRead = true;
    const authorizer = {
      allows: () => mayRead,
      decide: () => ({ allowed: mayRead, rule: 'the spec' }),
      standing: () => 'known',
    };
    const platform = {
      store: memory.store,
      rootIri: root,
      mask: true,
      authorizer,
      clock: () => now,
      log: createLog('silent'),
    } as unknown as Platform;
    channels = new Channels(platform);
    memory.store.onCommit(channels.committed);
    const places = new Places(platform, { inAll: 3, perSubject: 3, perAddress: 3, ofStrangers: 3 });
    const [get] = streamRoutes({ platform, channels, places });
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
    for (const channel of channels.covering(root + name)) channel.tell(activity(name));
  };
  const textOf = (body: Readable): string => String(body.read() ?? '');

  it('who does not read is cut off, its place is free, and others hear on', async () => {
    const [slow, reader] = [await listen(), await listen()];
    let heard = 0;
    reader.on('data', () => {
      heard += 1;
    });
    let count = 0;
    for (; !slow.destroyed && count < 1000; count++) {
      tell('x'.repeat(2000));
      await breathe();
    }
    expect(count).to.be.within(100, 160);
    expect(reader.destroyed).to.equal(false);
    expect(heard).to.be.above(0);
    expect([(await listen()).destroyed, (await listen()).destroyed]).to.deep.equal([false, false]);
    const refusal = await listen().catch((error: unknown) => error);
    expect(refusal).to.include({ code: 'too-many-requests' });
  });

  it('a channel goes on for a minute without listeners, and no longer', async () => {
    const first = await listen();
    const [, id] = /id: (\S+)/.exec(textOf(first))!;
    first.destroy();
    await new Promise((resolve) => first.once('close', resolve));
    tell('a');
    const again = await listen(id);
    expect(textOf(again)).to.contain(`${root}a`);
    again.destroy();
    await new Promise((resolve) => again.once('close', resolve));
    now += 60_000;
    // Whoever leaves looks after the others.
    const other = await listen(id);
    expect(textOf(other)).to.contain(`${root}a`);
    channels.end();
    expect([...channels.covering(root)]).to.deep.equal([]);
    expect(await listen(id).catch((error: unknown) => error)).to.include({ code: 'too-busy' });
  });

  it('what cannot be decided any more ends', async () => {
    const body = await listen();
    body.resume();
    mayRead = false;
    await memory.store.transact((tx) => tx.putEntry('\u0000any', 'thing'));
    await new Promise((resolve) => body.once('end', resolve));
    expect([...channels.covering(root)]).to.deep.equal([]);
  });
});
