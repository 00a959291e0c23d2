/** Members of import and export formats: arbitrary members, the output of a reader, and a comparable form. */
import type { Quad } from '@rdfjs/types';
import fc from 'fast-check';
import { DataFactory } from 'rdf-data-factory';
import { quadLines } from '../../components/data/exchange/text-files.js';
import type {
  BytesMember,
  LeftOut,
  Member,
  MemberOptions,
  MemberReader,
  ReadStep,
  ResourceMember,
  Writer,
} from '../../lib/exchange/member.js';

export const factory = new DataFactory<Quad>();
export const base = 'http://pod.example/c/';

export interface ReadAll {
  readonly steps: readonly ReadStep[];
  readonly members: readonly Member[];
  readonly leftOut: readonly LeftOut[];
  /** Contents by path. */
  readonly contents: ReadonlyMap<string, Buffer>;
  readonly error: string | undefined;
}

/** Reads until the reader ends or fails. */
export async function readAll(reader: MemberReader, options: Partial<MemberOptions> = {}): Promise<ReadAll> {
  const steps: ReadStep[] = [];
  const contents = new Map<string, Buffer>();
  let error: string | undefined;
  try {
    for await (const step of reader.read({ into: base, rewrite: [], ...options })) {
      if (step.member.kind === 'bytes') contents.set(step.member.path, await bytesOfMember(step.member));
      // A copy, because the reader changes the cursor.
      steps.push({ ...step });
    }
  } catch (cause) {
    error = (cause as Error).message;
  }
  const all = steps.map(({ member }) => member);
  return {
    steps,
    members: all.filter((member): member is Member => member.kind !== 'left-out'),
    leftOut: all.filter((member): member is LeftOut => member.kind === 'left-out'),
    contents,
    error,
  };
}

async function bytesOfMember(member: BytesMember): Promise<Buffer> {
  const chunks: Uint8Array[] = [];
  for await (const chunk of member.open()) chunks.push(chunk);
  return Buffer.concat(chunks);
}

export async function writeAll(writer: Writer, members: readonly Member[]): Promise<void> {
  for (const member of members) await writer.write(member);
  await writer.end();
}

/** Returns a member with its content in memory. */
export const bytesMember = (path: string, mediaType: string, content: string | Uint8Array): BytesMember => ({
  kind: 'bytes',
  path,
  source: path,
  mediaType,
  async *open() {
    yield Buffer.from(content as string);
  },
});

/** Returns the comparable facts of members: without their source, and with the parts of a graph merged. */
export function comparable(
  members: readonly Member[],
  contents: ReadonlyMap<string, Buffer>,
): Record<string, Record<string, unknown>> {
  const found: Record<string, Record<string, unknown>> = {};
  for (const member of members) {
    if (member.kind === 'state') {
      found[`state ${member.key}`] = { value: member.value };
      continue;
    }
    const before = found[member.path] ?? {};
    const { path, source: _source, acl, ...rest } = member;
    const facts: Record<string, unknown> = { ...before, ...rest };
    for (const name of ['open', 'quads', 'hasMore', 'sha256', 'size']) delete facts[name];
    if (acl) facts['acl'] = { prefixes: acl.prefixes, triples: sortedLines(acl.quads) };
    if (member.kind === 'rdf') {
      facts['prefixes'] = { ...(before['prefixes'] as object), ...member.prefixes };
      facts['triples'] = [...((before['triples'] as string[]) ?? []), ...sortedLines(member.quads)].sort();
    }
    if (member.kind === 'bytes') facts['content'] = contents.get(path)?.toString('base64');
    found[path] = facts;
  }
  return found;
}

export const sortedLines = (quads: readonly Quad[]): string[] => quadLines(quads).split('\n').filter(Boolean).sort();

export const node = (iri: string) => factory.namedNode(iri);

const segment = fc.string({ minLength: 1, maxLength: 8, unit: 'grapheme' }).map((text) => encodeURIComponent(text));
const usable = (name: string): boolean => !/^\.{1,2}$/.test(name) && !/\.(?:acl|acr|meta)$/i.test(name);
const iris = fc.constantFrom(`${base}a`, `${base}a#it`, 'http://e.example/p', 'urn:x:y', `${base}%C3%BC/`);
const literal = fc.oneof(
  fc.string({ unit: 'grapheme', maxLength: 20 }).map((text) => factory.literal(text)),
  fc.constantFrom('a "quote"\n\\', '').map((text) => factory.literal(text, 'de-ch')),
  fc.integer().map((value) => factory.literal(String(value), node('http://www.w3.org/2001/XMLSchema#integer'))),
);
const label = fc.integer({ min: 0, max: 3 }).map((count) => factory.blankNode(`b${'0a'.repeat(12)}x000${count}`));
const triple = fc
  .tuple(fc.oneof(iris.map(node), label), iris.map(node), fc.oneof(iris.map(node), label, literal))
  .map(([subject, predicate, object]) => factory.quad(subject, predicate, object));
