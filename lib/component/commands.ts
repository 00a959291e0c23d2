/** Sends requests of commands to the server that has the storage open, and formats messages. */
import { CommandError } from '../tools/errors.js';
import type { CommandContext } from './component.js';

export { CommandError };

/** Error if the server rejects the request of a command. */
export class RefusedCommand extends CommandError {
  constructor(
    message: string,
    readonly status: number,
  ) {
    super(message);
  }
}

/**
 * Sends a request to the server of the storage, authenticated as its owner or with `--key`.
 * @param path path below the system prefix, or a complete URL that the server returned
 * @throws CommandError if there is no response, RefusedCommand if the server rejects the request, and errors of the body
 */
export async function askServer(
  { baseUri, systemPrefix, ownerCredential, flags }: CommandContext,
  path: string,
  init: RequestInit & { duplex?: 'half' } = {},
): Promise<Response> {
  const authorization = { Authorization: `Bearer ${await ownerCredential(flags['key'])}` };
  const url = new URL(path, `${baseUri}${systemPrefix}/`);
  const headers = { ...(init.headers as Record<string, string>), ...authorization };
  const response = await fetch(url, { ...init, headers }).catch((error: Error) => {
    // Reading the request body failed while it was sent.
    if (error.cause instanceof CommandError) throw error.cause;
    throw new CommandError(
      `A server has the storage open but does not respond at ${baseUri}: ${reasonOf(error)}. Check lws.base-uri.`,
    );
  });
  if (response.ok) return response;
  const { status } = response;
  const hint = status === 401 || status === 403 ? ' Use --key FILE to name the key of an owner.' : '';
  const message = `The server at ${baseUri} returned ${status}: ${await detailOf(response)}${hint}`;
  throw new RefusedCommand(message, status);
}

/** Maximum size of a response that is read for a message, in bytes. */
const longestAnswer = 16 << 10;

/** Replaces control characters, which a terminal would interpret. */
export const plain = (text: string): string => text.replace(/[\p{Cc}\p{Cf}]+/gu, ' ');

/** Like `plain`, also shortened for a message. */
export const shown = (text: string): string => plain(text).slice(0, 500).trim();

/** Returns the detail of a problem document, the description of an OAuth error, or the beginning of any other response. */
export async function detailOf(answer: { readonly status: number; readonly body: unknown }): Promise<string> {
  const chunks: Uint8Array[] = [];
  let size = 0;
  for await (const chunk of (answer.body ?? []) as AsyncIterable<Uint8Array>) {
    chunks.push(chunk);
    size += chunk.length;
    // If the loop ends early, the connection is closed and the rest is not read.
    if (size > longestAnswer) break;
  }
  if (answer.status < 400) return '';
  const text = Buffer.concat(chunks).toString('utf8');
  try {
    const { detail, title, error_description: description } = JSON.parse(text) as Record<string, unknown>;
    return shown(String(detail ?? description ?? title ?? ''));
  } catch {
    // The body is not JSON.
    return shown(text.slice(0, 200));
  }
}

/** Returns the reason why there is no response, as the end of a sentence. */
export function reasonOf(error: unknown): string {
  const { code, message } = ((error as Error).cause ?? {}) as NodeJS.ErrnoException;
  const isUnknown = code !== undefined && unknownIssuers.test(code);
  const hint = isUnknown ? ' (set NODE_EXTRA_CA_CERTS=FILE to trust its certificate authority)' : '';
  return `${message || (error as Error).message}${hint}`;
}

/** OpenSSL error codes for certificates of untrusted issuers. */
const unknownIssuers = /^UNABLE_TO_(?:VERIFY_LEAF_SIGNATURE|GET_ISSUER_CERT(?:_LOCALLY)?)$|SELF_SIGNED_CERT/;
