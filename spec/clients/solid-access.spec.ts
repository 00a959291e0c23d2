/**
 * What Web Access Control and the Solid Protocol require of every method, under `lws.profile=solid` (rules 20.3, 20.4, 20.5, 20.6, 20.7, 20.8): whom
 * an authorization is for, its modes, where it stands, what it is of, and who asks. The matrix of solid-contrib's specification-tests is a part of it.
 */
import { expect } from 'chai';
import { StorageUnderTest } from '../support/conformance.js';
import { agent, alice, anybody, as, authenticated, bob, inSolid, rule, setAcl } from '../support/wac.js';

const subjects = { 'Bob alone': agent(bob), 'all who sign in': authenticated, everybody: anybody } as const;
const senders = ['Bob', 'Alice', 'nobody'] as const;
type Sender = (typeof senders)[number];
const kinds = ['plain', 'rdf', 'container', 'absent', 'absent, of a deep name'] as const;
type Kind = (typeof kinds)[number];
const modeSets = [
  'Read',
  'Append',
  'Write',
  'Control',
  'Read Append',
  'Read Write',
  'Append Write Control',
  'Read Control',
  '',
];
const methods = ['GET', 'HEAD', 'OPTIONS', 'PUT', 'PATCH', 'POST', 'DELETE'] as const;

/** Who asks for what, in the words of Web Access Control. */
interface Case {
  readonly kind: Kind;
  /** What the sender has on the resource, as it would be on one of that name; and on the container that is there above it. */
  readonly own: ReadonlySet<string>;
  readonly above: ReadonlySet<string>;
  /** The status of a refusal. */
  readonly refused: number;
}

/** Whether who asks is told that nothing is there: the anonymous by the container (rule 4.1). */
const isTold = ({ own, above, refused }: Case): boolean => may(refused === 401 ? above : own, 'Read');

const may = (modes: ReadonlySet<string>, mode: string): boolean =>
  modes.has(mode) || (mode === 'Append' && modes.has('Write'));

/** The status that is required; where it is not that of the specification-tests, the rule says why. */
const required: Readonly<Record<(typeof methods)[number], (of: Case) => number>> = {
  GET: (of) => (isAbsent(of.kind) ? (isTold(of) ? 404 : of.refused) : may(of.own, 'Read') ? 200 : of.refused),
  HEAD: (of) => required.GET(of),
  OPTIONS: (of) => (required.GET(of) === 200 ? 204 : required.GET(of)),
  PUT({ kind, own, above, refused }) {
    if (isAbsent(kind)) return may(above, 'Append') ? 201 : refused;
    if (!may(own, 'Write')) return refused;
    // Rule 6.7: a container is not replaced.
    return kind === 'container' ? 409 : 204;
  },
  PATCH({ kind, own, above, refused }) {
    if (isAbsent(kind)) return may(above, 'Append') ? 201 : refused;
    if (!may(own, 'Append')) return refused;
    return kind === 'rdf' ? 204 : 415;
  },
  POST(of) {
    const { kind, own, refused } = of;
    if (isAbsent(kind)) return isTold(of) ? 404 : refused;
    if (!may(own, 'Append')) return refused;
    return kind === 'container' ? 201 : 405;
  },
  DELETE(of) {
    const { kind, own, above, refused } = of;
    if (isAbsent(kind)) return isTold(of) ? 404 : refused;
    // The tests want read as well of who deletes an empty container; rule 2.3 does not.
    return may(own, 'Write') && may(above, 'Write') ? 204 : refused;
  },
};

const isAbsent = (kind: Kind): boolean => kind.startsWith('absent');

const insertion =
  '@prefix solid: <http://www.w3.org/ns/solid/terms#> . [] a solid:InsertDeletePatch ; solid:inserts { <> a <urn:Foo> } .';
/** What a method sends. */
const content = (method: string, kind: Kind): readonly [type: string | undefined, body: string | undefined] => {
  if (method === 'PATCH') return ['text/n3', insertion];
  if (method === 'PUT' && kind === 'container') return ['text/turtle', undefined];
  if (method !== 'PUT' && method !== 'POST') return [undefined, undefined];
  return [kind === 'plain' ? 'text/plain' : 'text/turtle', '<> a <urn:Secret> .'];
};

