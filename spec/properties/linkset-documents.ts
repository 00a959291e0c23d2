/** Random linkset documents and patches with every odd feature that JSON permits. Independent of the server. */
import fc from 'fast-check';
import { type HeaderLink, isObject, type Json, type JsonObject, type Operation } from './linkset-model.js';

export type Members = readonly (readonly [name: string, value: Json])[];

/** Serializes an object. A name may occur twice, or be `__proto__`. */
export const textOf = (members: Members): string =>
  `{${members.map(([name, value]) => `${JSON.stringify(name)}:${JSON.stringify(value)}`).join()}}`;

const lws = 'https://www.w3.org/ns/lws#';
const ldp = 'http://www.w3.org/ns/ldp#';
const iana = 'http://www.iana.org/assignments/relation/';
const rdfType = 'http://www.w3.org/1999/02/22-rdf-syntax-ns#type';
const words = (text: string): string[] => text.split(' ');

const registeredNames = words('describedby DescribedBy license LICENSE title creator author');
const iriNames = [...words('https://e.example/rel#x https://E.example/Rel#X urn:x:Y'), `${iana}license`, `${lws}other`];
const nastyNames = words(
  '__proto__ constructor toString hasOwnProperty length href anchors größe 日本 𝔘 a/b a~b ~1 "q" \\',
);
const managedNames = [...words('linkset LINKSET Linkset Anchor'), `${lws}storage`, rdfType];
const managedIris = ['type', 'linkset', 'anchor'].map((name) => iana + name);
export const plainNames = [...registeredNames, ...iriNames];
const badNames = ['', ' ', 'a b', 'tab\there', 'nul\0', '\u007f'];
/** V8 orders them before all other members. */
const integerNames = words('0 17');

const text = fc.oneof(
  fc.constantFrom('', 'Ada', 'Ünïcode "quotes" \\ 𝔘\nlines', '\ud800', '\u2028', 'https://e.example/literal'),
  fc.string({ unit: 'binary', maxLength: 5 }),
);
const scalar: fc.Arbitrary<Json> = fc.oneof(text, fc.constantFrom(null, true, false, 0, -17, 1.5, 1e21));
/** Arrays and objects within arrays, up to four levels. */
const { nested } = fc.letrec<{ nested: Json; object: Json; array: Json }>((tie) => ({
  nested: fc.oneof({ maxDepth: 4 }, scalar, tie('array'), tie('object')),
  array: fc.array(tie('nested'), { maxLength: 3 }),
  object: fc
    .array(fc.tuple(fc.constantFrom('a', 'href', '__proto__', '0', 'größe'), tie('nested')), { maxLength: 3 })
    .map((members) => Object.fromEntries(members) as Json),
}));

const href = fc.constantFrom(
  'https://e.example/d',
  'relative',
  '#me',
  '',
  '//host/x',
  'http://e.example/a b',
  'urn:x:y',
);
const attribute = fc.oneof(
  fc.tuple(fc.constantFrom('title', 'type', 'media', '__proto__', '0', 'größe'), text),
  fc.tuple(fc.constantFrom('hreflang', 'extra'), fc.array(text, { maxLength: 2 })),
  fc.tuple(fc.constantFrom('title*'), fc.constant([{ value: 'Über', language: 'de' }])),
  fc.tuple(fc.constantFrom('any', 'constructor'), nested),
);
const target = fc
  .tuple(href, fc.array(attribute, { maxLength: 2 }))
  .map(([iri, attributes]): Json => Object.fromEntries<Json>([...attributes, ['href', iri]]));
const literals = fc.array(
  nested.filter((value) => !isObject(value)),
  { maxLength: 3 },
);
export const goodValue: fc.Arbitrary<Json> = fc.oneof(
  fc.array(target, { maxLength: 3 }),
  text,
  literals,
  fc.tuple(target, text),
);
const badValue: fc.Arbitrary<Json> = fc.constantFrom<Json>(17, null, true, { href: 'x' }, {}, [{}], [{ href: 7 }]);

/** A type always has the same attributes, because the choice among duplicates is undefined. */
const typeOf = (iri: string): JsonObject => (iri.endsWith('d') ? { href: iri, title: 'declared' } : { href: iri });
const goodTypes = words('https://e.example/T https://e.example/Declared urn:x:d http://e.example/größe').map(typeOf);
const forbiddenTypes = [
  ...words('Container DataResource Storage Whatever').map((name) => lws + name),
  ...words('Resource RDFSource NonRDFSource Container BasicContainer DirectContainer').map((name) => ldp + name),
].map(typeOf);
const types = fc
  .array(
    fc.oneof(
      { weight: 3, arbitrary: fc.constantFrom(...goodTypes, typeOf(`${ldp}Page`)) },
      fc.constantFrom(...forbiddenTypes),
    ),
    { maxLength: 5 },
  )
  .map((list): Json => list);
const badTypes: fc.Arbitrary<Json> = fc.constantFrom<Json>(
  ...['https://e.example/T', { href: 'https://e.example/T' }, [{ href: 'T' }], ['https://e.example/T'], [{}]],
  ...[[{ href: '' }], [{ href: 'http://e.example/a b' }], [{ href: 'http://e.example/\ud800' }], 17, null],
);

