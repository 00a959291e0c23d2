/**
 * JSON-RPC 2.0 messages of the Model Context Protocol, one per HTTP request (rules 24.2, 24.3): envelopes, revisions and header
 * fields. Contains no methods.
 */
import type { IncomingHttpHeaders } from 'node:http';
import { jsonReply, uncached } from '../../lib/http/json-reply.js';
import type { Reply } from '../../lib/http/reply.js';
import { LwsError } from '../../lib/tools/errors.js';
import { isObject } from '../../lib/tools/json/exact-json.js';
import { decodeUtf8, parseJson } from '../../lib/tools/json/json.js';

/** Revision without a handshake. Each request names it in `_meta`. */
export const statelessRevision = '2026-07-28';
/** Revisions that begin with `initialize`, latest first. */
export const handshakeRevisions = ['2025-11-25', '2025-06-18', '2025-03-26'] as const;

export const codes = {
  parse: -32700,
  request: -32600,
  method: -32601,
  params: -32602,
  fieldMismatch: -32020,
  revision: -32022,
} as const;

export type Members = Readonly<Record<string, unknown>>;

/** Protocol error of JSON-RPC. Errors of tools are returned as results instead. */
export class RpcError extends Error {
  /** @param details status of the HTTP response (default: 200), and additional members for the client */
  constructor(
    readonly code: number,
    message: string,
    readonly details: { readonly status?: number; readonly data?: Members } = {},
  ) {
    super(message);
  }
}

const asBad = { status: 400 } as const;

/** Request of a client. */
export interface Call {
  readonly method: string;
  readonly params: Members;
  /** True if the request uses `statelessRevision`. */
  readonly isStateless: boolean;
}

export interface Outcome {
  readonly result: Members;
  /** Additional fields for the log line. */
  readonly logged?: Members;
}

const maxValues = 20_000;
/** Maximum characters of a request id. */
const longestId = 256;

/** Parses a message, calls `run`, and returns the response. @throws errors of `run` except RpcError, LwsError `too-large` */
export async function answerMessage(
  bytes: Buffer,
  headers: IncomingHttpHeaders,
  run: (call: Call) => Promise<Outcome>,
): Promise<Reply> {
  let id: string | number | null = null;
  try {
    const message = messageOf(bytes);
    if (message.id !== undefined) id = idOf(message.id);
    const call = callOf(message, id === null, headers);
    if (id === null) return { status: 202, fields: uncached };
    const { result, logged } = await run(call);
    const whole = call.isStateless ? { resultType: 'complete', ...result } : result;
    return { ...jsonReply(200, { jsonrpc: '2.0', id, result: whole }), ...(logged && { logged }) };
  } catch (error) {
    if (!(error instanceof RpcError)) throw error;
    const { code, message, details } = error;
    const { status = 200, data } = details;
    return jsonReply(status, { jsonrpc: '2.0', id, error: { code, message, ...(data && { data }) } });
  }
}

interface Message {
  readonly id: unknown;
  readonly method: string;
  readonly params: Members;
}

function messageOf(bytes: Buffer): Message {
  const value = jsonOf(bytes);
  if (Array.isArray(value)) throw new RpcError(codes.request, 'Batches are not supported. Send one message.', asBad);
  if (!isObject(value) || value['jsonrpc'] !== '2.0' || typeof value['method'] !== 'string')
    throw new RpcError(codes.request, 'The body must be a JSON-RPC 2.0 request or notification.', asBad);
  const { id, method, params = {} } = value;
  if (!isObject(params)) throw new RpcError(codes.request, 'The member params must be an object.', asBad);
  return { id, method, params };
}

function jsonOf(bytes: Buffer): unknown {
  try {
    return parseJson(decodeUtf8(bytes), maxValues);
  } catch (error) {
    if (!(error instanceof LwsError) || error.code !== 'malformed-body') throw error;
    throw new RpcError(codes.parse, error.message, asBad);
  }
}

function idOf(id: unknown): string | number {
  if (Number.isSafeInteger(id) || (typeof id === 'string' && id.length <= longestId)) return id as string | number;
  throw new RpcError(codes.request, `The id must be an integer or a string of at most ${longestId} characters.`, asBad);
}

const meta = 'io.modelcontextprotocol/';

/** Returns the call, after checking the protocol revision. For stateless notifications, the header field is enough. */
function callOf({ method, params }: Message, isNotification: boolean, headers: IncomingHttpHeaders): Call {
  const named = headers['mcp-protocol-version'];
  const own = isObject(params['_meta']) ? params['_meta'] : {};
  const claimed = own[`${meta}protocolVersion`];
  if (claimed === undefined && named !== statelessRevision) {
    if (named !== undefined && !handshakeRevisions.some((revision) => revision === named)) throw unsupported(named);
    return { method, params, isStateless: false };
  }
  const call = { method, params, isStateless: true };
  if (isNotification) return call;
  if (claimed !== undefined && claimed !== statelessRevision) throw unsupported(claimed);
  if (claimed === undefined || !isObject(own[`${meta}clientCapabilities`]))
    throw new RpcError(
      codes.params,
      `Revision ${statelessRevision} requires ${meta}protocolVersion and ${meta}clientCapabilities in params._meta.`,
      asBad,
    );
  assertField(headers, 'MCP-Protocol-Version', claimed);
  assertField(headers, 'Mcp-Method', method);
  const target = method === 'tools/call' ? params['name'] : method === 'resources/read' ? params['uri'] : undefined;
  if (typeof target === 'string') assertField(headers, 'Mcp-Name', target);
  return call;
}

function unsupported(requested: unknown): RpcError {
  const supported = [statelessRevision, ...handshakeRevisions];
  const data = { supported, ...(typeof requested === 'string' && { requested }) };
  return new RpcError(codes.revision, `The protocol revision is not supported. Use ${supported[0]}.`, {
    status: 400,
    data,
  });
}

/** Asserts that a header field equals the value in the body: proxies route and audit by header fields. */
function assertField(headers: IncomingHttpHeaders, name: string, expected: unknown): void {
  const value = String(headers[name.toLowerCase()] ?? '');
  const [, encoded] = /^=\?base64\?(.*)\?=$/.exec(value) ?? [];
  const given = encoded === undefined ? value : Buffer.from(encoded, 'base64').toString();
  if (given !== expected)
    throw new RpcError(codes.fieldMismatch, `The field ${name} is missing or differs from the body.`, asBad);
}
