/**
 * Random writes under random access control lists, groups and grants (rule 27.6). The oracle asks, after each step, which callers can
 * GET the present state. A version that a caller can read later was readable by it then.
 */
import { expect } from 'chai';
import { describeStorage, type Sender } from '../support/conformance.js';
import { grant, policy, revoke } from '../support/grants.js';
import { runs } from '../support/speed.js';
import { aclOf, agent, alice, anybody, as, authenticated, bob, inWac, rule, setAcl } from '../support/wac.js';

const { QUADPOD_SEED: wanted = '20261121' } = process.env;
let state = wanted === 'random' ? Date.now() % 2 ** 31 : Number(wanted);
/** Linear congruential generator, of which the upper bits are used. */
function random(below: number): number {
  state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
  return Math.floor((state / 2 ** 32) * below);
}
const pick = <T>(items: readonly T[]): T => items[random(items.length)]!;

describeStorage(
  'Versions under random permissions',
  (s) => {
    it('never shows a state to a caller that could not read it while it was the present one (rule 27.6)', async () => {
      const c = await s.container();
      await s.container(`${c}d/`);
      const names = [`${c}x`, `${c}d/y`, `${c}d/z`];
      const places = [c, `${c}d/`, ...names];
      const group = s.fresh();
      await s.put(group, 'text/turtle', '<#g> a <http://www.w3.org/2006/vcard/ns#Group> .');
      const callers: readonly Sender[] = [as(s, alice), as(s, bob), 'anonymous'];
      const agents = [
        agent(alice),
        agent(bob),
        agent(alice, bob),
        anybody,
        authenticated,
        `acl:agentGroup <${group}#g>`,
      ];
      const grants: string[] = [];
      const steps: readonly (() => Promise<unknown>)[] = [
        ...Array.from({ length: 6 }, () => async () => {
          const iri = pick(names);
          const there = (await s.head(iri)).status === 200;
          await s.put(iri, 'text/plain', String(random(1e9)), there ? { 'If-Match': '*' } : {});
        }),
        ...Array.from({ length: 4 }, () => async () => {
          const of = pick(places);
          if ((await s.head(of)).status !== 200) return;
          const where = pick(of.endsWith('/') ? ['accessTo', 'default', 'accessTo default'] : ['accessTo']);
          await setAcl(s, of, ...(random(4) ? [rule('Read', pick(agents), where)] : []));
        }),
        () => s.delete(aclOf(pick(places.slice(1)))),
        () => s.delete(pick(names)),
        () => s.send('MOVE', pick(names), { Destination: pick(names), Overwrite: pick(['T', 'F']) }),
        ...Array.from({ length: 2 }, () => async () => {
          const member = `<#g> <http://www.w3.org/2006/vcard/ns#hasMember> <${pick([alice, bob]).did}>`;
          const update = `${pick(['INSERT', 'DELETE'])} DATA { ${member} }`;
          await s.patch(group, 'application/sparql-update', update, { 'If-Match': '*' });
        }),
        ...Array.from({ length: 3 }, () => async () => {
          const id = random(2) ? grants.pop() : undefined;
          if (id !== undefined) await revoke(s, id);
          else if (grants.length < 3) grants.push(await grant(s, policy(pick([alice, bob]), 'read', pick(names))));
        }),
      ];

      /** Readable states by caller, as `iri?version=ID`, and all of them. */
      const readable = callers.map(() => new Set<string>());
      const all = new Set<string>();
      const look = async (): Promise<void> => {
        for (const iri of names) {
          const answer = await s.get(iri, { 'Accept-Datetime': 'Fri, 01 Jan 2100 00:00:00 GMT' });
          if (answer.status !== 200) continue;
          const url = answer.headers['content-location']!;
          all.add(url);
          for (const [at, who] of callers.entries())
            if ((await s.send('GET', iri, {}, undefined, who)).status === 200) readable[at]!.add(url);
        }
      };
      let count = 0;
      const compare = async (): Promise<void> => {
        for (const [at, who] of callers.entries())
          for (const url of all) {
            const { status } = await s.send('GET', url, {}, undefined, who);
            if (status === 200) expect([...readable[at]!], `${at} ${url}`).to.include(url);
            if (status === 200) count++;
            else expect(status).to.be.oneOf([401, 404]);
          }
        for (const [at, who] of callers.entries())
          for (const iri of names) {
            const list = await s.send('GET', `${iri}?versions`, {}, undefined, who);
            const { versions = [] } =
              list.status === 200 ? (JSON.parse(list.text) as { versions: { url: string }[] }) : {};
            for (const { url } of versions) expect([...readable[at]!], url).to.include(url);
            const first = await s.send(
              'GET',
              iri,
              { 'Accept-Datetime': 'Thu, 01 Jan 1970 00:00:00 GMT' },
              undefined,
              who,
            );
            if (first.status === 200) expect([...readable[at]!]).to.include(first.headers['content-location']);
          }
      };
      const rounds = runs(40);
      for (let round = 0; round < rounds; round++) {
        for (let step = 0; step < 12; step++) {
          await pick(steps)();
          await look();
        }
        await compare();
      }
      expect(count).to.be.greaterThan(rounds);
      for (const id of grants) await revoke(s, id);
    });
  },
  inWac({ 'versions.all': 'true' }),
);