describe('Access under the Solid profile', function () {
  this.timeout(240_000);
  const s = new StorageUnderTest();
  let cases = 0;
  before(() => s.open(inSolid()));
  after(async () => {
    await s.close();
    console.log(`      ${cases} requests`);
  });

  const names: Readonly<Record<Kind, string>> = {
    plain: 'it.txt',
    rdf: 'it',
    container: 'it/',
    absent: 'it',
    'absent, of a deep name': 'a/b/it',
  };
  const make = async (iri: string, kind: Kind): Promise<void> => {
    if (kind === 'container') await s.send('PUT', iri);
    else if (!isAbsent(kind))
      await s.put(iri, kind === 'rdf' ? 'text/turtle' : 'text/plain', kind === 'rdf' ? '' : 'x');
  };
  const senderOf = (who: Sender) => (who === 'nobody' ? 'anonymous' : as(s, who === 'Bob' ? bob : alice));

  /** Asks with every method and sender; what they made or deleted is put back. */
  const ask = async (container: string, kind: Kind, of: (who: Sender) => Case): Promise<void> => {
    const iri = container + names[kind];
    for (const method of methods)
      for (const who of senders) {
        const [type, body] = content(method, kind);
        const headers: Record<string, string> = type === undefined ? {} : { 'Content-Type': type };
        const { status, text } = await s.send(method, iri, headers, body, senderOf(who));
        const { own, above } = of(who);
        const what = `${method} by ${who}, with ${[...own].join(' ') || 'nothing'} and ${[...above].join(' ') || 'nothing'} above`;
        expect(status, `${what}: ${text}`).to.equal(required[method](of(who)));
        cases++;
        // Who may not read is not shown what was written.
        if (!may(own, 'Read')) expect(text, what).to.not.include('urn:Secret').and.not.include('urn:Foo');
        if (status === 201 && isAbsent(kind)) {
          const top = kind === 'absent' ? iri : `${container}a/`;
          expect((await s.send('DELETE', top, { Depth: 'infinity' })).status).to.equal(204);
        }
        if (status === 201 && kind === 'container')
          for (const member of await s.members(iri)) expect((await s.delete(member)).status).to.equal(204);
        if (method === 'DELETE' && status === 204) await make(iri, kind);
      }
  };

  const nothing: ReadonlySet<string> = new Set();
  for (const [whom, subject] of Object.entries(subjects))
    for (const kind of kinds)
      it(`Rules 20.3, 20.4, 20.6, 20.7, 20.8: ${kind}, where ${whom} may`, async () => {
        for (const modes of modeSets) {
          const given = new Set(modes.split(' ').filter(Boolean));
          const held = (who: Sender): ReadonlySet<string> =>
            whom === 'everybody' || who === 'Bob' || (whom === 'all who sign in' && who !== 'nobody') ? given : nothing;
          const refused = (who: Sender): number => (who === 'nobody' ? 401 : 403);
          const rules = modes === '' ? [] : [rule(modes, subject)];
          // By the container, whose list holds for what is in it.
          const inherits = await s.container();
          await make(inherits + names[kind], kind);
          await setAcl(s, inherits, ...rules);
          await ask(inherits, kind, (who) => ({ kind, own: held(who), above: held(who), refused: refused(who) }));
          // By the container for itself alone.
          const shallow = await s.container();
          await make(shallow + names[kind], kind);
          await setAcl(s, shallow, ...(modes === '' ? [] : [rule(modes, subject, 'accessTo')]));
          await ask(shallow, kind, (who) => ({ kind, own: nothing, above: held(who), refused: refused(who) }));
          if (isAbsent(kind)) continue;
          // By the resource itself, in a container that is closed.
          const closed = await s.container();
          await make(closed + names[kind], kind);
          await setAcl(s, closed);
          await setAcl(s, closed + names[kind], ...rules);
          await ask(closed, kind, (who) => ({ kind, own: held(who), above: nothing, refused: refused(who) }));
        }
      });

  for (const modes of ['Read', 'Read Control', 'Read Append', 'Read Write'])
    it(`Rules 20.9, 3.11: WAC-Allow with ${modes}, direct and inherited`, async () => {
      const expected = (held: string): string =>
        ['read', 'append', 'write', 'control']
          .filter((mode) => held.toLowerCase().includes(mode) || (mode === 'append' && held.includes('Write')))
          .join(' ');
      for (const [who, subject] of [
        ['user', agent(bob)],
        ['user', authenticated],
        ['public', anybody],
      ] as const)
        for (const isDirect of [true, false]) {
          const container = await s.container();
          const { iri } = await s.stored('text/turtle', '', `${container}it`);
          await setAcl(s, isDirect ? iri : container, rule(modes, subject, isDirect ? 'accessTo' : 'default'));
          for (const method of ['GET', 'HEAD']) {
            cases += 2;
            const field = async (sender?: 'anonymous') =>
              (await s.send(method, iri, {}, undefined, sender ?? as(s, bob))).headers['wac-allow'];
            expect(await field()).to.equal(
              `user="${expected(modes)}",public="${who === 'public' ? expected(modes) : ''}"`,
            );
            const open = who === 'public' ? `user="${expected(modes)}",public="${expected(modes)}"` : undefined;
            expect(await field('anonymous')).to.equal(open);
          }
        }
    });
});
