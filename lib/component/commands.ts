/** What commands say to people, and how they ask the server that has the storage open. */
import { CommandError } from '../errors.js';
import type { CommandContext } from './contract.js';

export { CommandError };

/** A server refused what a command asked of it. */
export class RefusedCommand extends CommandError {
  constructor(
    message: string,
    readonly status: number,
  ) {
    super(message);
  }
}

/**
 * Asks the server of the storage, as its owner or whose key `--key` names.
 * @param path below the system prefix, or a whole URL that the server gave
 * @throws CommandError when it does not answer, RefusedCommand when it refuses, and what the body throws
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
    // Of the body, while it was sent.
    if (error.cause instanceof CommandError) throw error.cause;
    throw new CommandError(
      `A server has the storage open, and does not answer at ${baseUri}: ${reasonOf(error)}. Is lws.base-uri right?`,
    );
  });
  if (response.ok) return response;
  const { status } = response;
  const hint = status === 401 || status === 403 ? ' --key FILE names the key of an owner.' : '';
  const message = `The server at ${baseUri} answered ${status}: ${await detailOf(response)}${hint}`;
  throw new RefusedCommand(message, status);
}

/** Bytes of an answer that is shown. */
const longestAnswer = 16 << 10;

/** Without what a terminal would obey. */
export const plain = (text: string): string => text.replace(/[\p{Cc}\p{Cf}]+/gu, ' ');

/** The same, in a sentence. */
export const shown = (text: string): string => plain(text).slice(0, 500).trim();

/** What a server says in a problem document, or the start of its answer. */
export async function detailOf(answer: Response): Promise<string> {
  const chunks: Uint8Array[] = [];
  let size = 0;
  for await (const chunk of (answer.body ?? []) as AsyncIterable<Uint8Array>) {
    chunks.push(chunk);
    size += chunk.length;
    // Leaving ends the connection.
    if (size > longestAnswer) break;
  }
  if (answer.status < 400) return '';
  const text = Buffer.concat(chunks).toString('utf8');
  try {
    const { detail, title } = JSON.parse(text) as { detail?: unknown; title?: unknown };
    return shown(String(detail ?? title ?? ''));
  } catch {
    // It need not be JSON.
    return shown(text.slice(0, 200));
  }
}

/** Why there is no answer, as the end of a sentence. */
export function reasonOf(error: unknown): string {
  const { code, message } = ((error as Error).cause ?? {}) as NodeJS.ErrnoException;
  const isUnknown = code !== undefined && unknownIssuers.test(code);
  const hint = isUnknown ? ' (NODE_EXTRA_CA_CERTS=FILE names the certificate of its authority)' : '';
  return `${message || (error as Error).message}${hint}`;
}

/** OpenSSL's codes for a certificate whose issuer is not trusted. */
const unknownIssuers = /^UNABLE_TO_(?:VERIFY_LEAF_SIGNATURE|GET_ISSUER_CERT(?:_LOCALLY)?)$|SELF_SIGNED_CERT/;
