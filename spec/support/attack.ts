/**
 * Attacks on a server process: who makes them, and what others notice of it meanwhile. It must not know what an attack is
 * about.
 */
import { Agent, request } from 'node:http';
import { expect } from 'chai';
import { credential, ed25519Identity, type Identity } from './identity.js';
import { type ProcessOptions, type ServerProcess, startProcess } from './process.js';
import { residentMb } from './sparql-stream.js';

/** Over a quiet run. */
const mostStallMs = 100;
const mostMoreMb = 300;

/** A server process with an owner, and everybody else a stranger. */
export async function startOwned(
  owner: Identity,
  environment: Readonly<Record<string, string>> = {},
  options: ProcessOptions = {},
): Promise<ServerProcess> {
  return startProcess({
    ...options,
    environment: { LWS_DEV_OPEN: 'false', LWS_OWNERS: owner.did, LWS_PUBLIC_READ: 'true', ...environment },
  });
}

/** Fields of a request of somebody, a new identity where nobody is named. */
export const by = ({ root }: ServerProcess, who: Identity = ed25519Identity()): Record<string, string> => ({
  Authorization: `Bearer ${credential(who, { aud: root.slice(0, -1) })}`,
});

/** What others notice of some work. */
export interface Noticed<T> {
  readonly result: T;
  /** The longest that a GET took beside it. */
  readonly stallMs: number;
  /** The longest that one takes while nothing else is asked. */
  readonly quietMs: number;
  /** By how much more memory the process held at most. */
  readonly moreMb: number;
}

/** Asks for the root again and again on one connection while some work goes on. */
export async function notice<T>(server: ServerProcess, work: () => Promise<T>): Promise<Noticed<T>> {
  const agent = new Agent({ keepAlive: true, maxSockets: 1 });
  try {
    let quietMs = 0;
    // The first ones load and compile.
    for (let at = 0; at < 40; at++) {
      const took = await timeGet(server.root, agent);
      if (at >= 20) quietMs = Math.max(quietMs, took);
    }
    const before = residentMb(server.pid);
    let stallMs = 0;
    let most = before;
    let isOver = false;
    const working = work().finally(() => {
      isOver = true;
    });
    working.catch(() => {});
    while (!isOver) {
      stallMs = Math.max(stallMs, await timeGet(server.root, agent));
      most = Math.max(most, residentMb(server.pid));
      await new Promise((wake) => setTimeout(wake, 5));
    }
    return { result: await working, stallMs, quietMs, moreMb: most - before };
  } finally {
    agent.destroy();
  }
}

/** Others noticed nothing: neither stalls nor memory. */
export function expectUnnoticed({ stallMs, quietMs, moreMb }: Noticed<unknown>): void {
  expect(stallMs, 'the longest GET beside it, in ms').to.be.below(mostStallMs + quietMs);
  expect(moreMb, 'more memory, in MB').to.be.below(mostMoreMb);
}

function timeGet(url: string, agent: Agent): Promise<number> {
  const began = performance.now();
  return new Promise((resolve, reject) => {
    request(url, { agent }, (response) => {
      response.resume();
      response.once('end', () => resolve(performance.now() - began));
      response.once('error', reject);
    })
      .once('error', reject)
      .end();
  });
}
