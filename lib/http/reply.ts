/** HTTP responses. */
import type { Readable } from 'node:stream';

export type Fields = Readonly<Record<string, string | readonly string[]>>;

/** HTTP response: status, fields and body. `fields` needs no Content-Length if the body is a Buffer. */
export interface Reply {
  readonly status: number;
  readonly fields: Fields;
  readonly body?: Buffer | Readable;
  /** True if a content coding is allowed. Not for responses with secrets, because the coded size would depend on them. */
  readonly isCodable?: boolean;
  /** More fields of the request's log line. */
  readonly logged?: Readonly<Record<string, unknown>>;
}
