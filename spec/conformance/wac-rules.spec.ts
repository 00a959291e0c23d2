/** Rule 3.2: modes and agents of authorizations. */
import { expect } from 'chai';
import { describeStorage, type Sender, type StorageUnderTest } from '../support/conformance.js';
import {
  acl,
  agent,
  alice,
  anybody,
  as,
  authenticated,
  bob,
  every,
  everybody,
  inWac,
  modesOf,
  owner,
  rule,
  setAcl,
  turtleOf,
} from '../support/wac.js';

type Who = 'alice' | 'bob' | 'stranger' | 'anonymous' | 'owner';
const everyone: readonly Who[] = ['alice', 'bob', 'stranger', 'anonymous', 'owner'];
const all = rule('Read Write Control Append', agent(alice));

/** Authorizations of a resource's own ACL and their effect. Other agents have no access, the owner has all modes. */
const cases: readonly (readonly [title: string, rules: string[], data: object, container?: object])[] = [
  ['acl:Read gives read', [rule('Read', agent(alice))], { alice: 'read' }],
  [
    'acl:Write implies Append and covers delete; it does not give read',
    [rule('Write', agent(alice))],
    { alice: 'write delete' },
    { alice: 'append write delete' },
  ],
  ['acl:Append gives POST and PUT of new members alone', [rule('Append', agent(alice))], {}, { alice: 'append' }],
  ['acl:Control gives the ACL alone', [rule('Control', agent(alice))], { alice: 'control' }],
  [
    'modes add up over the rules of one ACL',
    [rule('Read', agent(alice)), rule('Append', authenticated), rule('Control', agent(alice, bob))],
    { alice: 'read control', bob: 'control' },
    { alice: 'read append control', bob: 'append control', stranger: 'append' },
  ],
  ['several agents of one rule', [rule('Read', agent(alice, bob))], { alice: 'read', bob: 'read' }],
  [
    'acl:agentClass foaf:Agent is every caller, also anonymous ones',
    [rule('Read', anybody)],
    { alice: 'read', bob: 'read', stranger: 'read', anonymous: 'read' },
  ],
  [
    'acl:agentClass acl:AuthenticatedAgent is every authenticated caller',
    [rule('Read', authenticated)],
    { alice: 'read', bob: 'read', stranger: 'read' },
  ],
  ['another agentClass matches no caller', [rule('Read', 'acl:agentClass <http://xmlns.com/foaf/0.1/Person>')], {}],
  ['foaf:Agent as an agent matches no caller', [rule('Read', `acl:agent ${everybody}`)], {}],
  ['acl:AuthenticatedAgent as an agent matches no caller', [rule('Read', 'acl:agent acl:AuthenticatedAgent')], {}],
  ['a literal agent matches no caller', [rule('Read', `acl:agent "${alice.did}"`)], {}],
  ['a blank node agent matches no caller', [rule('Read', 'acl:agent []')], {}],
  ['an authorization without agents grants nothing', [rule('Read', 'acl:label "all"')], {}],
  ['an unknown mode gives nothing', [rule('Everything', agent(alice)).replace('acl:Everything', '<urn:x>')], {}],
  ['an unknown mode beside a known one takes nothing', [rule('Read Everything', agent(alice))], { alice: 'read' }],
  ['a mode that is a literal gives nothing', [rule('Read', agent(alice)).replace('acl:Read', '"Read"')], {}],
  ['an authorization without its type gives nothing', [all.replace('a acl:Authorization ; ', '')], {}],
  ['an authorization of another type gives nothing', [all.replace('acl:Authorization', 'acl:Denial')], {}],
  ['a rule about another resource is ignored', [all.replaceAll('<>', '<other>')], {}],
  ['a rule that names the ACL itself is ignored', [all.replaceAll('<>', '<.acl>')], {}],
  ['an authorization for descendants is ignored', [all.replaceAll('<>', '<below/>')], {}],
  ['a rule without accessTo does not apply to the resource itself', [rule('Read', agent(alice), 'default')], {}],
  [
    'a rule about several resources applies to its own',
    [rule('Read', agent(alice)).replaceAll('<>', '<other>, <>')],
    { alice: 'read' },
  ],
  ['acl:owner gives nothing', [`<> acl:owner <${alice.did}> .`], {}],
  [
    'agents and modes of different rules do not mix',
    [rule('Write', agent(alice), 'default'), rule('Read', agent(alice), 'accessTo')],
    { alice: 'read' },
  ],
];

/** Asserts the modes of every caller on a resource. */
async function expectModes(s: StorageUnderTest, iri: string, expected: object): Promise<void> {
  const senders: Readonly<Record<Who, Sender>> = {
    alice: as(s, alice),
    bob: as(s, bob),
    stranger: s.stranger,
    anonymous: 'anonymous',
    owner: as(s, owner),
  };
  const wanted: Readonly<Record<string, string>> = { owner: every(iri), ...expected };
  for (const who of everyone)
    expect(await modesOf(s, iri, senders[who]), `${who} at ${iri}`).to.equal(wanted[who] ?? '');
}

