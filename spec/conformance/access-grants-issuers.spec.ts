/** Rule 17.6: a grant is effective while its issuer is a controller. */
import { expect } from 'chai';
import { describeStorage } from '../support/conformance.js';
import { grant, grantsOf, paths, policy, revoke, tree } from '../support/grants.js';
import { found } from '../support/search.js';
import { agent, alice, as, bob, inWac, modesOf, owner, ownerRule, rule, setBareAcl } from '../support/wac.js';

describeStorage(
  'Access grants, issuers with WAC',
  (s) => {
    it('AccessGrant, rule 17.6: it loses its effect as soon as its issuer stops being a controller', async () => {
      const base = await tree(s);
      await setBareAcl(s, s.root, [ownerRule, rule('Control', agent(bob))]);
      const made = await grant(s, policy(alice, 'read', base), as(s, bob));
      const see = async () => [
        await modesOf(s, `${base}x`, as(s, alice)),
        (await found(s, [], as(s, alice))).filter((iri) => iri.startsWith(base)).length,
      ];
      expect(await see()).to.deep.equal(['read', paths.length]);
      await setBareAcl(s, s.root, [ownerRule]);
      expect(await see()).to.deep.equal(['', 0]);
      expect(JSON.stringify(await s.send('GET', grantsOf(s), {}, undefined, s.stranger))).not.to.include(made);
    });

    it('AccessGrant, rule 17.6: its issuer does not need the granted modes', async () => {
      const base = await tree(s);
      await setBareAcl(s, base, [rule('Read', agent(bob))]);
      const made = await grant(s, policy(alice, 'read', base));
      expect(await modesOf(s, `${base}x`, as(s, alice))).to.equal('read');
      expect(await modesOf(s, `${base}x`, as(s, owner))).to.equal('');
      await revoke(s, made);
    });
  },
  inWac(),
);

describeStorage(
  'Access grants, issuers',
  (s) => {
    it('AccessGrant, rule 17.6: in owner mode, grants of a former owner have no effect', async () => {
      const base = await tree(s);
      await grant(s, policy(bob, 'read', base), as(s, alice));
      await grant(s, policy(bob, 'read', `${base}x`));
      await s.restart({ settings: { owners: owner.did }, owner });
      expect(await modesOf(s, `${base}x`, as(s, bob))).to.equal('read');
      expect(await modesOf(s, `${base}d/y`, as(s, bob))).to.equal('');
      expect(await found(s, [], as(s, bob))).to.deep.equal([`${base}x`]);
    });
  },
  { settings: { owners: `${owner.did},${alice.did}` }, owner },
);
