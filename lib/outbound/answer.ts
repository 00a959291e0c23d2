/** An answer: its status and fields as they came, its body as far as somebody wants it. */
import type { Dispatcher } from 'undici';
import { OutboundError } from './outbound-error.js';

/** An answer whose body is still on its way. */
export interface Answer {
  readonly status: number;
  /** By lower-case name; what is repeated is joined by commas (RFC 9110 5.3). */
  readonly headers: Readonly<Record<string, string>>;
  /**
   * The whole body.
   * @throws OutboundError `too-large`, `timeout`, and `protocol` when it is broken off or encoded
   */
  read(maxBytes: number): Promise<Buffer>;
  /** Reads up to so many bytes and forgets them; never throws. */
  discard(maxBytes: number): Promise<void>;
  /** Drops the connection, whatever is still to come. */
  close(): void;
}

/** What an answer has from its connection. */
export interface AnswerSource {
  /** The host and its addresses, for messages. */
  readonly place: string;
  /** Turns the package's errors into ours. */
  readonly refuse: (error: unknown) => unknown;
  readonly close: () => void;
}

export function answerOf(data: Dispatcher.ResponseData, { place, refuse, close }: AnswerSource): Answer {
  const headers = fieldsOf(data);
  const body: AsyncIterable<Buffer> = data.body;
  // A body that nobody reads may fail too, and nobody would catch that.
  data.body.on('error', () => undefined);
  return {
    status: data.statusCode,
    headers,
    async read(maxBytes) {
      requireIdentity(headers, place);
      if (Number(headers['content-length']) > maxBytes) throw tooLarge(place, maxBytes);
      try {
        return await collect(body, maxBytes, place);
      } catch (error) {
        throw refuse(error);
      }
    },
    discard: (maxBytes) => forget(body, maxBytes),
    close,
  };
}

function fieldsOf({ headers }: Dispatcher.ResponseData): Record<string, string> {
  // Without a prototype: the names are the other side's choice, `__proto__` among them.
  const fields: Record<string, string> = Object.create(null);
  for (const [name, value] of Object.entries(headers))
    if (value !== undefined) fields[name] = Array.isArray(value) ? value.join(', ') : value;
  return fields;
}

/** RFC 9110 12.5.3: we accept `identity` alone, so a coding is a mistake, or a small body that unpacks to a large one. */
function requireIdentity(headers: Readonly<Record<string, string>>, place: string): void {
  const coding = headers['content-encoding']?.trim().toLowerCase() || 'identity';
  if (coding !== 'identity') throw new OutboundError('protocol', `${place} encodes its answer though asked not to.`);
}

async function collect(body: AsyncIterable<Buffer>, maxBytes: number, place: string): Promise<Buffer> {
  const chunks: Buffer[] = [];
  let size = 0;
  for await (const chunk of body) {
    size += chunk.length;
    if (size > maxBytes) throw tooLarge(place, maxBytes);
    chunks.push(chunk);
  }
  return Buffer.concat(chunks, size);
}

async function forget(body: AsyncIterable<Buffer>, maxBytes: number): Promise<void> {
  let size = 0;
  try {
    for await (const chunk of body) {
      size += chunk.length;
      if (size >= maxBytes) break;
    }
  } catch {
    // The status has been given; how the body ends does not matter.
  }
}

const tooLarge = (place: string, maxBytes: number): OutboundError =>
  new OutboundError('too-large', `The answer of ${place} is larger than ${maxBytes} bytes.`);
