/** Counts the calls of each client since the start of the server, for controllers. */
import { lruCache } from '../../lib/tools/caches.js';
import type { Members } from './messages.js';

export interface Calls {
  readonly subject: string;
  readonly calls: number;
  readonly failed: number;
  /** Name of the last called tool, and time of that call (RFC 3339). */
  readonly tool: string;
  readonly last: string;
}

const maxClients = 1_000;

export class AgentActivity {
  private readonly kept = lruCache<Calls>(maxClients);

  constructor(private readonly clock: () => number) {}

  /** Counts a call of an authorized client. */
  note(subject: string, { tool, code }: Members): void {
    const { calls = 0, failed = 0 } = this.kept.get(subject) ?? {};
    this.kept.set(subject, {
      subject,
      calls: calls + 1,
      failed: failed + (code === undefined ? 0 : 1),
      tool: String(tool),
      last: new Date(this.clock()).toISOString(),
    });
  }

  all(): readonly Calls[] {
    return [...this.kept.values()];
  }
}
