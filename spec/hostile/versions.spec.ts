/**
 * Reads of earlier states by callers who could not read them while they were the present ones, or cannot read the resource now
 * (rules 27.5, 27.6). Hidden, absent and erased versions have the same responses.
 */
import { expect } from 'chai';
import { describeStorage, type Sender, StorageUnderTest } from '../support/conformance.js';
import { expectProblem } from '../support/expectations.js';
import { grant, policy } from '../support/grants.js';
import type { Answer } from '../support/http.js';
import { request } from '../support/http.js';
import { type SpecServer, startSpecServer } from '../support/server.js';
import { aclOf, agent, alice, anybody, as, bob, inWac, owner, ownerRule, rule, setAcl } from '../support/wac.js';

const early = 'Thu, 01 Jan 1970 00:00:00 GMT';
const late = 'Fri, 01 Jan 2100 00:00:00 GMT';

interface Listed {
  readonly id: string;
  readonly actor?: string;
}

async function write(s: StorageUnderTest, iri: string, body: string, who?: Sender): Promise<void> {
  const there = await s.send('HEAD', iri, {}, undefined, who);
  const condition: Record<string, string> = there.status === 200 ? { 'If-Match': there.headers['etag']! } : {};
  const answer = await s.send('PUT', iri, { 'Content-Type': 'text/plain', ...condition }, body, who);
  expect(answer.status, answer.text).to.be.oneOf([201, 204]);
}

const list = async (s: StorageUnderTest, iri: string, who?: Sender): Promise<Listed[]> => {
  const answer = await s.send('GET', `${iri}?versions`, {}, undefined, who);
  expect(answer.status, answer.text).to.equal(200);
  return (JSON.parse(answer.text) as { versions: Listed[] }).versions;
};

/** Response without what differs in every request, and in that of another version. */
const essence = ({ status, headers, text }: Answer): unknown => {
  const { date: _date, ...fields } = headers;
  return [status, fields, text.replace(/urn:uuid:[0-9a-f-]+/g, '')];
};

/** Asserts that a caller can read exactly these states of all, latest first, and that all others are absent. */
async function expectReadable(
  s: StorageUnderTest,
  iri: string,
  who: Sender,
  texts: readonly string[],
  ids?: readonly string[],
): Promise<void> {
  const all = ids ?? (await list(s, iri)).map(({ id }) => id);
  const absent = await s.send('GET', `${iri}?version=17`, {}, undefined, who);
  expectProblem(absent, 404);
  const noLinkset = await s.send('GET', `${iri}.meta?version=17`, {}, undefined, who);
  expectProblem(noLinkset, 404);
  const found: string[] = [];
  const readable: string[] = [];
  for (const id of all)
    for (const method of ['HEAD', 'GET']) {
      const answer = await s.send(method, `${iri}?version=${id}`, {}, undefined, who);
      if (answer.status === 200 && method === 'GET') {
        found.push(answer.text);
        readable.push(id);
      }
      if (answer.status !== 200 && method === 'GET') expect(essence(answer)).to.deep.equal(essence(absent));
      const linkset = await s.send(method, `${iri}.meta?version=${id}`, {}, undefined, who);
      expect(linkset.status).to.equal(answer.status);
      if (answer.status !== 200 && method === 'GET') expect(essence(linkset)).to.deep.equal(essence(noLinkset));
    }
  expect(found).to.deep.equal(texts);
  const listed = await list(s, iri, who);
  expect(listed.map(({ id }) => id)).to.deep.equal(readable);
  expect(listed.filter(({ actor }) => actor !== undefined)).to.deep.equal([]);
  const links = await s.send('GET', `${iri}?versions`, { Accept: 'application/link-format' }, undefined, who);
  expect([...links.text.matchAll(/\?version=(\d+)>/g)].map(([, id]) => id)).to.deep.equal(readable.toReversed());
  const first = await s.send('GET', iri, { 'Accept-Datetime': early }, undefined, who);
  expect([first.status, first.text]).to.deep.equal([200, texts.at(-1)]);
  const last = await s.send('GET', iri, { 'Accept-Datetime': late }, undefined, who);
  expect([last.status, last.text]).to.deep.equal([200, texts[0]]);
}

