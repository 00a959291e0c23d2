/** Agents: the client of `@modelcontextprotocol/sdk`, messages over HTTP, and a storage with real vocabularies and a grant. */
import { Client } from '@modelcontextprotocol/sdk/client/index.js';
import { StreamableHTTPClientTransport } from '@modelcontextprotocol/sdk/client/streamableHttp.js';
import { expect } from 'chai';
import { loadOntology } from '../real/ontologies.js';
import { type Answer, request } from './http.js';
import { credential, ed25519Identity, type Identity } from './identity.js';
import { type SpecServer, startSpecServer } from './server.js';

export interface ToolAnswer {
  readonly isError: boolean;
  readonly texts: readonly string[];
}

/** An agent, connected by the client of the SDK. */
export class Agent {
  private constructor(readonly client: Client) {}

  static async connect(root: string, token?: string): Promise<Agent> {
    const client = new Client({ name: 'spec', version: '1' });
    const headers = token === undefined ? {} : { Authorization: `Bearer ${token}` };
    const transport = new StreamableHTTPClientTransport(new URL(`${root}.lws/mcp`), { requestInit: { headers } });
    // Its optional properties are not declared for exactOptionalPropertyTypes.
    await client.connect(transport as Parameters<Client['connect']>[0]);
    return new Agent(client);
  }

  async call(name: string, given: Record<string, unknown> = {}): Promise<ToolAnswer> {
    const { content, isError = false } = await this.client.callTool({ name, arguments: given });
    return { isError: isError as boolean, texts: (content as { text: string }[]).map(({ text }) => text) };
  }

  /** Calls a tool, and returns its first text. @throws AssertionError if it fails */
  async text(name: string, given: Record<string, unknown> = {}): Promise<string> {
    const { isError, texts } = await this.call(name, given);
    expect(isError, texts.join('\n')).to.equal(false);
    return texts[0]!;
  }

  /** Same, as JSON. */
  async json(name: string, given: Record<string, unknown> = {}): Promise<Record<string, never>> {
    return JSON.parse(await this.text(name, given));
  }

  /** Calls a tool, and returns the problem. @throws AssertionError if it succeeds */
  async problem(name: string, given: Record<string, unknown> = {}): Promise<{ status: number; detail: string }> {
    const { isError, texts } = await this.call(name, given);
    expect(isError, texts.join('\n')).to.equal(true);
    return JSON.parse(texts[0]!);
  }
}

/** Posts a message as JSON. */
export const post = (root: string, message: unknown, headers: Record<string, string> = {}): Promise<Answer> =>
  request(`${root}.lws/mcp`, {
    method: 'POST',
    headers: { 'Content-Type': 'application/json', Accept: 'application/json, text/event-stream', ...headers },
    body: typeof message === 'string' ? message : JSON.stringify(message),
  });

export interface AgentStorage {
  readonly server: SpecServer;
  readonly root: string;
  /** Identity that can read /vocabularies/ and /queries/, and read and write /notes/. */
  readonly agent: Identity;
  readonly token: string;
  /** Fields of the owner. */
  readonly owner: Record<string, string>;
}

export const storedQuery = `# Labels of the terms of a vocabulary.
SELECT ?term ?label { GRAPH $vocabulary { ?term <http://www.w3.org/2000/01/rdf-schema#label> ?label } } ORDER BY ?term LIMIT 5`;

/** Starts a storage with vocabularies, notes, private data and a stored query, and grants an agent access to a part of it. */
export async function startAgentStorage(
  settings: Readonly<Record<string, string>> = {},
  path = '',
): Promise<AgentStorage> {
  const own = { 'agents.enabled': 'true', 'sparql.endpoint.tools': 'queries/', ...settings };
  const server = await startSpecServer({ settings: own, path, isSecure: false });
  const { root } = server;
  const owner = { Authorization: `Bearer ${server.ownerToken}` };
  const put = async (name: string, type?: string, body = ''): Promise<void> => {
    const headers = { ...owner, ...(type === undefined ? {} : { 'Content-Type': type }) };
    const { status, text } = await request(root + name, { method: 'PUT', headers, body });
    expect(status, text).to.equal(201);
  };
  for (const name of ['vocabularies/', 'notes/', 'private/', 'queries/']) await put(name);
  for (const name of ['skos', 'foaf'] as const)
    await put(`vocabularies/${name}`, 'application/n-triples', (await loadOntology(name)).nTriples);
  await put('private/salary', 'text/turtle', '<#me> <https://example.org/salary> 100 .');
  await put('queries/labels', 'application/sparql-query', storedQuery);
  const agent = ed25519Identity();
  const storage = { server, root, agent, token: credential(agent, { aud: root.slice(0, -1) }), owner };
  await grantTo(storage, agent, ['read'], 'vocabularies/', 'queries/');
  await grantTo(storage, agent, ['read', 'create', 'modify'], 'notes/');
  return storage;
}

/** Grants actions on resources by name. @returns the IRI of the grant */
export async function grantTo(
  { root, owner }: Pick<AgentStorage, 'root' | 'owner'>,
  { did: assignee }: Identity,
  action: readonly string[],
  ...names: readonly string[]
): Promise<string> {
  const target = { type: 'StorageResource', value: names.map((name) => root + name) };
  const access = [{ type: ['AccessPolicy'], action, assignee, target }];
  const { status, text } = await request(`${root}.lws/access-grants`, {
    method: 'POST',
    headers: { ...owner, 'Content-Type': 'application/lws+json' },
    body: JSON.stringify({ type: ['AccessGrant'], storage: root, access }),
  });
  expect(status, text).to.equal(201);
  return (JSON.parse(text) as { id: string }).id;
}
