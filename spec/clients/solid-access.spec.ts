/**
 * Web Access Control and the Solid Protocol for every method, under `lws.profile=solid` (rules 20.3, 20.4, 20.5, 20.6, 20.7,
 * 20.8): subjects and modes of authorizations, own and inherited lists, kinds of resources, and callers. Includes the matrix of
 * solid-contrib's specification-tests.
 */
import { expect } from 'chai';
import { StorageUnderTest } from '../support/conformance.js';
import { agent, alice, anybody, as, authenticated, bob, inSolid, rule, setAcl } from '../support/wac.js';

const subjects = { 'Bob only': agent(bob), 'all authenticated agents': authenticated, 'the public': anybody } as const;
const callers = ['Bob', 'Alice', 'anonymous'] as const;
type Caller = (typeof callers)[number];
const kinds = ['plain', 'rdf', 'container', 'absent', 'absent below absent containers'] as const;
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

/** Permissions of a request, in terms of Web Access Control. */
interface Case {
  readonly kind: Kind;
  /** Modes of the caller on the resource (on its name, if absent), and on the nearest existing container above it. */
  readonly own: ReadonlySet<string>;
  readonly above: ReadonlySet<string>;
  /** Status of a rejected request. */
  readonly refused: number;
}

/** True if the caller learns that the resource is absent. Anonymous callers need Read on the container (rule 4.1). */
const learnsAbsence = ({ own, above, refused }: Case): boolean => may(refused === 401 ? above : own, 'Read');

const may = (modes: ReadonlySet<string>, mode: string): boolean =>
  modes.has(mode) || (mode === 'Append' && modes.has('Write'));

/** Required status by method. Deviations from the specification-tests cite a rule. */
const required: Readonly<Record<(typeof methods)[number], (of: Case) => number>> = {
  GET: (of) => (isAbsent(of.kind) ? (learnsAbsence(of) ? 404 : of.refused) : may(of.own, 'Read') ? 200 : of.refused),
  HEAD: (of) => required.GET(of),
  OPTIONS: (of) => (required.GET(of) === 200 ? 204 : required.GET(of)),
  PUT({ kind, own, above, refused }) {
    if (isAbsent(kind)) return may(above, 'Append') ? 201 : refused;
    if (!may(own, 'Write')) return refused;
    // Rule 6.7: a container cannot be replaced.
    return kind === 'container' ? 409 : 204;
  },
  PATCH({ kind, own, above, refused }) {
    if (isAbsent(kind)) return may(above, 'Append') ? 201 : refused;
    if (!may(own, 'Append')) return refused;
    return kind === 'rdf' ? 204 : 415;
  },
  POST(of) {
    const { kind, own, refused } = of;
    if (isAbsent(kind)) return learnsAbsence(of) ? 404 : refused;
    if (!may(own, 'Append')) return refused;
    return kind === 'container' ? 201 : 405;
  },
  DELETE(of) {
    const { kind, own, above, refused } = of;
    if (isAbsent(kind)) return learnsAbsence(of) ? 404 : refused;
    // The specification-tests also require Read to delete an empty container. Rule 2.3 does not.
    return may(own, 'Write') && may(above, 'Write') ? 204 : refused;
  },
};

const isAbsent = (kind: Kind): boolean => kind.startsWith('absent');

const insertion =
  '@prefix solid: <http://www.w3.org/ns/solid/terms#> . [] a solid:InsertDeletePatch ; solid:inserts { <> a <urn:Foo> } .';
/** Returns the media type and the body to send with a method. */
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
    'absent below absent containers': 'a/b/it',
  };
  const make = async (iri: string, kind: Kind): Promise<void> => {
    if (kind === 'container') await s.send('PUT', iri);
    else if (!isAbsent(kind))
      await s.put(iri, kind === 'rdf' ? 'text/turtle' : 'text/plain', kind === 'rdf' ? '' : 'x');
  };
  const senderOf = (caller: Caller) => (caller === 'anonymous' ? 'anonymous' : as(s, caller === 'Bob' ? bob : alice));

  /** Sends every method as every caller, and restores created and deleted resources. */
  const ask = async (container: string, kind: Kind, of: (caller: Caller) => Case): Promise<void> => {
    const iri = container + names[kind];
    for (const method of methods)
      for (const caller of callers) {
        const [type, body] = content(method, kind);
        const headers: Record<string, string> = type === undefined ? {} : { 'Content-Type': type };
        const { status, text } = await s.send(method, iri, headers, body, senderOf(caller));
        const { own, above } = of(caller);
        const what = `${method} by ${caller}, with ${[...own].join(' ') || 'nothing'} and ${[...above].join(' ') || 'nothing'} above`;
        expect(status, `${what}: ${text}`).to.equal(required[method](of(caller)));
        cases++;
        // A response without Read permission contains nothing of the content.
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
  for (const [grantee, subject] of Object.entries(subjects))
    for (const kind of kinds)
      it(`${kind}, with modes for ${grantee} (rules 20.3, 20.4, 20.6, 20.7, 20.8)`, async () => {
        for (const modes of modeSets) {
          const granted = new Set(modes.split(' ').filter(Boolean));
          const held = (caller: Caller): ReadonlySet<string> =>
            grantee === 'the public' ||
            caller === 'Bob' ||
            (grantee === 'all authenticated agents' && caller !== 'anonymous')
              ? granted
              : nothing;
          const refused = (caller: Caller): number => (caller === 'anonymous' ? 401 : 403);
          const rules = modes === '' ? [] : [rule(modes, subject)];
          // List of the container that its members inherit.
          const inherits = await s.container();
          await make(inherits + names[kind], kind);
          await setAcl(s, inherits, ...rules);
          await ask(inherits, kind, (caller) => ({
            kind,
            own: held(caller),
            above: held(caller),
            refused: refused(caller),
          }));
          // List of the container that applies to the container only.
          const shallow = await s.container();
          await make(shallow + names[kind], kind);
          await setAcl(s, shallow, ...(modes === '' ? [] : [rule(modes, subject, 'accessTo')]));
          await ask(shallow, kind, (caller) => ({ kind, own: nothing, above: held(caller), refused: refused(caller) }));
          if (isAbsent(kind)) continue;
          // Own list of the resource, in a container without access.
          const closed = await s.container();
          await make(closed + names[kind], kind);
          await setAcl(s, closed);
          await setAcl(s, closed + names[kind], ...rules);
          await ask(closed, kind, (caller) => ({ kind, own: held(caller), above: nothing, refused: refused(caller) }));
        }
      });

  for (const modes of ['Read', 'Read Control', 'Read Append', 'Read Write'])
    it(`returns WAC-Allow with ${modes}, direct and inherited (rules 20.9, 3.11)`, async () => {
      const expected = (held: string): string =>
        ['read', 'append', 'write', 'control']
          .filter((mode) => held.toLowerCase().includes(mode) || (mode === 'append' && held.includes('Write')))
          .join(' ');
      for (const [caller, subject] of [
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
              `user="${expected(modes)}",public="${caller === 'public' ? expected(modes) : ''}"`,
            );
            const open = caller === 'public' ? `user="${expected(modes)}",public="${expected(modes)}"` : undefined;
            expect(await field('anonymous')).to.equal(open);
          }
        }
    });
});
