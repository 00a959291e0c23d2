/** Client of `text/event-stream` (WHATWG HTML 9.2.6). */
import { type IncomingHttpHeaders, type IncomingMessage, request } from 'node:http';
import { patience } from './patience.js';

export interface StreamEvent {
  readonly type: string;
  readonly data: string;
  readonly lastEventId: string;
}

export class EventStream {
  /** Received events, in order. */
  readonly events: StreamEvent[] = [];
  lastEventId = '';
  comments = 0;
  ended = false;
  private rest = '';
  private block: { data: string[]; type: string } = { data: [], type: '' };
  private wake: () => void = () => {};

  constructor(private readonly answer: IncomingMessage) {
    answer.setEncoding('utf8');
    answer.on('data', (text: string) => {
      const lines = (this.rest + text).split('\n');
      this.rest = lines.pop()!;
      for (const line of lines) this.read(line);
      this.wake();
    });
    answer.on('close', () => {
      this.ended = true;
      this.wake();
    });
    answer.on('error', () => {});
  }

  get headers(): IncomingHttpHeaders {
    return this.answer.headers;
  }

  close(): void {
    this.answer.destroy();
  }

  /** Waits until a condition holds. @throws Error if the stream ends first, or after 10 s */
  async until(holds: () => boolean, what: string): Promise<void> {
    while (!holds()) {
      if (this.ended) throw new Error(`the stream ended before ${what}`);
      await this.change(what);
    }
  }

  async untilEnd(): Promise<void> {
    while (!this.ended) await this.change('its end');
  }

  private change(what: string): Promise<void> {
    return new Promise((resolve, reject) => {
      const timer = setTimeout(() => reject(new Error(`timed out waiting for ${what}`)), 10_000 * patience);
      this.wake = () => {
        clearTimeout(timer);
        resolve();
      };
    });
  }

  private read(line: string): void {
    if (line === '') {
      const { data, type } = this.block;
      if (data.length > 0)
        this.events.push({ type: type || 'message', data: data.join('\n'), lastEventId: this.lastEventId });
      this.block = { data: [], type: '' };
      return;
    }
    const [, name, value = ''] = /^([^:]*)(?:: ?(.*))?$/.exec(line)!;
    if (name === '') this.comments += 1;
    else if (name === 'data') this.block.data.push(value);
    else if (name === 'event') this.block.type = value;
    else if (name === 'id') this.lastEventId = value;
  }
}

/** Opens a stream. @throws Error with the status if it is not 200 */
export const openStream = (iri: string, headers: Readonly<Record<string, string>> = {}): Promise<EventStream> =>
  new Promise((resolve, reject) => {
    request(iri, { headers, agent: false }, (answer) => {
      if (answer.statusCode === 200) return resolve(new EventStream(answer));
      answer.resume();
      reject(new Error(`${iri}: ${answer.statusCode}`));
    })
      .once('error', reject)
      .end();
  });
