/** Hostile messages of agents (rules 24.1, 24.2, 24.3, 24.10). */
import { expect } from 'chai';
import { type AgentStorage, post, startAgentStorage } from '../support/agents.js';
import type { Answer } from '../support/http.js';
import { request } from '../support/http.js';

const stateless = '2026-07-28';
const meta = (version: unknown = stateless): Record<string, unknown> => ({
  'io.modelcontextprotocol/protocolVersion': version,
  'io.modelcontextprotocol/clientCapabilities': {},
});
const codeOf = ({ status, text }: Answer): readonly unknown[] => {
  const { error, id } = JSON.parse(text) as { error?: { code: number }; id: unknown };
  return [status, error?.code, id];
};

describe('Hostile messages of agents', function () {
  this.timeout(60_000);
  let s: AgentStorage;
  let by: Record<string, string>;
  before(async () => {
    s = await startAgentStorage({ 'agents.max-concurrent': '8' });
    by = { Authorization: `Bearer ${s.token}` };
  });
  after(() => s.server.stop());
  const ask = (message: unknown, headers: Record<string, string> = {}) => post(s.root, message, { ...by, ...headers });
  const list = { jsonrpc: '2.0', id: 1, method: 'tools/list' };

  it('rejects what is not a message, and answers with the id if it has one (rule 24.2)', async () => {
    const rejected: readonly (readonly [message: unknown, status: number, code: number, id: unknown])[] = [
      ['', 400, -32700, null],
      ['{', 400, -32700, null],
      ['"x"', 400, -32600, null],
      ['null', 400, -32600, null],
      [[], 400, -32600, null],
      [[list, list], 400, -32600, null],
      [{ ...list, jsonrpc: '1.0' }, 400, -32600, null],
      [{ ...list, id: null }, 400, -32600, null],
      [{ ...list, id: 1.5 }, 400, -32600, null],
      [{ ...list, id: {} }, 400, -32600, null],
      [{ ...list, id: 'x'.repeat(257) }, 400, -32600, null],
      [{ ...list, method: 5 }, 400, -32600, null],
      [{ ...list, params: [] }, 400, -32600, null],
      [{ jsonrpc: '2.0', id: 1, result: {} }, 400, -32600, null],
      [{ ...list, method: 'constructor' }, 200, -32601, 1],
      [{ ...list, method: '__proto__' }, 200, -32601, 1],
      [{ ...list, method: 'server/discover' }, 200, -32601, 1],
      [{ ...list, method: 'tools/call' }, 200, -32602, 1],
      [{ ...list, method: 'tools/call', params: { name: 'toString' } }, 200, -32602, 1],
      [{ ...list, method: 'resources/read', params: { uri: 5 } }, 200, -32602, 1],
      ...['../..', { toString: 1 }, ['1'], 1].map(
        (cursor) => [{ ...list, method: 'resources/list', params: { cursor } }, 200, -32602, 1] as const,
      ),
    ];
    for (const [message, ...expected] of rejected)
      expect(codeOf(await ask(message)), JSON.stringify(message).slice(0, 80)).to.deep.equal(expected);
    expect(codeOf(await ask(`${'['.repeat(100_000)}`))).to.deep.equal([400, -32700, null]);
    expect(codeOf(await ask({ ...list, params: { cursor: '1', x: JSON.parse('{"__proto__":{"a":1}}') } }))[0]).to.equal(
      200,
    );
  });

  it('bounds the size of a message and the number of its values (rule 24.1)', async () => {
    const long = { ...list, params: { text: 'x'.repeat(1 << 20) } };
    expect((await ask(long)).status).to.equal(413);
    expect((await ask({ ...list, params: { list: new Array(30_000).fill(0) } })).status).to.equal(413);
    expect((await ask(list, { 'Content-Type': 'text/plain' })).status).to.equal(415);
    expect((await ask(list, { Accept: 'text/html' })).status).to.equal(406);
    expect((await ask(list, { Authorization: 'Bearer x' })).status).to.equal(401);
  });

  it('has no other methods, and answers notifications with 202 (rule 24.1)', async () => {
    for (const method of ['GET', 'DELETE', 'PATCH'])
      expect((await request(`${s.root}.lws/mcp`, { method, headers: by })).status, method).to.equal(405);
    const { status, text } = await ask({ jsonrpc: '2.0', method: 'notifications/initialized' });
    expect([status, text]).to.deep.equal([202, '']);
    expect((await ask({ jsonrpc: '2.0', method: 'tools/call', params: { name: 'list' } })).status).to.equal(202);
  });

  it('rejects web pages of other origins (rule 24.1)', async () => {
    const { origin } = new URL(s.root);
    expect((await ask(list, { Origin: origin })).status).to.equal(200);
    for (const other of [
      'null',
      'https://evil.example',
      origin.replace('localhost', 'localhost.evil.example'),
      `${origin}0`,
    ])
      expect((await ask(list, { Origin: other })).status, other).to.equal(403);
  });

  it('rejects unknown revisions and fields that differ from the body (rule 24.3)', async () => {
    const modern = { ...list, params: { _meta: meta() } };
    const fields = { 'MCP-Protocol-Version': stateless, 'Mcp-Method': 'tools/list' };
    expect((await ask(modern, fields)).status).to.equal(200);
    const { 'Mcp-Method': _method, ...unnamed } = fields;
    const rejected: readonly (readonly [message: unknown, headers: Record<string, string>, code: number])[] = [
      [list, { 'MCP-Protocol-Version': '1999-01-01' }, -32022],
      [{ ...list, params: { _meta: meta('2099-01-01') } }, fields, -32022],
      [{ ...list, params: { _meta: meta('2025-11-25') } }, fields, -32022],
      [{ ...list, params: { _meta: meta(5) } }, fields, -32022],
      [list, fields, -32602],
      [
        { ...list, params: { _meta: { ...meta(), 'io.modelcontextprotocol/clientCapabilities': 'x' } } },
        fields,
        -32602,
      ],
      [modern, {}, -32020],
      [modern, unnamed, -32020],
      [modern, { ...fields, 'MCP-Protocol-Version': '2025-11-25' }, -32020],
      [modern, { ...fields, 'Mcp-Method': 'ping' }, -32020],
    ];
    for (const [message, headers, code] of rejected)
      expect(codeOf(await ask(message, headers)), JSON.stringify([message, headers])).to.deep.equal([400, code, 1]);
    const call = { ...modern, method: 'tools/call', params: { name: 'list', _meta: meta() } };
    const named = { ...fields, 'Mcp-Method': 'tools/call' };
    expect(codeOf(await ask(call, named))).to.deep.equal([400, -32020, 1]);
    expect(codeOf(await ask(call, { ...named, 'Mcp-Name': 'read' }))).to.deep.equal([400, -32020, 1]);
    expect((await ask(call, { ...named, 'Mcp-Name': `=?base64?${btoa('list')}?=` })).status).to.equal(200);
    for (const method of ['ping', 'initialize'])
      expect(codeOf(await ask({ ...modern, method }, { ...fields, 'Mcp-Method': method }))).to.deep.equal([
        404, -32601, 1,
      ]);
  });

  it('names arguments that are unknown, missing or of another type (rule 24.4)', async () => {
    const problem = async (name: string, given: unknown): Promise<string> => {
      const { text } = await ask({ ...list, method: 'tools/call', params: { name, arguments: given } });
      const { result } = JSON.parse(text) as { result: { isError: boolean; content: { text: string }[] } };
      expect(result.isError, text).to.equal(true);
      return JSON.parse(result.content[0]!.text).detail;
    };
    expect(await problem('read', [])).to.include('must be a JSON object');
    expect(await problem('read', { iri: '/a', depth: 1 })).to.include('"depth" is not an argument of read');
    expect(await problem('read', JSON.parse('{"iri":"/a","__proto__":1}'))).to.include(
      '"__proto__" is not an argument',
    );
    expect(await problem('read', {})).to.include('The argument iri is required');
    expect(await problem('read', { iri: 5 })).to.equal('The argument iri must be a string.');
    expect(await problem('read', { iri: `/${'a'.repeat(6_000)}` })).to.include('at most 5000 characters');
    expect(await problem('read', { iri: '/a?run' })).to.include('without "?"');
    expect(await problem('read', { iri: '/a/../b' })).to.include('".."');
    expect(await problem('list', { page: 0 })).to.include('an integer from 1');
    expect(await problem('list', { page: 1.5 })).to.include('an integer from 1');
    expect(await problem('explain', { iri: '/a', method: 'TRACE' })).to.include('one of GET, POST');
    const access = { iri: '/a', reason: 'x' };
    expect(await problem('request_access', { ...access, actions: ['read', 5] })).to.include(
      'an array of strings among',
    );
    expect(await problem('request_access', { ...access, actions: [] })).to.include('action');
    expect(await problem('write', { iri: '/notes/a', content: '', media_type: 'x\r\ny: z' })).to.include('media type');
    expect(await problem('sparql', { query: 'x'.repeat(70_000) })).to.include('longer than 65536 bytes');
    expect(await problem('schema', { class: 'a> } DROP ALL' })).to.include('absolute IRI');
  });

  it('bounds concurrent calls, and serves others meanwhile (rule 24.10)', async () => {
    const slow = 'SELECT (COUNT(*) AS ?n) { ?a ?p ?b . ?c ?q ?d . ?e ?r ?f FILTER(?a != ?f) }';
    const call = { ...list, method: 'tools/call', params: { name: 'sparql', arguments: { query: slow } } };
    // A busy machine can reset some of the connections.
    const reset = (error: NodeJS.ErrnoException): Pick<Answer, 'status' | 'text'> => {
      if (error.code !== 'ECONNRESET') throw error;
      return { status: 503, text: '' };
    };
    const attack = Array.from({ length: 1_000 }, () => ask(call).catch(reset));
    const other = await request(`${s.root}vocabularies/foaf`, { headers: s.owner });
    expect(other.status).to.equal(200);
    const answers = await Promise.all(attack);
    const ended = answers.filter(({ status }) => status === 200);
    expect(answers.filter(({ status }) => status === 503).length + ended.length).to.equal(1_000);
    expect(ended.length).to.be.within(1, 100);
    for (const { text } of ended) expect(text).to.include('time limit of 5 seconds (a fixed limit of tools)');
    expect((await ask(list)).status).to.equal(200);
  });
});
