/** Who might read what is gone, written down: as the access control list said, and no more of it than fits beside an event. */
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

describe('Who might read what is gone', () => {
  it('Rule 16.11: is what the rules for it say that gave read, those for it or those for what lies below', () => {
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

  it('is nobody where that takes too much room', () => {
    const agents = new Set(Array.from({ length: 1_000 }, (_, at) => `urn:agent:${at}`));
    const text = pastReaders({ of, isEmpty: false, rules: [rule({ agents })] }, false);
    expect(text.length).to.be.below(100);
    expect(readPastReaders(text)).to.deep.include({ of, rules: [] });
  });
});
