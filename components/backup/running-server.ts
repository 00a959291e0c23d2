/** The server that has the storage open, asked for its state. */
import { setTimeout as sleep } from 'node:timers/promises';
import type { CommandContext } from '../../lib/component/basics.js';
import { askServer, RefusedCommand } from '../../lib/component/commands.js';
import { BackupError } from './entries.js';
import type { GraphSet } from './graph-set.js';

const pollMs = 200;

interface Told {
  readonly state: 'working' | 'ready' | 'failed';
  readonly entries: number;
  readonly failure?: string;
}

export class RunningServer {
  private constructor(
    private readonly context: CommandContext,
    private readonly url: string,
    /** It leaves nothing out. */
    readonly isWhole: boolean,
  ) {}

  /**
   * Has the server begin. Where a proxy in front of it takes no body so long, it is to write all there is.
   * @param known graphs that it leaves out
   * @throws CommandError when it does not begin
   */
  static async begin(context: CommandContext, known: GraphSet | undefined): Promise<RunningServer> {
    const body = known ? { body: known.bytes, headers: { 'Content-Type': 'application/octet-stream' } } : {};
    try {
      const begun = await askServer(context, 'backups', { method: 'POST', ...body });
      return new RunningServer(context, begun.headers.get('location')!, known === undefined);
    } catch (error) {
      if (!known || !(error instanceof RefusedCommand) || error.status !== 413) throw error;
      context.print(
        `What the last back-up has is too long for ${context.baseUri} (413), so this back-up is a whole one.`,
      );
      return RunningServer.begin(context, undefined);
    }
  }

  /** Waits for both parts of the state. @param told called with the number of entries so far */
  async ready(told: (entries: number) => void): Promise<void> {
    for (;;) {
      const { state, entries, failure } = (await (await askServer(this.context, this.url)).json()) as Told;
      if (state === 'failed')
        throw new BackupError(`The server could not write its state: ${failure?.replace(/\.$/, '')}.`);
      told(entries);
      if (state === 'ready') return;
      await sleep(pollMs);
    }
  }

  async part(name: 'state' | 'quads'): Promise<ReadableStream> {
    return (await askServer(this.context, `${this.url}/${name}`)).body!;
  }

  /** Lets the server continue as usual. */
  async release(): Promise<void> {
    // One that is gone has nothing to release.
    await askServer(this.context, this.url, { method: 'DELETE' }).catch(() => {});
  }
}
