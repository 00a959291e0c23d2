/** The server that has the storage open, asked for its state. */
import { setTimeout as sleep } from 'node:timers/promises';
import type { CommandContext } from '../../lib/component/basics.js';
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
    private readonly url: string,
    private readonly headers: Readonly<Record<string, string>>,
    /** It leaves nothing out. */
    readonly isWhole: boolean,
  ) {}

  /**
   * Has the server begin. Where a proxy in front of it takes no body so long, it is to write all there is.
   * @param known graphs that it leaves out
   * @throws BackupError when it does not begin
   */
  static async begin(context: CommandContext, known: GraphSet | undefined): Promise<RunningServer> {
    const { baseUri, ownerCredential, flags, print } = context;
    const headers = { Authorization: `Bearer ${await ownerCredential(flags['key'])}` };
    const response = await ask(context, headers, known);
    if (response.status === 413 && known) {
      print(`What the last back-up has is too long for ${baseUri} (413), so this back-up is a whole one.`);
      return RunningServer.begin(context, undefined);
    }
    if (response.status !== 201)
      throw new BackupError(
        `The server at ${baseUri} answered ${response.status}: ${await detailOf(response)} --key FILE names the key of an owner.`,
      );
    return new RunningServer(response.headers.get('location')!, headers, known === undefined);
  }

  /** Waits for both parts of the state. @param told called with the number of entries so far */
  async ready(told: (entries: number) => void): Promise<void> {
    for (;;) {
      const { state, entries, failure } = (await (await this.get('')).json()) as Told;
      if (state === 'failed')
        throw new BackupError(`The server could not write its state: ${failure?.replace(/\.$/, '')}.`);
      told(entries);
      if (state === 'ready') return;
      await sleep(pollMs);
    }
  }

  async part(name: 'state' | 'quads'): Promise<ReadableStream> {
    return (await this.get(`/${name}`)).body!;
  }

  private async get(path: string): Promise<Response> {
    const response = await fetch(this.url + path, { headers: this.headers });
    if (!response.ok) throw new BackupError(`The server answered ${response.status}: ${await detailOf(response)}`);
    return response;
  }

  /** Lets the server continue as usual. */
  async release(): Promise<void> {
    // One that is gone has nothing to release.
    await fetch(this.url, { method: 'DELETE', headers: this.headers }).catch(() => {});
  }
}

async function ask(
  { baseUri, systemPrefix }: CommandContext,
  authorization: Readonly<Record<string, string>>,
  known: GraphSet | undefined,
): Promise<Response> {
  const headers = { ...authorization, ...(known ? { 'Content-Type': 'application/octet-stream' } : {}) };
  const question = { method: 'POST', headers, ...(known ? { body: known.bytes } : {}) };
  return fetch(`${baseUri}${systemPrefix}/backups`, question).catch((error: unknown) => {
    const reason = ((error as Error).cause as Error | undefined)?.message ?? (error as Error).message;
    throw new BackupError(
      `A server has the storage open, and does not answer at ${baseUri}: ${reason}. Is lws.base-uri right?`,
    );
  });
}

const detailOf = async (response: Response): Promise<string> =>
  ((await response.json().catch(() => ({}))) as { detail?: string }).detail ?? '';
