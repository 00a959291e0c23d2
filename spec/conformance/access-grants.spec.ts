/** Rule 17.4: actions, targets, assignees and expiry of grants, in owner mode and with WAC. */
import { expect } from 'chai';
import { describeStorage, lws, type Sender, type StorageUnderTest } from '../support/conformance.js';
import { expectProblem } from '../support/expectations.js';
import { grant, paths, policy, publicAgentIri, revoke, tree } from '../support/grants.js';
import { found, indexed, uniqueIri } from '../support/search.js';
import { alice, as, bob, every, inWac, modesOf, owner } from '../support/wac.js';

const actions = ['read', 'create', 'modify', 'delete'];

function enforcement(s: StorageUnderTest): void {
  const modes = (iri: string, who: Sender = as(s, alice)): Promise<string> => modesOf(s, iri, who);
  /** Paths of a tree with full access, and their contents. */
  const reach = async (base: string, who?: Sender): Promise<Record<string, string>> => {
    const all = await Promise.all(paths.map(async (path) => [path, await modes(base + path, who)] as const));
    return Object.fromEntries(all.filter(([, held]) => held !== ''));
  };
  const during = async (policies: Parameters<typeof grant>[1], work: () => Promise<void>): Promise<void> => {
    const made = await grant(s, policies);
    try {
      await work();
    } finally {
      await revoke(s, made);
    }
  };

  const gives: Readonly<Record<string, readonly [data: string, container: string]>> = {
    read: ['read', 'read'],
    create: ['', 'append'],
    modify: ['write', 'write'],
    delete: ['delete', 'delete'],
  };
  for (const action of actions)
    it(`AccessGrant, rule 17.4: the action ${action} grants its mode and no other`, async () => {
      const base = await tree(s);
      await during(policy(alice, action, base), async () => {
        for (const path of paths)
          expect(await modes(base + path), path).to.equal(gives[action]![/(?:^|\/)$/.test(path) ? 1 : 0]);
        for (const who of [as(s, bob), s.stranger, 'anonymous'] as const)
          expect(await reach(base, who)).to.deep.equal({});
      });
      expect(await reach(base)).to.deep.equal({});
    });

  it('AccessGrant, rule 17.4: all actions together grant every mode but control', async () => {
    const base = await tree(s);
    await during(policy(alice, actions, base), async () => {
      for (const path of paths)
        expect(await modes(base + path), path).to.equal(every(base + path).replace(' control', ''));
    });
  });

  const targets: readonly (readonly [title: string, type: string, values: string[], expected: string[]])[] = [
    ['Container covers a container and all below', 'Container', ['d/'], ['d/', 'd/y', 'd/e/', 'd/e/z']],
    ['DataResource of a container covers the data resources below it', 'DataResource', ['d/'], ['d/y', 'd/e/z']],
    ['DataResource covers a data resource', 'DataResource', ['x'], ['x']],
    ['StorageResource covers a container and all below', 'StorageResource', ['d/'], ['d/', 'd/y', 'd/e/', 'd/e/z']],
    ['StorageResource covers a data resource', 'StorageResource', ['d/y'], ['d/y']],
    ['Container of a data resource covers nothing', 'Container', ['x'], []],
    ['several values are covered each', 'StorageResource', ['x', 'd/e/'], ['x', 'd/e/', 'd/e/z']],
    ['a container without its slash is none', 'StorageResource', ['d'], []],
    ['a data resource with a slash is none', 'StorageResource', ['x/'], []],
    ['a prefix of a name covers nothing', 'StorageResource', ['d/e', 'd'], []],
    ['a nonexistent target covers nothing else', 'StorageResource', ['none/', 'd/e/none'], []],
    ['a linkset or an ACL covers nothing', 'StorageResource', ['x.meta', 'x.acl', '.acl', 'd/.meta'], []],
    ['dots in a path lead nowhere', 'StorageResource', ['none/../d/', 'd/../x', './x', 'd/./y', '%64/'], []],
    ['a query or a fragment leads nowhere', 'StorageResource', ['x?', 'x#it', 'd/?page=1'], []],
  ];
  for (const [title, type, values, expected] of targets)
    it(`AccessGrant, rule 17.4: target ${title}`, async () => {
      const base = await tree(s);
      let made: string;
      try {
        made = await grant(
          s,
          policy(
            alice,
            'read',
            values.map((value) => base + value),
            type,
          ),
        );
      } catch (error) {
        // Targets that cannot be resources may also be rejected.
        if (expected.length > 0) throw error;
        return;
      }
      const reached = await reach(base);
      await revoke(s, made);
      expect(reached).to.deep.equal(Object.fromEntries(expected.map((path) => [path, 'read'])));
    });

  it('AccessGrant, rule 17.4: foaf:Agent includes every caller, also anonymous ones', async () => {
    const base = await tree(s);
    await during(policy(publicAgentIri, ['read', 'create'], `${base}d/`), async () => {
      for (const who of ['anonymous', s.stranger, as(s, alice)] as const) {
        expect(await modes(`${base}d/`, who)).to.equal('read append');
        expect(await modes(`${base}d/y`, who)).to.equal('read');
        expect(await modes(`${base}x`, who)).to.equal('');
      }
      const posted = await s.send('POST', `${base}d/`, { Slug: 'posted' }, 'x', 'anonymous');
      expect(posted.status).to.equal(201);
    });
  });

  it('AccessGrant, rule 17.4: it does not extend the root description, ACLs, or metadata of other resources', async () => {
    const base = await tree(s);
    await during(policy(alice, 'read', `${base}x`, 'DataResource'), async () => {
      const get = async (iri: string) => (await s.send('GET', iri, {}, undefined, as(s, alice))).status;
      expect(await get(`${base}x.meta`)).to.equal(200);
      expect(await get(`${base}d/y.meta`)).to.equal(404);
      expect(await get(`${base}.meta`)).to.equal(404);
      for (const path of ['x.acl', '.acl', 'd/.acl']) expect(await get(base + path)).to.be.oneOf([403, 404]);
    });
  });

  it('AccessGrant, rule 17.5: it never restricts access, with any constraint', async () => {
    const base = await tree(s);
    const never = { leftOperand: 'dateTime', operator: 'lt', rightOperand: '2001-01-01T00:00:00Z' };
    await during(
      [policy(owner, 'read', base, 'StorageResource', never), policy(alice, 'read', `${base}x`)],
      async () => {
        // Owner mode does not expose control.
        for (const path of ['', 'x', 'd/y'])
          expect(every(base + path).replace(' control', '')).to.equal(
            (await modes(base + path, as(s, owner))).replace(' control', ''),
          );
      },
    );
  });

  it('AccessGrant, rule 17.4: policies and grants add up, and revoking one leaves the others', async () => {
    const base = await tree(s);
    const first = await grant(s, [policy(alice, 'read', `${base}x`), policy(alice, 'modify', `${base}x`)]);
    const second = await grant(s, policy(alice, ['read', 'delete'], `${base}x`));
    expect(await modes(`${base}x`)).to.equal('read write delete');
    await revoke(s, first);
    expect(await modes(`${base}x`)).to.equal('read delete');
    await revoke(s, second);
    expect(await modes(`${base}x`)).to.equal('');
  });

  it('AccessGrant: listings, index and search show exactly what it covers, immediately and until it ends', async () => {
    const base = await tree(s);
    const [shown, hidden, key] = [uniqueIri('shown'), uniqueIri('hidden'), uniqueIri('key')];
    for (const [path, type] of [
      ['d/in', shown],
      ['out', hidden],
    ] as const)
      await s.stored('text/turtle', `<> a <${type}> ; <${key}> <urn:v> .`, base + path);
    const views = async () => [
      await found(s, [['type', shown]], as(s, alice)),
      await found(s, [['type', hidden]], as(s, alice)),
      await found(s, [[key, 'urn:v']], as(s, alice)),
      (await found(s, [], as(s, alice))).filter((iri) => iri.startsWith(base)),
      (await indexed(s, as(s, alice))).filter((type) => [shown, hidden, `${lws}Container`].includes(type)),
    ];
    const nothing = [[], [], [], [], []];
    expect(await views()).to.deep.equal(nothing);
    await during(policy(alice, 'read', `${base}d/`), async () => {
      const all = ['d/', 'd/e/', 'd/e/z', 'd/in', 'd/y'].map((path) => base + path);
      const index = [`${lws}Container`, shown].sort();
      expect(await views()).to.deep.equal([[`${base}d/in`], [], [`${base}d/in`], all, index]);
      const listing = JSON.parse((await s.send('GET', `${base}d/`, {}, undefined, as(s, alice))).text);
      expect(listing.items.map(({ id }: { id: string }) => id)).to.deep.equal(
        ['d/e/', 'd/in', 'd/y'].map((p) => base + p),
      );
    });
    await during(policy(alice, 'read', `${base}d/`, 'DataResource'), async () => {
      const data = ['d/e/z', 'd/in', 'd/y'].map((path) => base + path);
      expect(await views()).to.deep.equal([[`${base}d/in`], [], [`${base}d/in`], data, [shown]]);
    });
    await during(policy(alice, 'read', base, 'Container'), async () => {
      const listing = JSON.parse((await s.send('GET', base, {}, undefined, as(s, alice))).text);
      expect(listing.totalItems).to.equal(5);
    });
    await during([policy(alice, 'read', `${base}d/y`), policy(alice, 'create', base)], async () => {
      expect(await views()).to.deep.equal([[], [], [], [`${base}d/y`], []]);
    });
    expect(await views()).to.deep.equal(nothing);
  });

  it('AccessGrant: resources created under it follow the same rules', async () => {
    const base = await tree(s);
    await during(policy(alice, 'create', `${base}d/`), async () => {
      const put = await s.send('PUT', `${base}d/hers`, {}, 'x', as(s, alice));
      expect(put.status).to.equal(201);
      expect((await s.send('PUT', `${base}d/e/z`, { 'If-Match': '*' }, 'x', as(s, alice))).status).to.equal(404);
      expect((await s.send('PUT', `${base}hers`, {}, 'x', as(s, alice))).status).to.equal(404);
    });
  });

  it('AccessGrant, rule 2.3: a recursive DELETE needs delete on all below', async () => {
    const base = await tree(s);
    const remove = (path: string) => s.send('DELETE', base + path, { Depth: 'infinity' }, undefined, as(s, alice));
    await during(policy(alice, ['read', 'delete'], [`${base}d/`], 'DataResource'), async () => {
      expectProblem(await remove('d/'), 404, s);
    });
    await during(policy(alice, 'delete', `${base}d/`), async () => {
      expect((await remove('d/')).status).to.equal(204);
    });
    await s.expectAbsent(`${base}d/e/z`);
    expect((await s.get(`${base}d-b`)).status).to.equal(200);
  });
}

describeStorage('Access grants', enforcement, { settings: { owners: owner.did }, owner });

describeStorage('Access grants with WAC', enforcement, inWac());
