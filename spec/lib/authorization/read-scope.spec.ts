/** Readable resources of a caller as ranges: the cost of hidden ACLs arises once for each state of them, not in each search (rule 4.3). */
import { expect } from 'chai';
import { aclKey } from '../../../lib/authorization/acl.js';
import { AclIndex } from '../../../lib/authorization/acl-index.js';
import type { View } from '../../../lib/authorization/authorizer.js';
import { WacModel } from '../../../lib/authorization/wac.js';
import { encodeGraph } from '../../../lib/storage/keys/quad-keys.js';
import type { ResourceRecord } from '../../../lib/storage/keys/records.js';
import { memoryStore, root } from '../../support/memory-store.js';
import { readRdf } from '../../support/rdf.js';
import { acl, agent, alice, anybody, bob, ownerRule, rule, turtleOf } from '../../support/wac.js';

describe('Read scope', () => {
  it('Rule 4.3: reads ACLs again only after one of them has changed, and groups each time', async () => {
    const { store, dispose } = await memoryStore();
    const index = await AclIndex.open(store);
    let looks = 0;
    const view: View = {
      record: () => ({ acl: true }) as ResourceRecord,
      entry: (key) => store.entry(key),
      derived: (key, parse) => {
        looks++;
        return store.derived(key, parse);
      },
      isTransaction: false,
    };
    const members = async (): Promise<ReadonlySet<string>> => new Set([bob.did]);
    const groups = { members, isRemote: () => false } as never;
    const model = new WacModel({ storage: root, view, index, groups, maxFetches: 8 });
    const set = async (iri: string, ...rules: string[]): Promise<void> => {
      const keys = encodeGraph(iri, await readRdf(turtleOf(...rules), 'text/turtle', iri));
      await store.transact((tx) => {
        index.stage(iri);
        tx.putEntry(aclKey(iri), JSON.stringify({ revision: 'r', modified: 0, prefixes: {}, keys }));
      });
    };
    const scopeOf = async (who: typeof alice): Promise<{ readonly scope: unknown; readonly looks: number }> => {
      looks = 0;
      const scope = await model.readScope({ principal: { subject: who.did } });
      return { scope, looks };
    };
    await set(root, ownerRule, rule('Read', anybody));
    for (let i = 0; i < 50; i++) await set(`${root}hidden${i}`, ownerRule);
    const first = await scopeOf(alice);
    expect(first.looks).to.be.above(50);
    expect(await scopeOf(alice)).to.deep.equal({ scope: first.scope, looks: 0 });
    expect((await scopeOf(bob)).looks).to.be.above(50);
    await set(`${root}hidden7`, ownerRule, rule('Read', agent(alice)));
    const second = await scopeOf(alice);
    expect(second.looks).to.be.above(50);
    expect(second.scope).not.to.deep.equal(first.scope);
    await set(
      `${root}hidden8`,
      `[] a <${acl}Authorization> ; <${acl}agentGroup> <urn:group> ; <${acl}mode> <${acl}Read> ; <${acl}accessTo> <> .`,
    );
    for (let at = 0; at < 2; at++) expect((await scopeOf(bob)).looks).to.be.above(50);
    await dispose();
  });
});
