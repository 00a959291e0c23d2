/** HTTP responses. */
import type { Readable } from 'node:stream';

export type Fields = Readonly<Record<string, string | readonly string[]>>;

/** HTTP response: status, fields and body. Content-Length is not required in `fields` if the body is a Buffer. */
export interface Reply {
  readonly status: number;
  readonly fields: Fields;
  readonly body?: Buffer | Readable;
  /** True if a content coding is allowed. False for responses with secrets, because the coded size depends on the secret. */
  readonly isCodable?: boolean;
  /** Additional fields of the request's log line. */
  readonly logged?: Readonly<Record<string, unknown>>;
}
