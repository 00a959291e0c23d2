/**
 * Which servers of a storage are running, by a row that each renews, and which one leads, that is, does the work that only one should do. A
 * server that was held up may lead a moment too long, so that this work has to be harmless when two servers do it.
 */
import { randomUUID } from 'node:crypto';
import type { Connection } from './connection.js';

const renewMs = 4_000;
const [leaseSeconds, leaseMs] = [12, 12_000];

export class ServerMembership {
  readonly id = randomUUID();
  private timer: NodeJS.Timeout | undefined;
  private renewing: Promise<void> | undefined;
  private leadsUntil = 0;

  /** @param onTerm called after each renewal; `begins`: this server leads now and did not before */
  constructor(
    private readonly connection: Connection,
    private readonly onTerm: (begins: boolean) => Promise<void>,
    private readonly onTrouble: (error: unknown) => void,
  ) {}

  get leads(): boolean {
    return performance.now() < this.leadsUntil;
  }

  async join(): Promise<void> {
    await this.renew();
    this.timer = setInterval(() => {
      this.renewing ??= this.renew()
        .catch(this.onTrouble)
        .finally(() => {
          this.renewing = undefined;
        });
    }, renewMs).unref();
  }

  private async renew(): Promise<void> {
    const began = performance.now();
    await this.connection.query(
      "INSERT INTO servers (id, until) VALUES ($1, now() + $2 * interval '1 second') " +
        'ON CONFLICT (id) DO UPDATE SET until = excluded.until',
      [this.id, leaseSeconds],
    );
    const { rows } = await this.connection.query<{ id: string }>(
      'SELECT id FROM servers WHERE until > now() ORDER BY joined, id LIMIT 1',
    );
    const led = this.leads;
    this.leadsUntil = rows[0]?.id === this.id ? began + leaseMs : 0;
    await this.onTerm(!led && this.leads);
  }

  /** Removes the row, so that another server can lead at once. */
  async leave(): Promise<void> {
    clearInterval(this.timer);
    await this.renewing;
    this.leadsUntil = 0;
    await this.connection.query("DELETE FROM servers WHERE id = $1 OR until < now() - interval '1 day'", [this.id]);
  }
}
