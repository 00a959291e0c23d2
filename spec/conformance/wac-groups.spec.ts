/** Rule 3.6: groups of agents, in local and remote documents. */
import { expect } from 'chai';
import { describeStorage, type Sender, type StorageUnderTest } from '../support/conformance.js';
import { remote } from '../support/remote.js';
import { agent, alice, as, bob, inWac, modesOf, ownerRule, rule, setAcl, setBareAcl } from '../support/wac.js';

const vcard = 'http://www.w3.org/2006/vcard/ns#';
const inGroups = (...groups: readonly string[]): string => `acl:agentGroup ${groups.map((g) => `<${g}>`).join(', ')}`;
const members = (group: string, ...people: readonly { did: string }[]): string =>
  people.map(({ did }) => `<${group}> <${vcard}hasMember> <${did}> .`).join('\n');
const turtle = 'text/turtle';

/** Creates a group on the other host, at its own path. @returns its IRI */
const remoteGroup = (...people: readonly { did: string }[]): string => {
  const path = remote.path('group');
  remote.serve(path, members('#us', ...people), { type: turtle });
  return `${remote.origin}${path}#us`;
};
const pathOf = (group: string): string => new URL(group).pathname;

/** Resource under test. */
async function governed(s: StorageUnderTest, ...rules: readonly string[]): Promise<string> {
  const { iri } = await s.stored(turtle, '<> a <#C> .');
  await setAcl(s, iri, ...rules);
  return iri;
}
const reads = async (s: StorageUnderTest, iri: string, who: Sender): Promise<boolean> =>
  (await s.send('GET', iri, {}, undefined, who)).status === 200;

describeStorage(
  'WAC, local groups',
  (s) => {
    const group = async (...people: readonly { did: string }[]): Promise<string> =>
      `${(await s.stored(turtle, members('#us', ...people))).iri}#us`;

    it('Groups, rule 3.6: members of a group have its modes; other and anonymous callers do not', async () => {
      const iri = await governed(s, rule('Read Write', inGroups(await group(alice))));
      expect(await modesOf(s, iri, as(s, alice))).to.equal('read write delete');
      for (const who of [as(s, bob), s.stranger, 'anonymous'] as const) expect(await modesOf(s, iri, who)).to.equal('');
    });

    it('Groups, rule 3.6: members do not need read access to the group document', async () => {
      const us = await group(alice);
      const iri = await governed(s, rule('Read', inGroups(us)));
      expect(await reads(s, iri, as(s, alice))).to.equal(true);
      expect(await reads(s, us.replace('#us', ''), as(s, alice))).to.equal(false);
    });

    it('Groups, rule 3.6: a changed membership takes effect immediately', async () => {
      const us = await group(alice);
      const iri = await governed(s, rule('Read', inGroups(us)));
      const document = us.replace('#us', '');
      const write = (text: string) => s.put(document, turtle, text, { 'If-Match': '*' });
      const see = async () => [await reads(s, iri, as(s, alice)), await reads(s, iri, as(s, bob))];
      expect(await see()).to.deep.equal([true, false]);
      await write(members('#us', alice, bob));
      expect(await see()).to.deep.equal([true, true]);
      await s.patch(document, 'application/sparql-update', `DELETE DATA { ${members(us, alice)} }`);
      expect(await see()).to.deep.equal([false, true]);
      await write('');
      expect(await see()).to.deep.equal([false, false]);
      await write(members('#us', alice));
      expect(await see()).to.deep.equal([true, false]);
      await s.delete(document);
      expect(await see()).to.deep.equal([false, false]);
      await s.stored(turtle, members('#us', bob), document);
      expect(await see()).to.deep.equal([false, true]);
    });

    it('Groups: a group is the IRI with its fragment; another fragment is another group', async () => {
      const { iri: document } = await s.stored(
        turtle,
        `${members('#us', alice)} ${members('#them', bob)} ${members('', bob)}`,
      );
      const iri = await governed(s, rule('Read', inGroups(`${document}#us`)));
      expect(await reads(s, iri, as(s, alice))).to.equal(true);
      expect(await reads(s, iri, as(s, bob))).to.equal(false);
      const whole = await governed(s, rule('Read', inGroups(document)));
      expect(await reads(s, whole, as(s, alice))).to.equal(false);
      expect(await reads(s, whole, as(s, bob))).to.equal(true);
    });

    it('Groups, rule 3.6: a nonexistent group, a non-RDF one and one without the subject match no caller', async () => {
      const text = members('#us', alice);
      const bytes = (await s.stored('text/plain', text)).iri;
      const json = (await s.stored('application/json', '{}')).iri;
      const stray = (await s.stored(turtle, `${members('urn:us', alice)} <#us> <${vcard}member> <${alice.did}> .`)).iri;
      const literal = (await s.stored(turtle, `<#us> <${vcard}hasMember> "${alice.did}" .`)).iri;
      for (const document of [
        bytes,
        json,
        stray,
        literal,
        s.fresh(),
        `${stray}.meta`,
        `${stray}.acl`,
        s.scratch,
        'urn:us',
      ])
        expect(
          await reads(s, await governed(s, rule('Read', inGroups(`${document}#us`))), as(s, alice)),
          document,
        ).to.equal(false);
    });

    it('Groups: foaf:Agent as a member does not mean the public', async () => {
      const { iri: document } = await s.stored(turtle, `<#us> <${vcard}hasMember> <http://xmlns.com/foaf/0.1/Agent> .`);
      const iri = await governed(s, rule('Read', inGroups(`${document}#us`)));
      for (const who of [as(s, alice), 'anonymous'] as const) expect(await reads(s, iri, who)).to.equal(false);
    });

    it('Groups: acl:origin restricts them too', async () => {
      const iri = await governed(s, rule('Read', `${inGroups(await group(alice))} ; acl:origin <https://app.example>`));
      expect(await modesOf(s, iri, as(s, alice))).to.equal('');
      expect(await modesOf(s, iri, as(s, alice), { Origin: 'https://app.example' })).to.equal('read');
    });
  },
  inWac(),
);

