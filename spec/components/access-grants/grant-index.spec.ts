/** Members of a container that grants make readable, without a decision on each. */
import { expect } from 'chai';
import { GrantIndex } from '../../../components/access-grants/grant-index.js';
import type { BaseModel } from '../../../lib/authorization/authorizer.js';
import { type IriRange, only, subtree } from '../../../lib/storage/keys/iri-ranges.js';

const root = 'http://spec.example/';
const container = `${root}c/`;
const subject = 'https://alice.example/#me';
const base = { decide: () => ({ allowed: true, rule: '' }) } as unknown as BaseModel;
const ofType = { leftOperand: 'type', operator: 'eq', rightOperand: 'http://types.example/a' };
const never = { leftOperand: 'dateTime', operator: 'lt', rightOperand: '2000-01-01T00:00:00Z' };

interface Given {
  readonly target: string;
  readonly type?: string;
  readonly action?: string;
  readonly constraint?: readonly object[];
}

/** Returns the ranges with members of the container that grants to the caller add. */
async function added(...grants: readonly Given[]): Promise<readonly IriRange[] | 'decide' | undefined> {
  const index = new GrantIndex({ rootIri: root, clock: Date.now, store: {} } as never);
  for (const [at, { target, type = 'StorageResource', action = 'read', constraint = [] }] of grants.entries()) {
    const access = [{ action, assignee: subject, target: { type, value: target }, constraint }];
    index.add({ document: { id: `${root}grants/${at}`, access }, creator: 'https://owner.example/' } as never);
  }
  return index.readRanges({ principal: { subject } }, base, container);
}

describe('Grant index', () => {
  it('returns the members that are targets', async () => {
    const member = `${container}a`;
    expect(await added({ target: member })).to.deep.equal([only(member)]);
    expect(await added({ target: `${container}d/` })).to.deep.equal([subtree(`${container}d/`)]);
    expect(await added({ target: `${container}d/`, constraint: [ofType] })).to.equal('decide');
    expect(await added({ target: member, action: 'modify' })).to.equal(undefined);
    expect(await added({ target: member, constraint: [never] })).to.equal(undefined);
  });

  it('ignores targets elsewhere, with conditions or without', async () => {
    for (const target of [`${root}a`, `${root}d/`, `${root}cc/`, `${container}d/a`, `${container}d/e/`])
      expect(await added({ target }, { target, constraint: [ofType] }), target).to.equal(undefined);
  });

  it('has all members decided if a grant on the container or above depends on each resource, unless another one covers them', async () => {
    for (const target of [root, container]) {
      expect(await added({ target, constraint: [ofType] })).to.equal('decide');
      expect(await added({ target, type: 'DataResource' })).to.equal('decide');
      expect(await added({ target, type: 'Container' })).to.deep.equal([subtree(target)]);
      expect(await added({ target, constraint: [ofType] }, { target: root })).to.deep.equal([subtree(root)]);
    }
    expect(await added({ target: root, constraint: [ofType] }, { target: container })).to.equal('decide');
  });
});
