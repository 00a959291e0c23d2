/**
 * How many requests go out at once: in all, to one host, and for one client. Who waits for a turn is served in the order of arrival,
 * clients in turns.
 */
import { OutboundError } from './outbound-error.js';

export interface GateLimits {
  readonly inAll: number;
  readonly perHost: number;
  /** Absent: as many as in all. */
  readonly perClient?: number;
  /** Those of one client, and of all together, that may wait; absent: any number. */
  readonly waiting?: { readonly perClient: number; readonly inAll: number };
}

export interface Turn {
  readonly host: string;
  /** On whose word; absent: the server's own. */
  readonly client?: string | undefined;
}

interface Waiting extends Turn {
  readonly begin: () => void;
}

export class Gate {
  private readonly hosts = new Map<string, number>();
  private readonly clients = new Map<string, number>();
  private waiting: Waiting[] = [];
  private running = 0;

  constructor(private readonly limits: GateLimits) {}

  /**
   * Waits for a turn.
   * @returns what ends it, to be called once
   * @throws OutboundError `busy` when too many wait; the signal's reason
   */
  async enter(turn: Turn, signal?: AbortSignal): Promise<() => void> {
    signal?.throwIfAborted();
    if (this.mayRun(turn)) this.count(turn, 1);
    else await this.wait(turn, signal);
    return () => {
      this.count(turn, -1);
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
    const own = this.waiting.filter(({ client }) => client === turn.client).length;
    if (waiting && (own >= waiting.perClient || this.waiting.length >= waiting.inAll))
      throw new OutboundError('busy', `Too many requests to other hosts wait for their turn, ${turn.host} among them.`);
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
      this.waiting.push(entry);
    });
  }

  /** Of those that may begin, the one whose client has the fewest under way. */
  private next(): void {
    let best: Waiting | undefined;
    const load = ({ client = '' }: Turn): number => this.clients.get(client) ?? 0;
    for (const each of this.waiting) if (this.mayRun(each) && (!best || load(each) < load(best))) best = each;
    if (!best) return;
    const begun = best;
    this.waiting = this.waiting.filter((each) => each !== begun);
    // Counted here, so that its place is never free in between.
    this.count(begun, 1);
    begun.begin();
  }

  private count({ host, client = '' }: Turn, change: 1 | -1): void {
    this.running += change;
    add(this.hosts, host, change);
    add(this.clients, client, change);
  }
}

function add(counts: Map<string, number>, name: string, change: number): void {
  const count = (counts.get(name) ?? 0) + change;
  if (count > 0) counts.set(name, count);
  else counts.delete(name);
}
