/** Index of ACLs: it may list a deleted one, but never lacks an existing one, for any order of commits. */
import { expect } from 'chai';
import { aclKey } from '../../../lib/authorization/acl.js';
import { AclIndex } from '../../../lib/authorization/acl-index.js';
import { stageAcl } from '../../../lib/resources/acl-resource.js';
import type { ResourceRecord } from '../../../lib/storage/keys/records.js';
import type { Transaction } from '../../../lib/storage/transactions/transaction.js';
import { type MemoryStore, memoryStore, root } from '../../support/memory-store.js';

const document = { revision: 'r', modified: 0, prefixes: {}, keys: [] };
const record = (iri: string): ResourceRecord => ({
  iri,
  kind: 'container',
  mediaType: 'application/lws+json',
  size: 0,
  members: 0,
  revision: 'r',
  created: 0,
  modified: 0,
});

describe('ACL index', () => {
  let memory: MemoryStore;
  let index: AclIndex;
  beforeEach(async () => {
    memory = await memoryStore();
    index = await AclIndex.open(memory.store);
  });
  afterEach(() => memory.dispose());

  const write = (...iris: string[]): Promise<void> =>
    memory.store.transact((tx) => {
      for (const iri of iris) stageAcl(tx, index, tx.record(iri) ?? record(iri), document);
    });
  const erase = (iri: string) => (tx: Transaction) => tx.deleteEntry(aclKey(iri));
  const has = (iri: string): boolean => index.mayHave(iri);

  it('contains exactly the existing ACLs after it is opened', async () => {
    await write(root, `${root}a/`, `${root}a/x`);
    const reopened = await AclIndex.open(memory.store);
    expect(reopened.below('')).to.deep.equal([root, `${root}a/`, `${root}a/x`]);
    expect(reopened.mayHave(`${root}a`)).to.equal(false);
  });

  it('follows writes and deletions', async () => {
    await write(`${root}a/`);
    expect(has(`${root}a/`)).to.equal(true);
    await memory.store.transact(erase(`${root}a/`));
    expect(has(`${root}a/`)).to.equal(false);
    expect(index.below('')).to.deep.equal([]);
    await write(`${root}a/`);
    expect(has(`${root}a/`)).to.equal(true);
  });

  it('keeps an ACL that is written again while its deletion is being committed', async () => {
    await write(`${root}a/`);
    await Promise.all([memory.store.transact(erase(`${root}a/`)), write(`${root}a/`)]);
    expect(memory.store.entry(aclKey(`${root}a/`))).to.be.a('string');
    expect(has(`${root}a/`)).to.equal(true);
    expect(index.below(root, 10)).to.deep.equal([`${root}a/`]);
  });

  it('keeps an ACL that is written again in the transaction that deletes it', async () => {
    await write(`${root}a/`);
    await memory.store.transact((tx) => {
      erase(`${root}a/`)(tx);
      stageAcl(tx, index, record(`${root}a/`), document);
    });
    expect(has(`${root}a/`)).to.equal(true);
  });

  it('may list one whose transaction failed, and still has the earlier ones', async () => {
    await write(`${root}a/`);
    const failing = memory.store.transact((tx) => {
      erase(`${root}a/`)(tx);
      stageAcl(tx, index, record(`${root}b/`), document);
      throw new Error('refused');
    });
    await failing.catch(() => {});
    expect(has(`${root}a/`)).to.equal(true);
    expect(memory.store.entry(aclKey(`${root}b/`))).to.equal(undefined);
  });

  it('lists ACLs below a container for any names, up to a limit', async () => {
    const members = ['a', 'a-b', 'a!', 'a/', 'a0/', 'a.b/'].map((name) => root + name);
    const deeper = [`${root}a/x`, `${root}a/y/`, `${root}a/y/z`];
    await write(root, ...members, ...deeper);
    expect([...index.below(root, 100)]).to.deep.equal([...members, ...deeper].sort());
    expect(index.below(`${root}a/`, 100)).to.deep.equal(deeper);
    expect(index.below(`${root}a/y/`, 100)).to.deep.equal([`${root}a/y/z`]);
    expect(index.below(`${root}none/`, 100)).to.deep.equal([]);
    expect(index.below(root, 3)).to.have.lengthOf(4);
  });

  it('sorts a container before its descendants, and these before its siblings', async () => {
    await write(`${root}a0`, `${root}a/x`, `${root}a-b/`, `${root}a/`, `${root}a`, root);
    const names = ['', 'a', 'a-b/', 'a/', 'a/x', 'a0'];
    expect(index.below('')).to.deep.equal(names.map((name) => root + name));
  });

  it('does not list other entries', async () => {
    await memory.store.transact((tx) => tx.putEntry(`${aclKey(`${root}a/`).replace('acl', 'aclx')}`, 'x'));
    expect((await AclIndex.open(memory.store)).below('')).to.deep.equal([]);
  });
});
