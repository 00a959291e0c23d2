/** Gate: limits, and the order in which waiting requests are served. */
import { expect } from 'chai';
import { Gate, type GateLimits, type Turn } from '../../../lib/tools/gate.js';

/** Runs requests one after the other, all of which arrive before the first ends. @returns names in the order in which they ran */
async function orderOf(limits: GateLimits, turns: readonly (readonly [name: string, turn: Partial<Turn>])[]) {
  const gate = new Gate(limits);
  const order: string[] = [];
  await Promise.all(
    turns.map(async ([name, turn]) => {
      const leave = await gate.enter({ host: '', ...turn });
      order.push(name);
      await new Promise((resolve) => setImmediate(resolve));
      leave();
    }),
  );
  return order.join(' ');
}

describe('Gate', () => {
  const one = { inAll: 1, perHost: 1 };
  const of = (client: string, identity?: string): Partial<Turn> => ({ client, identity });

  it('serves clients in turn, also after a request that did not have to wait', async () => {
    const turns = ['a1', 'a2', 'a3', 'b1', 'c1', 'b2'].map((name) => [name, of(name[0]!)] as const);
    expect(await orderOf(one, turns)).to.equal('a1 b1 c1 a2 b2 a3');
  });

  it('serves the identities of a client in turn', async () => {
    const turns = ['x1', 'y1', 'y2', 'y3', 'z1'].map((name) => [name, of('a', name[0]!)] as const);
    expect(await orderOf(one, turns)).to.equal('x1 y1 z1 y2 y3');
  });

  it('serves lower ranks first', async () => {
    const turns = [['a', of('a')] as const, ['b', { ...of('b'), rank: 2 }] as const, ['c', { rank: 1 }] as const];
    expect(await orderOf(one, turns)).to.equal('a c b');
  });

  it('lets no client wait for others without end that have new clients all the time', async () => {
    const gate = new Gate(one);
    let served = 0;
    const flood = async (): Promise<void> => {
      const leave = await gate.enter({ host: '', client: `new ${Math.random()}` });
      served++;
      await new Promise((resolve) => setImmediate(resolve));
      if (!isDone) void flood();
      leave();
    };
    let isDone = false;
    const leave = await gate.enter({ host: '', client: 'a' });
    const floods = [flood(), flood(), flood()];
    const own = gate.enter({ host: '', client: 'a' });
    leave();
    (await own)();
    isDone = true;
    await Promise.all(floods);
    expect(served).to.be.at.most(5);
  });

  it('refuses a request above the limits of waiting requests, and forgets one that is aborted', async () => {
    const gate = new Gate({ ...one, waiting: { perClient: 1, inAll: 2 } });
    const leave = await gate.enter({ host: '', client: 'a' });
    const aborted = new AbortController();
    const waiting = gate.enter({ host: '', client: 'a' }, aborted.signal).catch((error: unknown) => error);
    expect(await gate.enter({ host: '', client: 'a' }).catch(({ code }) => code)).to.equal('too-busy');
    aborted.abort(new Error('gone'));
    expect(await waiting).to.have.property('message', 'gone');
    const next = gate.enter({ host: '', client: 'a' });
    leave();
    (await next)();
  });
});