const isPlain = ({ subject, object }: Quad): boolean =>
  subject.termType !== 'BlankNode' && object.termType !== 'BlankNode';
const triplesOf = (blank: boolean): fc.Arbitrary<Quad[]> =>
  fc.uniqueArray(blank ? triple : triple.filter(isPlain), { maxLength: 8, selector: (quad) => quadLines([quad]) });

const links = fc.record(
  {
    type: fc.constantFrom([{ href: 'http://e.example/T' }], [{ href: 'urn:t:1' }, { href: 'urn:t:2' }]),
    license: fc.constant([{ href: 'http://e.example/l' }]),
    'http://e.example/rel': fc.constantFrom([{ href: `${base}a` }, { href: 'urn:b' }], [{ href: 'urn:c' }]),
  },
  { requiredKeys: [] },
);

const mediaTypes = fc.constantFrom(
  'text/plain',
  'text/plain; charset=iso-8859-1',
  'image/png',
  'application/json',
  'application/x-strange',
  'application/octet-stream',
);

export interface Arbitrary {
  readonly acl?: boolean;
  readonly links?: boolean;
  /** Includes blank nodes. Some syntaxes change their labels. */
  readonly blank?: boolean;
}

/** Resources in a few containers, in path order. */
export const arbitraryResources = (has: Arbitrary = {}): fc.Arbitrary<ResourceMember[]> =>
  fc
    .array(fc.tuple(fc.array(segment.filter(usable), { minLength: 1, maxLength: 3 }), resource(has)), { maxLength: 8 })
    .map((entries) => placed(entries));

type Made = (path: string) => ResourceMember;

function resource({ acl = true, links: hasLinks = true, blank = true }: Arbitrary): fc.Arbitrary<Made> {
  const triples = triplesOf(blank);
  const common = fc.record(
    {
      ...(hasLinks ? { links: links.filter((found) => Object.keys(found).length > 0) } : {}),
      ...(acl ? { acl: triples.filter((quads) => quads.length > 0).map((quads) => ({ quads, prefixes: {} })) } : {}),
    },
    { requiredKeys: [] },
  );
  const container = common.map(
    (facts): Made =>
      (path) => ({ ...facts, kind: 'container', path: `${path}/`, source: '' }),
  );
  const graph = fc.tuple(common, triples).map(
    ([facts, quads]): Made =>
      (path) => ({ ...facts, kind: 'rdf', path, source: '', quads, prefixes: {} }),
  );
  const bytes = fc
    .tuple(common, mediaTypes, fc.oneof(fc.uint8Array({ maxLength: 20 }), fc.constant(Buffer.alloc(20_000, 'é'))))
    .map(
      ([facts, mediaType, content]): Made =>
        (path) => ({ ...bytesMember(path, mediaType, content), ...facts }),
    );
  return fc.oneof(container, graph, bytes);
}

/** Sorts members by path, skips duplicates and members below a resource, and adds the parent containers. */
function placed(entries: readonly (readonly [segments: string[], made: Made])[]): ResourceMember[] {
  const members = new Map<string, ResourceMember>();
  const taken = new Set<string>();
  for (const [segments, made] of entries) {
    const path = segments.join('/');
    const above = segments.slice(1).map((_, count) => `${segments.slice(0, count + 1).join('/')}`);
    if (taken.has(path) || above.some((folder) => taken.has(folder) && !members.has(`${folder}/`))) continue;
    for (const folder of above) {
      if (taken.has(folder)) continue;
      members.set(`${folder}/`, { kind: 'container', path: `${folder}/`, source: '' });
      taken.add(folder);
    }
    const member = made(path);
    members.set(member.path, member);
    taken.add(path);
  }
  return [...members.values()].sort((a, b) => (a.path < b.path ? -1 : 1));
}

/** Returns the contents of members. */
export async function contentsOf(members: readonly Member[]): Promise<Map<string, Buffer>> {
  const contents = new Map<string, Buffer>();
  for (const member of members) if (member.kind === 'bytes') contents.set(member.path, await bytesOfMember(member));
  return contents;
}