describeStorage(
  'WAC, remote groups',
  (s) => {
    it('Groups, rule 3.6: a remote group applies and is fetched once', async () => {
      const us = remoteGroup(alice);
      const iri = await governed(s, rule('Read Write', inGroups(us)));
      for (let i = 0; i < 3; i++) expect(await modesOf(s, iri, as(s, alice))).to.equal('read write delete');
      expect(await modesOf(s, iri, as(s, bob))).to.equal('');
      expect(remote.count(pathOf(us))).to.equal(1);
    });

    it('Groups: a resource revoked and written during a group fetch is not shown', async () => {
      const path = remote.path('slow');
      let release = (): void => {};
      const asked = new Promise<void>((resolve) => {
        remote.handle(path, (_req, res) => {
          release = () => void res.writeHead(200, { 'Content-Type': turtle }).end(members('#us', alice));
          resolve();
        });
      });
      const iri = await governed(s, rule('Read', inGroups(`${remote.origin}${path}#us`)));
      const reading = s.send('GET', iri, {}, undefined, as(s, alice));
      await asked;
      await setAcl(s, iri, rule('Read', agent(bob)));
      expect((await s.put(iri, turtle, '<> a <#Secret> .', { 'If-Match': '*' })).status).to.equal(204);
      release();
      const { status, text } = await reading;
      expect(status).to.equal(404);
      expect(text).not.to.contain('Secret');
      expect(await reads(s, iri, as(s, bob))).to.equal(true);
    });

    it('Groups: nothing is fetched for anonymous callers, nor if another authorization is sufficient', async () => {
      const us = remoteGroup(alice);
      const iri = await governed(s, rule('Read', inGroups(us)), rule('Read', agent(bob)));
      await reads(s, iri, 'anonymous');
      expect(await reads(s, iri, as(s, bob))).to.equal(true);
      expect(remote.count(pathOf(us))).to.equal(0);
    });

    it('Groups, rule 3.6: failures match no caller and are cached too', async () => {
      const served = (content: string, how: object): string => {
        const path = remote.path('bad');
        remote.serve(path, content, { type: turtle, ...how });
        return `${remote.origin}${path}#us`;
      };
      const good = members('#us', alice);
      const bad = [
        `${remote.origin}${remote.path('none')}#us`,
        served(good, { status: 404 }),
        served(good, { status: 500 }),
        served(good, { type: 'text/html' }),
        served(good, { type: 'application/json' }),
        served(`${good} <>`, {}),
        served('', { status: 302, headers: { Location: '/elsewhere' } }),
        served(good, { status: 302, headers: { Location: 'http://127.0.0.1:1/' } }),
      ];
      for (const group of bad) {
        const iri = await governed(s, rule('Read', inGroups(group)));
        for (let i = 0; i < 2; i++) expect(await reads(s, iri, as(s, alice)), group).to.equal(false);
        expect(remote.count(pathOf(group)), group).to.equal(1);
      }
    });

    it('Groups, rule 15.16: disallowed hosts are not contacted', async () => {
      for (const group of [
        'https://127.0.0.1:1/g#us',
        'http://169.254.169.254/g#us',
        'file:///etc/passwd#us',
        'data:,x#us',
      ])
        expect(await reads(s, await governed(s, rule('Read', inGroups(group))), as(s, alice)), group).to.equal(false);
    });

    it('Groups: one unavailable group does not affect the others', async () => {
      const iri = await governed(s, rule('Read', inGroups(`${remote.origin}/none#us`, remoteGroup(alice))));
      expect(await reads(s, iri, as(s, alice))).to.equal(true);
    });

    it('Groups, rule 3.6: at most lws.wac.max-group-fetches-per-decision are fetched', async () => {
      const before = remote.total();
      const groups = Array.from({ length: 9 }, () => remoteGroup(bob));
      const iri = await governed(s, rule('Read', inGroups(...groups)));
      expect(await reads(s, iri, as(s, alice))).to.equal(false);
      // A rejected read is one decision.
      expect(remote.total() - before).to.be.within(1, 3);
    });

    const writes: Readonly<Record<string, (iri: string) => [string, string, Record<string, string>, string?]>> = {
      'PUT that replaces': (iri) => ['PUT', iri, { 'Content-Type': turtle, 'If-Match': '*' }, ''],
      PATCH: (iri) => ['PATCH', iri, { 'Content-Type': 'application/sparql-update' }, 'INSERT DATA { <> a <#D> }'],
      DELETE: (iri) => ['DELETE', iri, {}],
      'PUT of the ACL': (iri) => ['PUT', `${iri}.acl`, { 'Content-Type': turtle, 'If-Match': '*' }, '<> a <#none> .'],
      'DELETE of the ACL': (iri) => ['DELETE', `${iri}.acl`, {}],
      'PUT of the linkset': (iri) => [
        'PUT',
        `${iri}.meta`,
        { 'Content-Type': 'application/linkset+json', 'If-Match': '*' },
        '{"linkset":[{}]}',
      ],
    };
    for (const [title, request] of Object.entries(writes))
      it(`Groups, rule 3.6: a remote group is fetched before the transaction of a ${title}`, async () => {
        const iri = await governed(s, rule('Read Write Control', inGroups(remoteGroup(alice))));
        const [method, target, headers, body] = request(iri);
        const answer = await s.send(method, target, headers, body, as(s, alice));
        expect(answer.status, answer.text).to.equal(204);
      });

    it('Groups, rule 2.3: a recursive DELETE fetches the groups of the ACLs of all descendants', async () => {
      const c = await s.container();
      await s.stored(turtle, '', `${c}x`);
      await setAcl(s, c, rule('Write', agent(alice)));
      await setBareAcl(s, `${c}x`, [ownerRule, rule('Write', inGroups(remoteGroup(alice)))]);
      const answer = await s.send('DELETE', c, { Depth: 'infinity' }, undefined, as(s, alice));
      expect(answer.status, answer.text).to.equal(204);
    });
  },
  inWac({ ...remote.settings, 'wac.max-group-fetches-per-decision': '3' }),
);

describeStorage(
  'WAC, remote groups without cache',
  (s) => {
    it('Groups, rule 3.6: cached groups and failures are fetched again after they expire', async () => {
      const us = remoteGroup(alice);
      const path = pathOf(us);
      const late = `${remote.origin}${remote.path('late')}#us`;
      const iris = [await governed(s, rule('Read', inGroups(us))), await governed(s, rule('Read', inGroups(late)))];
      const see = () => Promise.all(iris.map((iri) => reads(s, iri, as(s, alice))));
      expect(await see()).to.deep.equal([true, false]);
      remote.serve(path, members('#us', bob), { type: turtle });
      remote.serve(pathOf(late), members('#us', alice), { type: turtle });
      expect(await see()).to.deep.equal([true, false]);
      await new Promise((resolve) => setTimeout(resolve, 3100));
      expect(await see()).to.deep.equal([false, true]);
    });
  },
  inWac({ ...remote.settings, 'wac.group-cache-seconds': '3', 'wac.group-failure-cache-seconds': '3' }),
);
