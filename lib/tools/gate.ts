/**
 * Limits concurrent work: in total, per host and per client. Waiting requests are served by rank, then round robin between
 * clients.
 */
import { addCount } from './collections.js';
import { tooBusy } from './errors.js';

export interface GateLimits {
  readonly inAll: number;
  readonly perHost: number;
  /** Maximum number of active requests per client. Default: the total limit. */
  readonly perClient?: number;
  /** Maximum number of waiting requests, per identity, per client and in total. Default: unlimited. */
  readonly waiting?: { readonly perIdentity?: number; readonly perClient: number; readonly inAll: number };
}

export interface Turn {
  readonly host: string;
  /** Client the request is queued for (round robin between clients). Absent for requests of the server itself. */
  readonly client?: string | undefined;
  /** Identity at the client, such as one of several identities at an address (round robin between identities of a client). */
  readonly identity?: string | undefined;
  /** True if the request had a slot before. It is then not rejected, and precedes requests of its client that had no slot. */
  readonly isAgain?: boolean;
  /** Requests with a lower rank are served first. Default: 0. */
  readonly rank?: number;
}

interface Waiting extends Turn {
  readonly begin: () => void;
}

export class Gate {
  private readonly hosts = new Map<string, number>();
  private readonly clients = new Map<string, number>();
  private waiting: Waiting[] = [];
  private running = 0;

  /** @param busy returns the error if too many requests wait */
  constructor(
    private readonly limits: GateLimits,
    private readonly busy: (turn: Turn) => Error = () => tooBusy('Too many requests are waiting.', 5),
  ) {}

  /**
   * Waits for a slot.
   * @returns a function to call once to release the slot
   * @throws `busy` if too many requests wait; the signal's reason
   */
  async enter(turn: Turn, signal?: AbortSignal): Promise<() => void> {
    signal?.throwIfAborted();
    if (this.mayRun(turn)) this.count(turn, 1);
    else await this.wait(turn, signal);
    return () => {
      this.count(turn, -1);
      // Requests of the same client move behind those of all other clients, and requests of the same identity move last.
      const ownership = ({ client, identity }: Turn): number =>
        client === undefined || client !== turn.client ? 0 : identity === turn.identity ? 2 : 1;
      this.waiting.sort((a, b) => ownership(a) - ownership(b));
      this.next();
    };
  }

  private mayRun({ host, client }: Turn): boolean {
    const { inAll, perHost, perClient = inAll } = this.limits;
    return (
      this.running < inAll &&
      (this.hosts.get(host) ?? 0) < perHost &&
      (client === undefined || (this.clients.get(client) ?? 0) < perClient)
    );
  }

  private wait(turn: Turn, signal: AbortSignal | undefined): Promise<void> {
    const { waiting } = this.limits;
    const ofClient = this.waiting.filter(({ client }) => client === turn.client);
    const ofIdentity = ofClient.filter(({ identity }) => identity === turn.identity);
    const { perClient, inAll, perIdentity = perClient } = waiting ?? { perClient: Infinity, inAll: Infinity };
    const isFull = ofIdentity.length >= perIdentity || ofClient.length >= perClient || this.waiting.length >= inAll;
    if (isFull && !turn.isAgain) throw this.busy(turn);
    return new Promise((resolve, reject) => {
      const leave = (): void => {
        this.waiting = this.waiting.filter((each) => each !== entry);
        reject(signal?.reason);
      };
      const entry: Waiting = {
        ...turn,
        begin: () => {
          signal?.removeEventListener('abort', leave);
          resolve();
        },
      };
      signal?.addEventListener('abort', leave, { once: true });
      const own = turn.isAgain ? this.waiting.findIndex(({ client }) => client === turn.client) : -1;
      this.waiting.splice(own < 0 ? this.waiting.length : own, 0, entry);
    });
  }

  /** Starts a request with the lowest rank among those that may start, of the client with the fewest active requests. */
  private next(): void {
    let best: Waiting | undefined;
    const load = ({ client = '' }: Turn): number => this.clients.get(client) ?? 0;
    const isBefore = (one: Turn, other: Turn): boolean =>
      ((one.rank ?? 0) - (other.rank ?? 0) || load(one) - load(other)) < 0;
    for (const each of this.waiting) if (this.mayRun(each) && (!best || isBefore(each, best))) best = each;
    if (!best) return;
    const begun = best;
    this.waiting = this.waiting.filter((each) => each !== begun);
    // Count the request here, so that no other request takes the slot in between.
    this.count(begun, 1);
    begun.begin();
  }

  private count({ host, client = '' }: Turn, change: 1 | -1): void {
    this.running += change;
    addCount(this.hosts, host, change);
    addCount(this.clients, client, change);
  }
}
