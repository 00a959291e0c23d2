/** Rule 24.3: the stateless revision of the protocol, with the client of `@modelcontextprotocol/client`. */
import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client';
import { expect } from 'chai';
import { type AgentStorage, startAgentStorage } from '../support/agents.js';

describe('Agents under the stateless revision (rule 24.3)', function () {
  this.timeout(60_000);
  let s: AgentStorage;
  before(async () => {
    s = await startAgentStorage();
  });
  after(() => s.server.stop());

  for (const [mode, revision] of [
    [undefined, '2025-11-25'],
    ['auto', '2026-07-28'],
  ] as const)
    it(`negotiates ${revision}, and lists and calls tools and reads resources`, async () => {
      const client = new Client(
        { name: 'spec', version: '1' },
        mode === undefined ? {} : { versionNegotiation: { mode } },
      );
      const headers = { Authorization: `Bearer ${s.token}` };
      await client.connect(
        new StreamableHTTPClientTransport(new URL(`${s.root}.lws/mcp`), { requestInit: { headers } }),
      );
      expect(client.getNegotiatedProtocolVersion()).to.equal(revision);
      expect(client.getServerVersion()?.name).to.equal('quadpod');
      const { tools } = await client.listTools();
      expect(tools.map(({ name }) => name)).to.include.members(['read', 'write', 'sparql', 'query_labels']);
      const { content } = await client.callTool({ name: 'sparql', arguments: { query: 'ASK { ?s ?p ?o }' } });
      expect(content).to.deep.equal([{ type: 'text', text: 'true\n' }]);
      const { contents } = await client.readResource({ uri: `${s.root}vocabularies/foaf` });
      expect(contents[0]!.mimeType).to.equal('text/turtle');
      expect((await client.listResources()).resources.length).to.equal(3);
      expect((await client.listResourceTemplates()).resourceTemplates.length).to.equal(1);
      const failed = await client.callTool({ name: 'read', arguments: { iri: '/é' } });
      expect(failed.isError).to.equal(true);
      await client.close();
    });
});
