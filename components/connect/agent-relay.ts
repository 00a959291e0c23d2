/** `quadpod connect URL --mcp`: relays messages of the Model Context Protocol between standard input, output and a storage. */
import { createInterface } from 'node:readline';
import type { Readable, Writable } from 'node:stream';
import { text as wholeText } from 'node:stream/consumers';
import { detailOf } from '../../lib/component/commands.js';
import { CommandError } from '../../lib/tools/errors.js';
import { isObject } from '../../lib/tools/json/exact-json.js';
import { jsonOf } from '../../lib/tools/json/json.js';
import { OutboundError } from '../../lib/tools/outbound/outbound-error.js';
import type { Session } from './session.js';

/** Relays lines until the input ends. Each line is a message. Responses are written in the order in which they arrive. */
export async function relayAgent(session: Session, input: Readable, output: Writable): Promise<void> {
  const { agents } = session.place;
  if (agents === undefined)
    throw new CommandError(`${session.place.storage} offers no tools to agents (lws.agents.enabled).`);
  const relay = new Relay(session, new URL(agents).pathname);
  const running = new Set<Promise<void>>();
  for await (const line of createInterface({ input, crlfDelay: Number.POSITIVE_INFINITY })) {
    if (line.trim() === '') continue;
    const work = relay.answer(line).then((answer) => {
      if (answer !== undefined) output.write(`${answer}\n`);
      running.delete(work);
    });
    running.add(work);
    if (running.size >= maxRunning) await Promise.race(running);
  }
  await Promise.all(running);
}

/** Maximum messages that are relayed concurrently. */
const maxRunning = 8;

type Members = Readonly<Record<string, unknown>>;
const membersOf = (value: unknown): Members => (isObject(value) ? value : {});

class Relay {
  /** Protocol revision that the handshake selected. */
  private revision: string | undefined;

  constructor(
    private readonly session: Session,
    private readonly path: string,
  ) {}

  /** Sends a message. Returns the response, an error message if there is none, or `undefined` for a notification. */
  async answer(line: string): Promise<string | undefined> {
    const message = membersOf(jsonOf(line));
    try {
      const body = [Buffer.from(line)];
      const answer = await this.session.send({
        method: 'POST',
        path: this.path,
        headers: this.fieldsOf(message),
        body,
      });
      const isMessage = String(answer.headers['content-type']).startsWith('application/json');
      if (!isMessage && answer.status >= 400) throw new CommandError(await detailOf(answer));
      const text = await wholeText(answer.body);
      if (!isMessage) return undefined;
      const { protocolVersion } = membersOf(membersOf(jsonOf(text))['result']);
      if (message['method'] === 'initialize' && typeof protocolVersion === 'string') this.revision = protocolVersion;
      return text;
    } catch (error) {
      if (!(error instanceof CommandError || error instanceof OutboundError)) throw error;
      if (message['id'] === undefined) return undefined;
      return JSON.stringify({ jsonrpc: '2.0', id: message['id'], error: { code: -32603, message: error.message } });
    }
  }

  /** Returns the header fields of the HTTP transport, which repeat parts of the message. */
  private fieldsOf({ method, params }: Members): Record<string, string> {
    const { _meta, name, uri } = membersOf(params);
    const revision = membersOf(_meta)['io.modelcontextprotocol/protocolVersion'] ?? this.revision;
    const target = method === 'tools/call' ? name : method === 'resources/read' ? uri : undefined;
    return {
      'content-type': 'application/json',
      accept: 'application/json, text/event-stream',
      ...(typeof method === 'string' && { 'mcp-method': fieldValue(method) }),
      ...(typeof target === 'string' && { 'mcp-name': fieldValue(target) }),
      ...(typeof revision === 'string' && method !== 'initialize' && { 'mcp-protocol-version': fieldValue(revision) }),
    };
  }
}

/** Returns a text as the value of a header field. A text with characters that a field cannot contain is encoded in base64. */
const fieldValue = (text: string): string =>
  /^[!-~]*$/.test(text) && !text.startsWith('=?') ? text : `=?base64?${Buffer.from(text).toString('base64')}?=`;
