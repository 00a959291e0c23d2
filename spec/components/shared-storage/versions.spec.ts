/** Versions in a storage behind several servers: equal on each, whichever wrote, changed and removed them (rules 19.1, 27.1, 27.6). */
import { expect } from 'chai';
import { credential } from '../../support/identity.js';
import { type Postgres, postgresFor } from '../../support/postgres.js';
import { until } from '../../support/until.js';
import { agent, alice, bob, owner, ownerRule, rule, turtleOf } from '../../support/wac.js';
import { Cluster, type ClusterServer } from './cluster.js';

const line = (at: number, value = at): string => `<#s${at % 50}> <http://p.example/p> ${value} .`;
const graphOf = (count: number): string => Array.from({ length: count }, (_, at) => line(at)).join('\n');
const withNodes = (value: number): string =>
  Array.from({ length: 30 }, (_, at) => `<#s${at}> <urn:has> [ <urn:n> ${at === 7 ? value : at} ; <urn:k> [] ] .`).join(
    '\n',
  );

describe('Versions in PostgreSQL with three servers', function () {
  this.timeout(120_000);
  let postgres: Postgres;
  let cluster: Cluster;
  let servers: readonly ClusterServer[];
  before(async function () {
    postgres = await postgresFor(this);
    const own = { 'dev.open': 'false', 'access-control': 'wac', owners: owner.did, 'versions.all': 'true' };
    cluster = await Cluster.start(3, { ...postgres.settings('versions'), ...own });
    servers = [...cluster.servers];
  });
  after(async () => {
    await cluster?.end();
    await postgres?.dispose();
  });
  const ask = (
    at: number,
    method: string,
    path: string,
    headers: Record<string, string> = {},
    body?: string,
    who = owner,
  ) =>
    servers[at % 3]!.ask(
      method,
      path,
      { Authorization: `Bearer ${credential(who, { aud: cluster.root.slice(0, -1) })}`, ...headers },
      body,
    );
  const write = async (at: number, path: string, body: string, type = 'text/turtle'): Promise<void> => {
    const exists = (await ask(at, 'HEAD', path)).status === 200;
    const method = type === 'application/sparql-update' ? 'PATCH' : 'PUT';
    const { status, text } = await ask(
      at,
      method,
      path,
      { 'Content-Type': type, ...(exists && { 'If-Match': '*' }) },
      body,
    );
    expect(status, text).to.be.oneOf([200, 201, 204]);
  };
  const lines = { Accept: 'application/n-triples' };
  const stateOn = async (at: number, path: string, who = owner): Promise<string[]> => {
    const { status, text } = await ask(at, 'GET', path, lines, undefined, who);
    return status === 200 ? text.trim().split('\n').sort() : [String(status)];
  };
  /** Lists on all servers, which are equal, and the states of the versions. */
  const historyOf = async (path: string, who = owner): Promise<string[][]> => {
    const lists = await Promise.all(servers.map((_, at) => ask(at, 'GET', `${path}?versions`, {}, undefined, who)));
    for (const list of lists) expect([list.status, list.text]).to.deep.equal([200, lists[0]!.text]);
    const { versions } = JSON.parse(lists[0]!.text) as { versions: { id: string }[] };
    const states: string[][] = [];
    for (const { id } of versions) {
      const each = await Promise.all(servers.map((_, at) => stateOn(at, `${path}?version=${id}`, who)));
      for (const state of each) expect(state).to.deep.equal(each[0]);
      states.push(each[0]!);
    }
    return states;
  };

  it('has equal versions of a large graph that one wrote, one changed, and one removed (rules 19.1, 27.1)', async () => {
    await write(0, 'large', graphOf(21_000));
    const states = [await stateOn(1, 'large')];
    await write(
      1,
      'large',
      `DELETE DATA { ${line(5)} } ; INSERT DATA { ${line(5, 800_000)} }`,
      'application/sparql-update',
    );
    states.unshift(await stateOn(2, 'large'));
    await write(2, 'large', graphOf(3));
    states.unshift(await stateOn(0, 'large'));
    // Also while another server removes the triples.
    for (let reads = 0; reads < 2; reads++) expect(await historyOf('large')).to.deep.equal(states);
    expect((await ask(1, 'DELETE', 'large')).status).to.equal(204);
    await until(async () => (await ask(0, 'GET', 'large')).status === 404);
    expect(await historyOf('large')).to.deep.equal(states);
  });

  it('has equal links of versions, whichever wrote them (rules 19.1, 27.2)', async () => {
    await write(0, 'linked', graphOf(3));
    for (const at of [0, 1, 2]) {
      await ask(
        at,
        'PATCH',
        'linked.meta',
        { 'Content-Type': 'application/merge-patch+json', 'If-Match': '*' },
        JSON.stringify({ license: [{ href: `urn:l:${at}` }] }),
      );
      if (at === 1) await write(2, 'linked', graphOf(4));
    }
    const { versions } = JSON.parse((await ask(1, 'GET', 'linked?versions')).text) as { versions: { id: string }[] };
    const linksOn = (at: number): Promise<(string | undefined)[]> =>
      Promise.all(
        versions.map(async ({ id }) => /urn:l:\d/.exec((await ask(at, 'GET', `linked.meta?version=${id}`)).text)?.[0]),
      );
    for (const at of [0, 1, 2])
      expect(await linksOn(at)).to.deep.equal(['urn:l:2', 'urn:l:1', 'urn:l:1', 'urn:l:0', undefined]);
  });

  it('keeps the labels of blank nodes over writes through different ones (rules 19.1, 27.1)', async () => {
    for (const value of [100, 101, 102]) await write(value, 'nodes', withNodes(value));
    const states = await historyOf('nodes');
    expect(states.length).to.equal(3);
    for (const [at, state] of states.slice(1).entries())
      expect(state.filter((each) => !states[at]!.includes(each)).length).to.equal(1);
  });

  it('dates the rules of lists alike, whichever writes a list or a state (rules 19.1, 27.6)', async () => {
    await write(0, 'dated', '<> <urn:n> 1 .');
    await write(1, 'dated.acl', turtleOf(ownerRule, rule('Read', agent(alice))));
    await write(2, 'dated', '<> <urn:n> 2 .');
    await write(0, 'dated.acl', turtleOf(ownerRule, rule('Read', agent(alice, bob))));
    await write(1, 'dated', '<> <urn:n> 3 .');
    const numbers = async (who = owner): Promise<unknown> =>
      (await historyOf('dated', who)).map((state) => Number(/"(\d)"/.exec(state[0]!)?.[1]));
    expect(await numbers()).to.deep.equal([3, 2, 1]);
    // The first state ended after the list gave access to one reader, and before it gave access to the other.
    expect(await numbers(alice)).to.deep.equal([3, 2, 1]);
    expect(await numbers(bob)).to.deep.equal([3, 2]);
  });
});
