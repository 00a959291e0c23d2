/** An answer as a value. */
import type { Readable } from 'node:stream';

export type Fields = Readonly<Record<string, string | readonly string[]>>;

/** An answer as a value. `fields` need no Content-Length when the body is a Buffer. */
export interface Reply {
  readonly status: number;
  readonly fields: Fields;
  readonly body?: Buffer | Readable;
}