const thing = async (s: StorageUnderTest, iri: string): Promise<string> =>
  iri.endsWith('/') ? s.container(iri) : (await s.stored('text/turtle', '<> a <#C> .', iri)).iri;

describeStorage(
  'WAC, rules',
  (s) => {
    for (const [title, rules, data, container = data] of cases)
      it(`WAC, rule 3.2: ${title}`, async () => {
        for (const [suffix, expected] of [
          ['', data],
          ['/', container],
        ] as const) {
          const iri = await thing(s, s.fresh(suffix));
          await setAcl(s, iri, ...rules);
          await expectModes(s, iri, expected);
        }
      });

    const origin = (value: string): string => `${agent(alice)} ; acl:origin ${value}`;
    const origins: readonly (readonly [title: string, value: string, origin: string | undefined, gives: string])[] = [
      ['matches the origin that it names', '<https://app.example>', 'https://app.example', 'read'],
      ['matches one of several', '<https://a.example>, <https://app.example>', 'https://app.example', 'read'],
      ['does not match another', '<https://app.example>', 'https://app.example.org', ''],
      ['does not match another port', '<https://app.example>', 'https://app.example:8443', ''],
      ['does not match another scheme', '<https://app.example>', 'http://app.example', ''],
      ['does not match Origin: null', '<https://app.example>', 'null', ''],
      ['does not match a request without Origin', '<https://app.example>', undefined, ''],
      ['does not match an empty Origin', '<https://app.example>', '', ''],
    ];
    for (const [title, value, sent, gives] of origins)
      it(`WAC, rule 3.5: an authorization with acl:origin ${title}`, async () => {
        const { iri } = await s.stored('text/turtle', '');
        await setAcl(s, iri, rule('Read', origin(value)));
        const headers = sent === undefined ? {} : { Origin: sent };
        expect(await modesOf(s, iri, as(s, alice), headers)).to.equal(gives);
        expect(await modesOf(s, iri, as(s, bob), headers)).to.equal('');
        expect(await modesOf(s, iri, 'anonymous', headers)).to.equal('');
      });

    it('WAC, rule 3.5: an authorization with an origin and no agent grants nothing', async () => {
      const { iri } = await s.stored('text/turtle', '');
      await setAcl(s, iri, rule('Read', 'acl:origin <https://app.example>'));
      for (const sender of [as(s, alice), 'anonymous'] as const)
        expect(await modesOf(s, iri, sender, { Origin: 'https://app.example' })).to.equal('');
    });

    it('WAC, rule 3.5: an authorization without origin matches any Origin', async () => {
      const { iri } = await s.stored('text/turtle', '');
      await setAcl(s, iri, rule('Read', agent(alice)));
      for (const Origin of ['https://app.example', 'null'])
        expect(await modesOf(s, iri, as(s, alice), { Origin })).to.equal('read');
    });

    it('WAC, rule 3.2: an ACL grants nothing on other resources', async () => {
      const [first, second] = [await thing(s, s.fresh()), await thing(s, s.fresh('/'))];
      await setAcl(s, first, all.replaceAll('<>', `<${second}>, <${s.scratch}>, <${s.root}>`));
      for (const iri of [second, s.scratch]) expect(await modesOf(s, iri, as(s, alice)), iri).to.equal('');
    });

    it('Reserved names: a resource with an escaped dot in its name is not an ACL, rule 1.3', async () => {
      const container = await thing(s, s.fresh('/'));
      const iri = await thing(s, `${container}x`);
      await setAcl(s, container, rule('Append', agent(alice)));
      for (const name of ['x%2Eacl', 'x%2eacl', '%2Eacl'])
        expect(
          (await s.send('PUT', container + name, { 'Content-Type': 'text/turtle' }, turtleOf(all), as(s, alice)))
            .status,
        ).to.equal(201);
      for (const name of ['y.acl', 'y.ACL', '.acl', 'y.acl/'])
        expect(
          (await s.send('POST', container, { 'Content-Type': 'text/turtle', Slug: name }, turtleOf(all), as(s, alice)))
            .status,
          name,
        ).to.equal(409);
      expect(await modesOf(s, iri, as(s, alice))).to.equal('');
      expect(await modesOf(s, container, as(s, alice))).to.equal('append');
    });

    it('WAC, rule 3.7: an ACL can be JSON-LD, relative to the described resource', async () => {
      const { iri } = await s.stored('text/turtle', '');
      const term = (name: string, value: string) => ({ [acl + name]: { '@id': value } });
      const body = JSON.stringify({
        '@id': '#owner',
        '@type': `${acl}Authorization`,
        ...term('agent', alice.did),
        ...term('accessTo', ''),
        ...term('mode', `${acl}Control`),
      });
      expect((await s.put(`${iri}.acl`, 'application/ld+json', body)).status).to.equal(201);
      expect(await modesOf(s, iri, as(s, alice))).to.equal('control');
      expect(await modesOf(s, iri, as(s, owner)), 'the owner, whom the ACL of the root names').to.equal('control');
    });
  },
  inWac(),
);
