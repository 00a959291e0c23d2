/** Recorded readers of deleted resources: as the access control list had them, up to the size that fits in an event. */
import { expect } from 'chai';
import type { Acl, AclRule } from '../../../lib/authorization/acl.js';
import { pastReaders, readPastReaders } from '../../../lib/authorization/wac.js';

const rule = (given: Partial<AclRule>): AclRule => ({
  id: '#r',
  modes: new Set(['read']),
  agents: new Set(),
  everybody: false,
  authenticated: false,
  groups: [],
  origins: new Set(),
  accessTo: true,
  inherited: false,
  ...given,
});
const of = 'http://spec.example/c/';

describe('Readers of deleted resources', () => {
  it('are those of the rules that granted read, from its own ACL or an inherited one (rule 16.11)', () => {
    const acl: Acl = {
      of,
      isEmpty: false,
      rules: [
        rule({ agents: new Set(['urn:a']), origins: new Set(['https://app.example']) }),
        rule({ modes: new Set(['write']), everybody: true, inherited: true }),
        rule({ accessTo: false, inherited: true, authenticated: true, groups: ['urn:g'] }),
      ],
    };
    const [own, below] = [false, true].map((inherited) => readPastReaders(pastReaders(acl, inherited)));
    expect([own!.of, own!.rules.length, below!.rules.length]).to.deep.equal([of, 1, 1]);
    expect(own!.rules[0]).to.deep.include({
      agents: new Set(['urn:a']),
      origins: new Set(['https://app.example']),
      everybody: false,
      authenticated: false,
    });
    expect(below!.rules[0]).to.deep.include({ authenticated: true, groups: ['urn:g'], agents: new Set() });
  });

  it('are empty if the record would be too large', () => {
    const agents = new Set(Array.from({ length: 1_000 }, (_, at) => `urn:agent:${at}`));
    const text = pastReaders({ of, isEmpty: false, rules: [rule({ agents })] }, false);
    expect(text.length).to.be.below(100);
    expect(readPastReaders(text)).to.deep.include({ of, rules: [] });
  });
});
