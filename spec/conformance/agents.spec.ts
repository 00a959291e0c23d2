/** Chapter 24: agents over the Model Context Protocol, with the client of `@modelcontextprotocol/sdk`, on real vocabularies. */
import { join } from 'node:path';
import { expect } from 'chai';
import { readIdentity } from '../../lib/server/storage/owner-credential.js';
import { Agent, type AgentStorage, grantTo, post, startAgentStorage } from '../support/agents.js';
import { request } from '../support/http.js';
import { credential, ed25519Identity } from '../support/identity.js';
import { pathsOf } from '../support/places.js';

const skos = 'http://www.w3.org/2004/02/skos/core#';

for (const path of pathsOf('Agents'))
  describe(`Agents at ${path || '/'}`, function () {
    this.timeout(60_000);
    let s: AgentStorage;
    let agent: Agent;
    before(async () => {
      s = await startAgentStorage({}, path);
      agent = await Agent.connect(s.root, s.token);
    });
    after(() => s.server.stop());

    describe('Ten tasks of an agent (rules 24.4, 24.5, 24.8)', () => {
      it('finds the places that it can read', async () => {
        const { items } = await agent.json('list');
        expect((items as unknown as { id: string }[]).map(({ id }) => id.slice(s.root.length))).to.deep.equal([
          'notes/',
          'queries/',
          'vocabularies/',
        ]);
        const members = await agent.json('list', { iri: '/vocabularies/' });
        expect(members['totalItems']).to.equal(2);
      });

      it('learns classes and properties with counts, and those of one class', async () => {
        const table = await agent.text('schema');
        expect(table.split('\n')[0]).to.equal('?class\t?property\t?count\t?example\t?shape');
        expect(table).to.match(/<http:\/\/www\.w3\.org\/2002\/07\/owl#Class>\t\t\d+\t\S+\t/);
        expect(table).not.to.include('salary');
        const ofClass = await agent.text('schema', { class: 'http://www.w3.org/2002/07/owl#Class' });
        expect(ofClass).to.match(/<http:\/\/www\.w3\.org\/2000\/01\/rdf-schema#label>\t\d+\t"/);
        expect(ofClass).to.match(/\n\t\t\t<http[^>]+>\t/);
      });

      it('queries with SPARQL', async () => {
        const query = `SELECT ?p { ?p <http://www.w3.org/2000/01/rdf-schema#range> <${skos}Concept> } ORDER BY ?p`;
        expect(await agent.text('sparql', { query })).to.include(`<${skos}hasTopConcept>\n`);
        expect(await agent.text('sparql', { query: `ASK { <${skos}Concept> ?p ?o }` })).to.equal('true\n');
      });

      it('gets at most 200 rows, and is told that the result is cut off', async () => {
        for (const query of ['SELECT * { ?s ?p ?o }', 'CONSTRUCT { ?s ?p ?o } { ?s ?p ?o }']) {
          const { texts } = await agent.call('sparql', { query });
          expect(texts[0]!.split('\n').length).to.equal(query.startsWith('SELECT') ? 202 : 201);
          expect(texts[1]).to.include('cut off');
        }
        const { texts } = await agent.call('sparql', { query: 'SELECT * { ?s ?p ?o } LIMIT 200' });
        expect([texts.length, texts[0]!.split('\n').length]).to.deep.equal([1, 202]);
        const content = `<> <#p> ${[1, 2, 3].map((i) => `"${i}${'x'.repeat(60_000)}"`).join()} .`;
        await agent.json('write', { iri: '/notes/long', content });
        const query = `SELECT ?o { <${s.root}notes/long> <${s.root}notes/long#p> ?o }`;
        expect((await agent.call('sparql', { query })).texts.map(({ length }) => length > 60_000)).to.deep.equal([
          true,
          false,
        ]);
      });

      it('reads RDF as Turtle with its tag', async () => {
        const { texts } = await agent.call('read', { iri: `${s.root}vocabularies/skos#x` });
        const { etag } = (await request(`${s.root}vocabularies/skos`, { headers: s.owner })).headers;
        expect(JSON.parse(texts[0]!)).to.include({ mediaType: 'text/turtle', tag: etag!.replaceAll('"', '') });
        expect(texts[1]).to.include('Collection> a <http://www.w3.org/2002/07/owl#Class>');
      });

      it('creates a note, patches it and replaces it with the tag that it read', async () => {
        const iri = `${s.root}notes/ada`;
        const created = await agent.json('write', { iri, content: '<#me> <http://xmlns.com/foaf/0.1/name> "Ada" .' });
        expect(created).to.include({ iri, result: 'created' });
        const patch = 'INSERT DATA { <#me> <http://xmlns.com/foaf/0.1/age> 36 }';
        const patched = await agent.json('patch', { iri, patch, tag: created['tag'] });
        expect(patched['tag']).not.to.equal(created['tag']);
        const { texts } = await agent.call('read', { iri });
        expect(JSON.parse(texts[0]!).tag).to.equal(patched['tag']);
        expect(texts[1]).to.include('36');
        await agent.json('write', { iri, content: '<#me> a <#Person> .', tag: patched['tag'] });
        expect((await request(iri, { headers: s.owner })).text).to.include('#Person');
        await agent.json('write', { iri: `${s.root}notes/sub/` });
        const text = { content: '{"a":1}', media_type: 'application/json' };
        const { tag } = await agent.json('write', { iri: `${s.root}notes/sub/j`, ...text });
        const merge = { patch: '{"b":2}', media_type: 'application/merge-patch+json', tag };
        await agent.json('patch', { iri: `${s.root}notes/sub/j`, ...merge });
        expect((await agent.call('read', { iri: `${s.root}notes/sub/j` })).texts[1]).to.equal('{"a":1,"b":2}');
      });

      it('is told what to do if the tag is missing or outdated', async () => {
        const iri = `${s.root}notes/conflict`;
        const { tag } = await agent.json('write', { iri, content: '' });
        await agent.json('write', { iri, content: '<> a <#B> .', tag });
        expect(await agent.problem('write', { iri, content: '', tag })).to.deep.include({
          status: 412,
          detail: 'If-Match does not match the current ETag. Call read, and send the tag that it returns.',
        });
        expect((await agent.problem('write', { iri, content: '' })).status).to.equal(412);
        expect((await agent.problem('patch', { iri, patch: 'x' })).detail).to.include('The argument tag is required');
      });

      it('runs a stored query as a tool with parameters (rule 24.6)', async () => {
        const { tools } = await agent.client.listTools();
        const tool = tools.find(({ name }) => name === 'query_labels')!;
        expect(tool.description).to.include('Labels of the terms of a vocabulary.');
        expect(Object.keys(tool.inputSchema.properties!)).to.deep.equal(['vocabulary']);
        const table = await agent.text('query_labels', { vocabulary: `<${s.root}vocabularies/foaf>` });
        expect(table).to.include('http://xmlns.com/foaf/0.1/');
        expect(table.split('\n').length).to.equal(7);
      });

      it('requests access, and checks what it may do (rules 24.7, 24.9)', async () => {
        const iri = `${s.root}private/`;
        const asked = await agent.json('request_access', { iri, actions: ['read'], reason: 'To sum up salaries.' });
        const { text } = await request(asked['request']!, { headers: s.owner });
        expect(JSON.parse(text)).to.deep.include({ message: 'To sum up salaries.' });
        expect(JSON.parse(text).access[0].assignee).to.equal(s.agent.did);
        const may = async (method: string, name: string): Promise<unknown> =>
          (await agent.json('explain', { method, iri: s.root + name }))['allowed'];
        expect(await may('GET', 'vocabularies/skos')).to.equal(true);
        expect(await may('PUT', 'vocabularies/skos')).to.equal(false);
        expect(await may('PUT', 'notes/new')).to.equal(true);
        expect(await may('PUT', 'vocabularies/new')).to.equal(false);
      });

      it('lists and reads resources by the methods of the protocol', async () => {
        const { resources } = await agent.client.listResources();
        expect(resources.map(({ uri }) => uri)).to.include(`${s.root}vocabularies/`);
        const { contents } = await agent.client.readResource({ uri: `${s.root}vocabularies/foaf` });
        expect(contents[0]).to.include({ mimeType: 'text/turtle' });
        for (const [name, type, said] of [
          ['large', 'text/plain', 'Only the first 100000 bytes'],
          ['image', 'image/png', 'The content is not text: 200000 bytes.'],
        ] as const) {
          const uri = `${s.root}notes/${name}`;
          const headers = { ...s.owner, 'Content-Type': type };
          await request(uri, { method: 'PUT', headers, body: 'é'.repeat(100_000) });
          const { texts } = await agent.call('read', { iri: uri });
          expect(JSON.parse(texts[0]!).note).to.include(said);
          expect(texts[1]).to.equal(name === 'large' ? 'é'.repeat(50_000) : undefined);
          const refused = await agent.client.readResource({ uri }).catch((error: Error) => error.message);
          expect(refused).to.include(said);
        }
        const { resourceTemplates } = await agent.client.listResourceTemplates();
        expect(resourceTemplates[0]!.uriTemplate).to.equal(`${s.root}{+path}`);
      });
    });

    it('fails outside of its grant (rule 24.4)', async () => {
      const { texts } = await agent.call('read', { iri: `${s.root}vocabularies/skos` });
      const { tag } = JSON.parse(texts[0]!) as { tag: string };
      const insert = 'INSERT DATA { <> a <> }';
      const attempts: readonly (readonly [tool: string, given: Record<string, unknown>, status: number])[] = [
        ['read', { iri: `${s.root}private/salary` }, 404],
        ['read', { iri: `${s.root}private/salary.meta` }, 404],
        ['list', { iri: `${s.root}private/` }, 404],
        ['list', { iri: s.root }, 404],
        ['write', { iri: `${s.root}private/b`, content: '' }, 404],
        ['write', { iri: `${s.root}c`, content: '' }, 404],
        ['write', { iri: `${s.root}vocabularies/new`, content: '' }, 403],
        ['write', { iri: `${s.root}vocabularies/skos`, content: '', tag }, 403],
        ['patch', { iri: `${s.root}vocabularies/skos`, patch: insert, tag }, 403],
        ['patch', { iri: `${s.root}private/salary`, patch: insert, tag }, 404],
        ['read', { iri: `${s.root}.lws/agents` }, 404],
        ['write', { iri: `${s.root}notes/a.acl`, content: '' }, 409],
        ['read', { iri: 'https://example.org/' }, 400],
        ['sparql', { query: 'DROP ALL' }, 400],
      ];
      for (const [tool, given, status] of attempts)
        expect((await agent.problem(tool, given)).status, `${tool} ${JSON.stringify(given)}`).to.equal(status);
      const query = `SELECT * { GRAPH <${s.root}private/salary> { ?s ?p ?o } }`;
      expect(await agent.text('sparql', { query })).to.equal('?s\t?p\t?o\n');
      expect((await request(`${s.root}private/salary`, { headers: s.owner })).text).to.include('100');
    });

    it('answers alike for hidden and absent resources through each tool (rules 24.4, 24.9)', async () => {
      const pairs = ['salary', 'salary.meta', 'new', ''].map(
        (name) => [`private/${name}`, `xrivate/${name}`] as [string, string],
      );
      pairs.push(['private/salary', 'private/xalary']);
      const stranger = credential(ed25519Identity(), { aud: s.root.slice(0, -1) });
      for (const caller of [agent, await Agent.connect(s.root), await Agent.connect(s.root, stranger)])
        for (const pair of pairs) await expectAlike(caller, s.root, pair);
    });

    it('gives anonymous callers what they have over HTTP', async () => {
      const anonymous = await Agent.connect(s.root);
      expect((await anonymous.problem('read', { iri: `${s.root}private/salary` })).status).to.equal(401);
      expect((await anonymous.problem('list')).status).to.equal(401);
      expect(await anonymous.text('sparql', { query: 'SELECT * { ?s ?p ?o }' })).to.equal('?s\t?p\t?o\n');
      const { tools } = await anonymous.client.listTools();
      expect(tools.map(({ name }) => name)).not.to.include('query_labels');
    });

    it('ends with its grant', async () => {
      const other = ed25519Identity();
      const late = await Agent.connect(s.root, credential(other, { aud: s.root.slice(0, -1) }));
      const iri = `${s.root}private/salary`;
      const grant = await grantTo(s, other, ['read'], 'private/');
      expect(await late.text('sparql', { query: `ASK { <${iri}#me> ?p ?o }` })).to.equal('true\n');
      expect((await late.call('read', { iri })).texts[1]).to.include('100');
      expect((await request(grant, { method: 'DELETE', headers: s.owner })).status).to.equal(204);
      expect((await late.problem('read', { iri })).status).to.equal(404);
      expect(await late.text('sparql', { query: `ASK { <${iri}#me> ?p ?o }` })).to.equal('false\n');
    });

    it('shows controllers what agents called, and logs the tool with its decision (rule 24.10)', async () => {
      await agent.problem('read', { iri: `${s.root}private/salary` });
      await agent.call('write', { iri: `${s.root}notes/logged`, content: '' });
      const line = s.server.log.filter((each) => each['tool'] === 'write').at(-1)!;
      expect(line).to.include({ mode: 'append', granted: true, subject: s.agent.did, iri: `${s.root}notes/logged` });
      expect(s.server.log.find((each) => each['tool'] === 'read' && each['code'] === 'not-found')).to.not.equal(
        undefined,
      );
      const { text } = await request(`${s.root}.lws/agents`, { headers: s.owner });
      const { callers } = JSON.parse(text) as { callers: { subject: string; calls: number; tool: string }[] };
      expect(callers.find(({ subject }) => subject === s.agent.did)).to.include({ tool: 'write' });
      // The agent of this storage, and the one whose grant was deleted.
      expect(callers.length).to.equal(2);
      const refused = await request(`${s.root}.lws/agents`, { headers: { Authorization: `Bearer ${s.token}` } });
      expect(refused.status).to.equal(404);
    });

    it('is in the storage description, and speaks the handshake by hand (rules 24.1, 24.3)', async () => {
      const { text } = await request(s.root, { headers: { Accept: 'application/lws+cid' } });
      const { service } = JSON.parse(text) as { service: { type: string; serviceEndpoint: string }[] };
      expect(
        service.find(({ type }) => type === 'https://www.w3.org/ns/lws#ModelContextProtocolService')?.serviceEndpoint,
      ).to.equal(`${s.root}.lws/mcp`);
      const params = { protocolVersion: '2025-06-18', capabilities: {}, clientInfo: { name: 'x', version: '1' } };
      const answer = await post(s.root, { jsonrpc: '2.0', id: 1, method: 'initialize', params });
      expect([answer.status, answer.headers['content-type']]).to.deep.equal([200, 'application/json']);
      expect(JSON.parse(answer.text)).to.deep.include({ jsonrpc: '2.0', id: 1 });
      expect(JSON.parse(answer.text).result.protocolVersion).to.equal('2025-06-18');
    });
  });

/** Calls of every tool that names a resource. */
const calls: Readonly<Record<string, Record<string, unknown>>> = {
  read: {},
  list: {},
  'write without tag': { content: '' },
  'write with tag': { content: '', tag: 'x' },
  'write container': {},
  patch: { patch: 'INSERT DATA { <> a <> }', tag: 'x' },
  'explain GET': { method: 'GET' },
  'explain POST': { method: 'POST' },
  'explain PUT': { method: 'PUT' },
  'explain PATCH': { method: 'PATCH' },
  'explain DELETE': { method: 'DELETE' },
  request_access: { actions: ['read'], reason: 'x' },
};

/** Asserts that no tool tells a hidden resource from an absent one. */
async function expectAlike(
  caller: Agent,
  root: string,
  pair: readonly [hidden: string, absent: string],
): Promise<void> {
  const alike = async (call: string, given: (iri: string) => Record<string, unknown>): Promise<void> => {
    const answers = await Promise.all(
      pair.map(async (name) => {
        const { isError, texts } = await caller.call(call.split(' ')[0]!, given(root + name));
        const text = texts.join('\n').replaceAll('/xalary', '/salary').replaceAll('/xrivate', '/private');
        return `${isError} ${text.replace(/access-requests\/[\w-]+/, '')}`;
      }),
    );
    expect(answers[0], `${call} ${pair[0]}`).to.equal(answers[1]);
  };
  for (const [call, given] of Object.entries(calls)) await alike(call, (iri) => ({ ...given, iri }));
  await alike('sparql', (iri) => ({
    query: `SELECT ?p { { <${iri}#me> ?p ?o } UNION { GRAPH <${iri}> { ?s ?p ?o } } }`,
  }));
  await alike('schema', (iri) => ({ class: `${iri}#C` }));
}

describe('Agents with Web Access Control (rules 24.4, 24.9)', function () {
  this.timeout(60_000);
  let s: AgentStorage;
  before(async () => {
    s = await startAgentStorage({ 'access-control': 'wac' });
    const { did: ownerDid } = readIdentity(join(s.server.dataDir, 'owner.key'));
    const acl = (name: string, ...agents: readonly string[]): string =>
      `@prefix acl: <http://www.w3.org/ns/auth/acl#> .
       <#owner> a acl:Authorization ; acl:agent <${ownerDid}> ; acl:accessTo <${s.root}${name}> ;
         acl:default <${s.root}${name}> ; acl:mode acl:Read, acl:Write, acl:Control .
       ${agents.map((did) => `<#agent> a acl:Authorization ; acl:agent <${did}> ; acl:accessTo <${s.root}${name}> ; acl:default <${s.root}${name}> ; acl:mode acl:Read .`).join('')}`;
    const put = async (name: string, body: string): Promise<void> => {
      const headers = { ...s.owner, 'Content-Type': 'text/turtle' };
      expect((await request(s.root + name, { method: 'PUT', headers, body })).status).to.equal(201);
    };
    await put('private/.acl', acl('private/', s.agent.did));
    await put('private/salary.acl', acl('private/salary'));
  });
  after(() => s.server.stop());

  it('answers alike for a hidden and an absent member of a container that the agent can read', async () => {
    const agent = await Agent.connect(s.root, s.token);
    expect((await agent.json('list', { iri: '/private/' }))['totalItems']).to.equal(0);
    await expectAlike(agent, s.root, ['private/salary', 'private/xalary']);
  });
});

describe('Agents with text search and shapes (rule 24.12)', function () {
  this.timeout(60_000);
  let s: AgentStorage;
  let agent: Agent;
  before(async () => {
    s = await startAgentStorage({ 'text-search.enabled': 'true', 'shapes.enabled': 'true' });
    const put = async (name: string, type: string, body: string, fields = {}): Promise<void> => {
      const headers = { ...s.owner, 'Content-Type': type, ...fields };
      const { status, text } = await request(s.root + name, { method: 'PUT', headers, body });
      expect(status, text).to.be.oneOf([201, 204]);
    };
    await put(
      'vocabularies/shapes',
      'text/turtle',
      `@prefix sh: <http://www.w3.org/ns/shacl#> . <#N> a sh:NodeShape ; sh:targetClass <https://example.org/Note> ;
         sh:property [ sh:path <https://example.org/text> ; sh:minCount 1 ] .`,
    );
    const links = { 'http://www.w3.org/ns/ldp#constrainedBy': [{ href: `${s.root}vocabularies/shapes` }] };
    const linkset = JSON.stringify({ linkset: [{ anchor: `${s.root}notes/`, ...links }] });
    await put('notes/.meta', 'application/linkset+json', linkset, { 'If-Match': '*' });
    await put('private/words', 'text/turtle', '<#me> <https://example.org/text> "a quagga and concepts" .');
    agent = await Agent.connect(s.root, s.token);
  });
  after(() => s.server.stop());

  it('search finds what the agent can read, and nothing else', async () => {
    const found = await agent.json('search', { words: '"concept scheme"', in: `${s.root}vocabularies/` });
    expect((found['items'] as unknown as { id: string }[]).map(({ id }) => id)).to.include(
      `${s.root}vocabularies/skos`,
    );
    expect((await agent.json('search', { words: 'quagga' }))['totalItems']).to.equal(0);
    for (const given of [{ words: '' }, { words: '"open' }, { words: 'x', page: 400 }, { words: 'x', in: 'y' }])
      expect((await agent.call('search', given)).isError, JSON.stringify(given)).to.equal(true);
  });

  it('validate checks data against the shapes without writing it', async () => {
    const iri = `${s.root}notes/new`;
    const note = (properties: string): string => `<#it> a <https://example.org/Note> ${properties} .`;
    expect(await agent.json('validate', { iri, content: note('') })).to.include({ isAccepted: false });
    const good = note('; <https://example.org/text> "x"');
    expect(await agent.json('validate', { iri, content: good })).to.include({ isAccepted: true });
    expect((await agent.call('read', { iri })).isError).to.equal(true);
    for (const given of [
      { iri, content: 'not Turtle' },
      { iri: `${s.root}private/new`, content: good },
      { iri: `${s.root}private/salary`, content: good },
    ])
      expect((await agent.call('validate', given)).isError, given.iri).to.equal(true);
    expect((await agent.call('write', { iri, content: note('') })).isError).to.equal(true);
    expect((await agent.call('write', { iri, content: good })).isError).not.to.equal(true);
  });
});

describe('Agents that may create without reading (rule 24.9)', function () {
  this.timeout(60_000);

  it('learn nothing from explain about a POST, as over HTTP', async () => {
    const s = await startAgentStorage();
    try {
      for (const name of ['drop/', 'drop/salary'])
        await request(s.root + name, { method: 'PUT', headers: { ...s.owner, 'Content-Type': 'text/plain' } });
      await grantTo(s, s.agent, ['create'], 'drop/');
      const agent = await Agent.connect(s.root, s.token);
      const explained = (name: string) => agent.json('explain', { method: 'POST', iri: s.root + name });
      expect(await explained('drop/salary')).to.deep.equal(await explained('drop/absent'));
      expect(await explained('drop/')).to.include({ allowed: true });
    } finally {
      await s.server.stop();
    }
  });
});

describe('Stored queries as tools (rule 24.6)', () => {
  it('need a container', async () => {
    const error = await startAgentStorage({ 'sparql.endpoint.tools': 'queries' }).catch((reason: Error) => reason);
    expect((error as Error).message).to.include('not valid as the name of a container');
  });
});

describe('Agents, switched off (rule 24.1)', () => {
  it('has no endpoint and no advertisement', async () => {
    const s = await startAgentStorage({ 'agents.enabled': 'false' });
    try {
      expect((await post(s.root, {})).status).to.equal(401);
      const { text } = await request(s.root, { headers: { Accept: 'application/lws+cid' } });
      expect(text).not.to.include('ModelContextProtocol');
    } finally {
      await s.server.stop();
    }
  });
});
