/** Turns of requests that decide on many resources: order, slots and waiting lists by caller class. */
import { setImmediate } from 'node:timers/promises';
import { expect } from 'chai';
import { noteConnection } from '../../../lib/authorization/client.js';
import { inTurn, type Pause } from '../../../lib/authorization/decision-turns.js';
import type { Access } from '../../../lib/authorization/principal.js';

/** Requests of one storage. The work of each runs until the spec ends it. */
class Requests {
  /** Names of the requests whose work began, in order. */
  readonly begun: string[] = [];
  private readonly ends: (() => void)[] = [];
  private readonly storage = {
    store: {},
    authorizer: {
      callerClass: async (_view: unknown, { principal }: Access) =>
        principal?.subject.startsWith('known') ? 'known' : 'stranger',
    },
  };

  /** @returns the error code, or `done` */
  async send(subject: string, address: string, signal = new AbortController().signal): Promise<string> {
    const work = (): Promise<string> => {
      this.begun.push(subject);
      return new Promise((resolve) => this.ends.push(() => resolve('done')));
    };
    return this.run(subject, address, work, signal).catch((error) => error.code ?? String(error));
  }

  run<T>(
    ...[subject, address, work, signal = new AbortController().signal]: readonly [
      subject: string,
      address: string,
      work: (pause: Pause) => Promise<T>,
      signal?: AbortSignal,
    ]
  ): Promise<T> {
    const access: Access = { principal: { subject } };
    noteConnection(access, { address, whenGone: () => ({ signal, release() {} }) });
    return inTurn(this.storage as never, access, work);
  }

  /** Ends work until none has begun. */
  async finish(): Promise<void> {
    for (await setImmediate(); this.ends.length > 0; await setImmediate()) this.ends.shift()!();
  }
}

describe('Turns of requests that decide on many resources', () => {
  it('has a slot for callers with access by name while 250 other callers wait', async () => {
    const requests = new Requests();
    const others = Array.from({ length: 300 }, (_, at) => requests.send(`other${at}`, `192.0.2.${at}`));
    await setImmediate();
    expect(requests.begun).to.deep.equal(['other0']);
    const known = requests.send('known', '192.0.2.0');
    await setImmediate();
    expect(requests.begun).to.deep.equal(['other0', 'known']);
    await requests.finish();
    expect(await known).to.equal('done');
    const refused = (await Promise.all(others)).filter((code) => code === 'too-busy');
    expect(refused).to.have.length(49);
  });

  it('serves callers with access by name before others', async () => {
    const requests = new Requests();
    const sent = ['known0', 'known1', 'other', 'known2'].map((name) => requests.send(name, '192.0.2.1'));
    await requests.finish();
    await Promise.all(sent);
    expect(requests.begun).to.deep.equal(['known0', 'known1', 'known2', 'other']);
  });

  it('counts identities without access by address, and takes turns between addresses', async () => {
    const requests = new Requests();
    const crowd = Array.from({ length: 60 }, (_, at) => requests.send(`other${at}`, '192.0.2.1'));
    const last = requests.send('last', '192.0.2.2');
    await requests.finish();
    expect((await Promise.all(crowd)).filter((code) => code === 'too-busy')).to.have.length(9);
    expect(await last).to.equal('done');
    expect(requests.begun.indexOf('last')).to.be.at.most(2);
  });

  it('takes turns between identities at the same address, and queues at most 25 requests of each', async () => {
    const requests = new Requests();
    const flood = Array.from({ length: 60 }, () => requests.send('flood', '192.0.2.1'));
    await setImmediate();
    const last = requests.send('last', '192.0.2.1');
    await requests.finish();
    expect((await Promise.all(flood)).filter((code) => code === 'too-busy')).to.have.length(34);
    expect(await last).to.equal('done');
    expect(requests.begun.indexOf('last')).to.be.at.most(2);
  });

  it('lets other callers have turns between the steps of long work', async () => {
    const requests = new Requests();
    const steps: string[] = [];
    const long = (name: string, address: string) =>
      requests.run(name, address, async (pause) => {
        for (let step = 0; step < 3; step++) {
          steps.push(name);
          const began = performance.now();
          while (performance.now() - began < 60);
          await pause();
        }
      });
    await Promise.all([...Array.from({ length: 8 }, () => long('a', '192.0.2.1')), long('b', '192.0.2.2')]);
    expect(steps).to.have.length(27);
    expect(steps.indexOf('b')).to.be.at.most(2);
    // At least every third turn is that of another client.
    expect(steps.lastIndexOf('b')).to.be.at.most(9);
  });

  it('removes a request whose client disconnects', async () => {
    const requests = new Requests();
    const controller = new AbortController();
    const first = requests.send('known0', '192.0.2.1');
    const second = requests.send('known0', '192.0.2.1', controller.signal);
    await setImmediate();
    controller.abort(new Error('gone'));
    expect(await second).to.equal('Error: gone');
    await requests.finish();
    expect(await first).to.equal('done');
    expect(requests.begun).to.deep.equal(['known0']);
  });
});