const named = (names: readonly string[], value: fc.Arbitrary<Json>) => fc.tuple(fc.constantFrom(...names), value);
const goodMember = fc.oneof(
  { weight: 6, arbitrary: named(plainNames, goodValue) },
  { weight: 2, arbitrary: named(nastyNames, goodValue) },
  { weight: 1, arbitrary: named(integerNames, goodValue) },
  { weight: 2, arbitrary: named(['type', 'type', 'Type', 'TYPE'], types) },
  { weight: 2, arbitrary: named([...managedNames, ...managedIris], fc.oneof(goodValue, badValue)) },
);
const badMember = fc.oneof(
  named(plainNames, badValue),
  named(badNames, goodValue),
  named(['type', 'Type'], badTypes),
  named(['anchor'], fc.constantFrom<Json>('https://e.example/other', '/other', 17, null)),
);

/** Members of a valid linkset object. */
export const goodMembers: fc.Arbitrary<Members> = fc.array(goodMember, { maxLength: 6 });
/** Members of a linkset object, invalid in about one of ten cases. */
export const anyMembers: fc.Arbitrary<Members> = fc.array(
  fc.oneof({ weight: 40, arbitrary: goodMember }, { weight: 1, arbitrary: badMember }),
  { maxLength: 6 },
);

/** Patch operation before the document is known. Its numbers select existing locations. */
export interface Draft {
  readonly op: Operation['op'];
  readonly at: number;
  readonly from: number;
  /** Replaces the last token of the pointer, or follows it. */
  readonly token: string | undefined;
  readonly deeper: boolean;
  readonly value: Json;
  /** True for a test that must hold. */
  readonly holds: boolean;
}

const tokens = [
  '-',
  '0',
  '1',
  '9',
  '01',
  'x',
  'valueOf',
  'href',
  'title',
  'größe',
  'Type',
  'describedby',
  'a~1b',
  'e~0x',
];
const draft: fc.Arbitrary<Draft> = fc.record({
  op: fc.constantFrom('add', 'add', 'remove', 'replace', 'move', 'copy', 'test'),
  at: fc.nat(),
  from: fc.nat(),
  token: fc.oneof({ weight: 4, arbitrary: fc.constant(undefined) }, fc.constantFrom(...tokens)),
  deeper: fc.boolean(),
  value: fc.oneof({ weight: 4, arbitrary: goodValue }, nested, types, target),
  holds: fc.boolean(),
});
export const drafts = fc.array(draft, { minLength: 1, maxLength: 4 });

const escaped = (token: string): string => token.replaceAll('~', '~0').replaceAll('/', '~1');

/** Returns the pointers to all values, except for `__proto__`, rejected by JSON Patch libraries. */
export function pointersIn(value: Json, at = ''): string[] {
  const members = typeof value === 'object' && value !== null ? Object.entries(value) : [];
  return [
    at,
    ...members
      .filter(([name]) => name !== '__proto__')
      .flatMap(([name, member]) => pointersIn(member, `${at}/${escaped(name)}`)),
  ];
}

/** Returns the operation of a draft for a value with these pointers. */
export function operationOf(draft: Draft, pointers: readonly string[], valueAt: (pointer: string) => Json): Operation {
  const { op, token, deeper, value, holds } = draft;
  const there = pointers[draft.at % pointers.length]!;
  const path = token === undefined ? there : `${deeper ? there : there.replace(/\/[^/]*$/, '')}/${token}`;
  if (op === 'test') return holds ? { op, path: there, value: valueAt(there) } : { op, path, value };
  if (op === 'move' || op === 'copy') return { op, path, from: pointers[draft.from % pointers.length]! };
  return op === 'remove' ? { op, path } : { op, path, value };
}

/** Merge patch: new values, and `null` for some of the existing ones. */
export const mergeMembers: fc.Arbitrary<Members> = fc.array(
  fc.oneof(goodMember, named([...plainNames, ...nastyNames, 'type'], fc.constant(null)), named(plainNames, target)),
  { minLength: 1, maxLength: 4 },
);

/**
 * Returns true if all pointers address either the document or the object of relations, and if the operation does not remove
 * everything, because the result is undefined then.
 */
export const isDefined = ({ op, path, from = path }: Operation, ofDocument: boolean): boolean =>
  [path, from].every((pointer) => /^\/linkset(?:\/|$)/.test(pointer) === ofDocument) &&
  !(op === 'remove' && path === '') &&
  !(op === 'move' && from === '');

const linkTarget = fc.constantFrom('https://e.example/d', 'urn:x:y', 'relative', '#me', '/r', 'https://e.example/T');
const attributes: fc.Arbitrary<Record<string, string>> = fc.record(
  {
    title: fc.constantFrom('About', 'Über "uns"'),
    hreflang: fc.constantFrom('en', 'de'),
    type: fc.constant('text/html'),
    extra: fc.constantFrom('', 'x, y; z'),
    anchor: fc.constantFrom('', '#part', 'https://e.example/other'),
  },
  { requiredKeys: [] },
);
const relation = fc.constantFrom(...plainNames, ...managedNames.slice(0, 5), ...managedIris, 'constructor');
const typeLink = fc
  .constantFrom(...goodTypes, ...goodTypes, ...forbiddenTypes)
  .map(({ href }): HeaderLink => ({ target: encodeURI(href as string), relation: 'type', attributes: {} }));
export const headerLinks: fc.Arbitrary<readonly HeaderLink[]> = fc.array(
  fc.oneof({ weight: 3, arbitrary: fc.record({ target: linkTarget, relation, attributes }) }, typeLink),
  { maxLength: 5 },
);

/** Names for `Prefer`, separated by blanks. Names that differ only in case are more frequent. */
export const askable = fc.oneof(
  fc.constantFrom(...registeredNames, 'LINKSET', 'type', 'Type'),
  fc.constantFrom(
    ...[...iriNames, ...managedNames, ...nastyNames, ...integerNames, 'anchor'].filter((name) => /^[!-~]+$/.test(name)),
  ),
);