describe('Versions that a caller may not read', () => {
  describeStorage(
    'with access control lists',
    (s) => {
      it('hides what ended before a list gave access (rule 27.6)', async () => {
        const iri = s.fresh();
        await write(s, iri, 'secret 1');
        await write(s, iri, 'secret 2');
        await setAcl(s, iri, rule('Read', agent(alice)));
        await expectReadable(s, iri, as(s, alice), ['secret 2']);
        await write(s, iri, 'shared');
        await write(s, iri, 'shared 2');
        await expectReadable(s, iri, as(s, alice), ['shared 2', 'shared', 'secret 2']);
        for (const who of [as(s, bob), 'anonymous'] as const)
          for (const url of [`${iri}?version=17`, `${iri}?version=${(await list(s, iri))[1]!.id}`, `${iri}?versions`]) {
            const hidden = await s.send('GET', iri, {}, undefined, who);
            expect(essence(await s.send('GET', url, {}, undefined, who))).to.deep.equal(essence(hidden));
            const dated = await s.send('GET', iri, { 'Accept-Datetime': early }, undefined, who);
            expect(essence(dated)).to.deep.equal(essence(hidden));
          }
        const all = await list(s, iri);
        expect(all).to.have.length(4);
        expect(all.map(({ actor }) => actor)).to.deep.equal(Array.from(all, () => owner.did));
      });

      it('hides links of states that ended before a list gave access (rules 27.2, 27.6)', async () => {
        const iri = s.fresh();
        await write(s, iri, 'text');
        const link = async (href: string): Promise<void> => {
          const fields = { 'Content-Type': 'application/merge-patch+json', 'If-Match': '*' };
          const body = JSON.stringify({ license: [{ href }], type: [{ href }] });
          expect((await s.send('PATCH', `${iri}.meta`, fields, body)).status).to.equal(204);
        };
        for (const href of ['urn:secret:1', 'urn:secret:2', 'urn:shared:1']) await link(href);
        await setAcl(s, iri, rule('Read', agent(alice)));
        await link('urn:shared:2');
        const ids = (await list(s, iri)).map(({ id }) => id);
        expect(ids.length).to.equal(5);
        await expectReadable(s, iri, as(s, alice), ['text', 'text']);
        for (const id of [...ids, '17'])
          for (const url of [`${iri}?version=${id}`, `${iri}.meta?version=${id}`, `${iri}.meta?versions`]) {
            const answer = await s.send('GET', url, {}, undefined, as(s, alice));
            expect(JSON.stringify([answer.headers, answer.text])).to.not.include('urn:secret');
            const hidden = url.startsWith(`${iri}.meta`) ? `${iri}.meta` : iri;
            for (const who of [as(s, bob), 'anonymous'] as const) {
              const expected = await s.send('GET', hidden, {}, undefined, who);
              expect(essence(await s.send('GET', url, {}, undefined, who))).to.deep.equal(essence(expected));
            }
          }
        const early = { 'Accept-Datetime': 'Thu, 01 Jan 1970 00:00:00 GMT' };
        const first = await s.send('GET', `${iri}.meta`, early, undefined, as(s, alice));
        expect([first.status, first.text.includes('urn:shared:1')]).to.deep.equal([200, true]);
        // A caller who may write, but not read.
        await setAcl(s, iri, rule('Write', agent(bob)));
        for (const url of [`${iri}.meta?version=${ids[0]}`, `${iri}.meta?versions`])
          expect((await s.send('GET', url, {}, undefined, as(s, bob))).status).to.be.oneOf([403, 404]);
      });

      it('hides what ended while access was taken away (rule 27.6)', async () => {
        const iri = s.fresh();
        await write(s, iri, 'before');
        await setAcl(s, iri, rule('Read', agent(alice)));
        await write(s, iri, 'shared');
        await setAcl(s, iri);
        await write(s, iri, 'secret');
        await setAcl(s, iri, rule('Read', agent(alice)));
        await expectReadable(s, iri, as(s, alice), ['secret']);
        await write(s, iri, 'shared again');
        await expectReadable(s, iri, as(s, alice), ['shared again', 'secret']);
        expect((await s.delete(aclOf(iri))).status).to.equal(204);
        expectProblem(await s.send('GET', `${iri}?versions`, {}, undefined, as(s, alice)), 404);
      });

      it('hides what ended before a container gave access, and while a nearer list took it (rule 27.6)', async () => {
        const container = await s.container();
        const [iri, below] = [`${container}x`, `${container}d/`];
        await s.container(below);
        const deep = `${below}y`;
        for (const each of [iri, deep]) await write(s, each, 'secret');
        await setAcl(s, container, rule('Read', anybody));
        for (const each of [iri, deep]) await write(s, each, '1');
        await expectReadable(s, deep, 'anonymous', ['1', 'secret']);
        await setAcl(s, below);
        await write(s, deep, 'secret');
        expect((await s.delete(aclOf(below))).status).to.equal(204);
        await expectReadable(s, deep, 'anonymous', ['secret']);
        await expectReadable(s, iri, 'anonymous', ['1', 'secret']);
      });

      it('names the modes that a caller and the public have on a version (rules 3.11, 27.2)', async () => {
        const iri = s.fresh();
        await write(s, iri, 'secret');
        await write(s, iri, 'shared');
        await setAcl(s, iri, rule('Read', anybody), rule('Read Write', agent(alice)));
        await write(s, iri, 'public');
        const ids = (await list(s, iri)).map(({ id }) => id);
        const modes = async (id: string, who: Sender): Promise<unknown> =>
          (await s.send('GET', `${iri}?version=${id}`, {}, undefined, who)).headers['wac-allow'];
        const expected = [...Array(2).fill('user="read",public="read"'), 'user="read",public=""'];
        expect(await Promise.all(ids.map((id) => modes(id, as(s, owner))))).to.deep.equal(expected);
        for (const who of [as(s, alice), 'anonymous'] as const)
          expect(await Promise.all(ids.map((id) => modes(id, who)))).to.deep.equal([
            ...expected.slice(0, 2),
            undefined,
          ]);
      });

      it('keeps the versions of readers whose rule stays when a list changes (rule 27.6)', async () => {
        const iri = s.fresh();
        await write(s, iri, 'secret');
        await write(s, iri, 'secret 2');
        await setAcl(s, iri, rule('Read', agent(alice)));
        await write(s, iri, '1');
        await setAcl(s, iri, rule('Read', agent(alice)), rule('Read Write', agent(bob)));
        await write(s, iri, '2');
        await expectReadable(s, iri, as(s, alice), ['2', '1', 'secret 2']);
        await expectReadable(s, iri, as(s, bob), ['2', '1']);
        // By a class that includes both, and by name again.
        await setAcl(s, iri, rule('Read', anybody));
        await write(s, iri, '3');
        await expectReadable(s, iri, as(s, alice), ['3', '2']);
        await expectReadable(s, iri, 'anonymous', ['3', '2']);
        await setAcl(s, iri, rule('Read', agent(alice)));
        await write(s, iri, '4');
        await expectReadable(s, iri, as(s, alice), ['4', '3', '2']);
        // Without the rule for one state.
        await setAcl(s, iri, rule('Read', agent(bob)));
        await write(s, iri, 'hidden');
        await setAcl(s, iri, rule('Read', agent(alice)), rule('Read', agent(bob)));
        await write(s, iri, '5');
        await expectReadable(s, iri, as(s, alice), ['5', 'hidden']);
        await expectReadable(s, iri, as(s, bob), ['5', 'hidden', '4']);
      });

      it('keeps dates when lists are removed and set again (rule 27.6)', async () => {
        const container = await s.container();
        const [iri, other] = [`${container}d/x`, `${container}d/y`];
        await setAcl(s, container, rule('Read', agent(alice)));
        await s.container(`${container}d/`);
        for (const text of ['0', '1']) for (const each of [iri, other]) await write(s, each, text);
        // The nearer list gives both what the container gave one of them.
        await setAcl(s, iri, rule('Read', agent(alice)), rule('Read', agent(bob)));
        await setAcl(s, `${container}d/`, rule('Read', agent(alice), 'default'), rule('Read', agent(bob), 'default'));
        for (const each of [iri, other]) await write(s, each, '2');
        for (const each of [iri, other]) {
          await expectReadable(s, each, as(s, alice), ['2', '1', '0']);
          await expectReadable(s, each, as(s, bob), ['2', '1']);
        }
        // Bob loses access to both for one state.
        for (const of of [iri, `${container}d/`]) expect((await s.delete(aclOf(of))).status).to.equal(204);
        for (const each of [iri, other]) await write(s, each, '3');
        for (const each of [iri, other]) {
          await expectReadable(s, each, as(s, alice), ['3', '2', '1', '0']);
          const answer = await s.send('GET', `${each}?versions`, {}, undefined, as(s, bob));
          expect(answer.status).to.equal((await s.send('GET', each, {}, undefined, as(s, bob))).status);
        }
        await setAcl(s, container, rule('Read', agent(alice)), rule('Read', agent(bob)));
        for (const each of [iri, other]) await write(s, each, '4');
        for (const each of [iri, other]) {
          await expectReadable(s, each, as(s, alice), ['4', '3', '2', '1', '0']);
          await expectReadable(s, each, as(s, bob), ['4', '3']);
        }
        // A list that hides a resource for one state, and its removal.
        await setAcl(s, iri);
        await write(s, iri, 'hidden');
        expect((await s.delete(aclOf(iri))).status).to.equal(204);
        await write(s, iri, '5');
        await expectReadable(s, iri, as(s, alice), ['5', 'hidden']);
        // The date of the removal stays when the list above changes.
        await setAcl(s, container, rule('Read', anybody));
        await write(s, iri, '6');
        await expectReadable(s, iri, 'anonymous', ['6', '5']);
        await setAcl(s, container, rule('Read', agent(alice)));
        await write(s, iri, '7');
        await expectReadable(s, iri, as(s, alice), ['7', '6', '5']);
        // MOVE ends the history.
        expect((await s.send('MOVE', iri, { Destination: `${container}d/z` })).status).to.equal(201);
        await expectReadable(s, `${container}d/z`, as(s, alice), ['7']);
      });

      it('hides what another resource of the name had (rule 27.6)', async () => {
        const container = await s.container();
        await setAcl(s, container, rule('Read', anybody));
        const [iri, other] = [`${container}x`, s.fresh()];
        await write(s, iri, 'public');
        await write(s, iri, 'public 2');
        await s.delete(iri);
        expect((await list(s, iri)).length).to.equal(2);
        for (const url of [`${iri}?versions`, `${iri}?version=${(await list(s, iri))[0]!.id}`]) {
          const absent = await s.send('GET', `${container}none`, {}, undefined, 'anonymous');
          const answer = await s.send('GET', url, {}, undefined, 'anonymous');
          expect(answer.status).to.equal(absent.status);
        }
        await write(s, other, 'secret');
        await write(s, other, 'moved');
        expect((await s.send('MOVE', other, { Destination: iri })).status).to.equal(201);
        await expectReadable(s, iri, 'anonymous', ['moved']);
        await write(s, iri, 'new');
        await expectReadable(s, iri, 'anonymous', ['new', 'moved']);
        expectProblem(await s.send('GET', `${other}?versions`, {}, undefined, as(s, alice)), 404);
        expect((await list(s, other)).length).to.equal(2);
      });

      it('shows only the present state to callers with a grant, or by a group (rule 27.6)', async () => {
        const [iri, group, grouped] = [s.fresh(), s.fresh(), s.fresh()];
        await s.put(group, 'text/turtle', `<#g> <http://www.w3.org/2006/vcard/ns#hasMember> <${bob.did}> .`);
        await setAcl(s, grouped.replace(/[^/]+$/, ''), rule('Read', `acl:agentGroup <${group}#g>`));
        await grant(s, policy(alice, 'read', iri));
        for (const each of [iri, grouped]) {
          await write(s, each, '1');
          await write(s, each, '2');
        }
        await expectReadable(s, iri, as(s, alice), ['2']);
        await expectReadable(s, grouped, as(s, bob), ['2']);
        expect((await s.delete(aclOf(grouped.replace(/[^/]+$/, '')))).status).to.equal(204);
      });

      it('does not reveal by responses to dates and versions that a hidden resource exists (rule 27.6)', async () => {
        const container = await s.container();
        const iri = `${container}x`;
        await write(s, iri, '1');
        await write(s, iri, '2');
        const { id } = (await list(s, iri))[1]!;
        const absent = `${container}y`;
        for (const who of [as(s, alice), 'anonymous'] as const)
          for (const [method, query, fields] of [
            ['GET', '', { 'Accept-Datetime': 'yesterday' }],
            ['HEAD', '', { 'Accept-Datetime': early }],
            ['GET', `?version=${id}`, {}],
            ['GET', '?versions', {}],
            ['GET', `?versions=${id}`, {}],
            ['PUT', `?version=${id}`, { 'Content-Type': 'text/plain' }],
            ['DELETE', `?version=${id}`, {}],
            ['OPTIONS', '?versions', {}],
          ] as const) {
            const answers = await Promise.all(
              [iri, absent].map((each) => s.send(method, each + query, fields, undefined, who)),
            );
            const [there, none] = answers.map((answer) => JSON.stringify(essence(answer)));
            expect(there!.replaceAll(iri, absent), `${method} ${query}`).to.equal(none);
            expect(answers[0]!.headers['vary']).to.include('Accept-Datetime');
          }
      });

      it('erases versions for controllers of the storage only, without a trace for others (rule 27.5)', async () => {
        const iri = s.fresh();
        await setAcl(s, await s.container(), ownerRule);
        await write(s, iri, '0');
        await setAcl(s, iri, rule('Read Write Control', agent(alice)));
        for (const text of ['1', '2', '3']) await write(s, iri, text);
        const all = await list(s, iri);
        const url = `${iri}?version=${all[1]!.id}`;
        expectProblem(await s.send('DELETE', url, {}, undefined, as(s, alice)), 405);
        expectProblem(await s.delete(`${iri}?version=${all[0]!.id}`), 409);
        expectProblem(await s.delete(`${iri}?version=17`), 404);
        expect((await s.delete(url)).status).to.equal(204);
        await expectReadable(
          s,
          iri,
          as(s, alice),
          ['3', '1', '0'],
          all.map(({ id }) => id),
        );
        expect((await s.delete(`${iri}?versions`)).status).to.equal(204);
        await expectReadable(
          s,
          iri,
          as(s, alice),
          ['3'],
          all.map(({ id }) => id),
        );
      });
    },
    inWac({ 'versions.all': 'true' }),
  );

  describe('in owner mode', () => {
    let server: SpecServer;
    afterEach(() => server.stop());
    const text = async (iri: string): Promise<readonly [number, string]> => {
      const answer = await request(iri, { headers: { 'Accept-Datetime': early } });
      return [answer.status, answer.text];
    };
    const put = async (iri: string, body: string): Promise<void> => {
      const headers = { Authorization: `Bearer ${server.ownerToken}`, 'Content-Type': 'text/plain', 'If-Match': '*' };
      const { 'If-Match': _none, ...first } = headers;
      const there = (await request(iri, { headers: { Authorization: headers.Authorization } })).status === 200;
      const answer = await request(iri, { method: 'PUT', headers: there ? headers : first, body });
      expect(answer.status, answer.text).to.be.oneOf([201, 204]);
    };
    const restart = async (settings: Readonly<Record<string, string>>): Promise<void> => {
      await server.stop(true);
      server = await startSpecServer({ settings, again: server });
    };

    it('hides what ended while lws.public-read was off, also if versions were off (rule 27.6)', async () => {
      const [on, open] = [{ 'versions.all': 'true' }, { 'public-read': 'true' }];
      server = await startSpecServer({ settings: { ...on, ...open } });
      const iri = `${server.root}x`;
      await put(iri, 'public');
      await put(iri, 'public 2');
      expect(await text(iri)).to.deep.equal([200, 'public']);
      await restart({ ...on, ...open });
      await put(iri, 'public 3');
      expect(await text(iri)).to.deep.equal([200, 'public']);
      await restart({});
      await put(iri, 'secret');
      await put(iri, 'secret 2');
      await restart({ ...on, ...open });
      await put(iri, 'public 4');
      await put(iri, 'public 5');
      expect(await text(iri)).to.deep.equal([200, 'public 4']);
      await restart(on);
      expect((await text(iri))[0]).to.equal(401);
      await put(iri, 'secret 3');
      await restart({ ...on, ...open });
      expect(await text(iri)).to.deep.equal([200, 'secret 3']);
    });

    it('shows creators the versions of their own resource only (rule 27.6)', async () => {
      const common = { owners: owner.did, 'versions.all': 'true' };
      server = await startSpecServer({ settings: common });
      const s = Object.assign(new StorageUnderTest(), { root: server.root, scratch: server.root });
      const [controller, creator, other] = [as(s, owner), as(s, alice), as(s, bob)];
      await grant(
        s,
        [alice, bob].map((who) => policy(who, ['create', 'delete'], s.root)),
        controller,
      );
      const iri = s.fresh();
      await write(s, iri, '1', creator);
      await write(s, iri, '2', creator);
      const ids = (await list(s, iri, controller)).map(({ id }) => id);
      await expectReadable(s, iri, creator, ['2', '1'], ids);
      expectProblem(await s.send('GET', `${iri}?versions`, {}, undefined, other), 404);
      expect((await s.send('DELETE', iri, {}, undefined, creator)).status).to.equal(204);
      for (const who of [creator, other])
        for (const url of [`${iri}?versions`, `${iri}?version=${ids[0]}`])
          expectProblem(await s.send('GET', url, {}, undefined, who), 404);
      await write(s, iri, '3', other);
      await write(s, iri, '4', other);
      await expectReadable(
        s,
        iri,
        other,
        ['4', '3'],
        (await list(s, iri, controller)).map(({ id }) => id),
      );
      expectProblem(await s.send('GET', `${iri}?versions`, {}, undefined, creator), 404);
    });
  });
});
