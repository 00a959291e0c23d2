/** The secrets that all servers of a storage need, which each keeps in files of its folder: as the database has them. */
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { writeWhole } from '../engine/synced-files.js';
import type { Connection } from './connection.js';

export class SharedSecrets {
  /** As the database had them last. */
  private readonly known = new Map<string, string>();

  /** @param names of the files */
  constructor(
    private readonly connection: Connection,
    private readonly folder: string,
    private readonly names: readonly string[],
  ) {}

  /** Takes what others changed, and gives what was changed or made here. */
  async synchronize(): Promise<void> {
    const { rows } = await this.connection.query<{ name: string; value: string }>('SELECT name, value FROM secrets');
    const shared = new Map(rows.map(({ name, value }) => [name, value]));
    for (const name of this.names) {
      const file = join(this.folder, name);
      const there = existsSync(file) ? readFileSync(file, 'utf8') : undefined;
      const value = shared.get(name);
      if (value === there) {
        if (value !== undefined) this.known.set(name, value);
      } else if (there !== undefined && value === this.known.get(name)) await this.give(name, there);
      else if (value !== undefined) this.take(file, name, value);
    }
  }

  private take(file: string, name: string, value: string): void {
    writeWhole(file, value);
    this.known.set(name, value);
  }

  private async give(name: string, value: string): Promise<void> {
    const before = this.known.get(name);
    // Who was first keeps it; the other one takes it with the next look.
    const { rowCount } =
      before === undefined
        ? await this.connection.query('INSERT INTO secrets (name, value) VALUES ($1, $2) ON CONFLICT DO NOTHING', [
            name,
            value,
          ])
        : await this.connection.query('UPDATE secrets SET value = $2 WHERE name = $1 AND value = $3', [
            name,
            value,
            before,
          ]);
    if (rowCount === 1) this.known.set(name, value);
  }
}
