/** Turns the members of a format into items that can be stored: keys, sizes, blobs. */
import { createHash, hash } from 'node:crypto';
import type { Quad, Quad_Object, Quad_Subject, Term } from '@rdfjs/types';
import { DataFactory } from 'rdf-data-factory';
import type { Acl } from '../../lib/component/access.js';
import { LwsError } from '../../lib/component/basics.js';
import type { Blobs, BlobWriter } from '../../lib/component/blobs.js';
import type { AccessList, BytesMember, GraphMember, ResourceMember } from '../../lib/component/exchange.js';
import { decodeUtf8, parseJson } from '../../lib/component/fields.js';
import { defaultTurtle, encodeQuads, graphPrefix, layoutOf, separator } from '../../lib/component/graphs.js';
import { contentKind } from '../../lib/component/resources.js';
import { boundedPrefixes } from '../../lib/component/writers.js';
import type { BlockItem, RdfBounds } from './blocks.js';

const factory = new DataFactory<Quad>();

/** Labels of blank nodes that the storage made: no other software makes such labels. */
const ours = /^b[0-9a-f]{24}x[0-9a-z]{4,}$/;
/** Labels that a reader has made unique for their document already. */
const ofDocument = /^b[0-9a-f]{24}x/;

/**
 * Gives blank nodes unique labels: that of their document, or one made of the import's seed, the resource and the label. So the parts of
 * one graph agree, also when an import continues. Labels of this storage stay, so that an exported graph comes back as it was.
 */
export function relabelled(quads: readonly Quad[], seed: string, path: string): readonly Quad[] {
  const labels = new Map<string, Term>();
  const fresh = <T extends Term>(term: T): T => {
    if (term.termType !== 'BlankNode' || ours.test(term.value)) return term;
    let label = labels.get(term.value);
    if (!label) {
      const whole = ofDocument.test(term.value) ? term.value : `${seed}\u0000${path}\u0000${term.value}`;
      const name = hash('sha256', whole, 'hex').slice(0, 24);
      label = factory.blankNode(`b${name}x0000`);
      labels.set(term.value, label);
    }
    return label as unknown as T;
  };
  return quads.map((quad) => {
    const subject = fresh(quad.subject as Quad_Subject);
    const object = fresh(quad.object as Quad_Object);
    return subject === quad.subject && object === quad.object ? quad : factory.quad(subject, quad.predicate, object);
  });
}

/** A graph as it is stored, with all its keys. @throws LwsError for what cannot be stored */
export function encodedGraph(
  iri: string,
  quads: Iterable<Quad>,
  given: GraphMember['prefixes'],
): { readonly keys: string[]; readonly size: number; readonly prefixes: GraphMember['prefixes'] } {
  const found = encodeQuads(iri, quads);
  const prefixes = boundedPrefixes(given);
  const keys = found.map(({ key }) => key);
  const { size } = defaultTurtle({ keys, quads: found.map(({ quad }) => quad) }, iri, prefixes);
  return { keys, size, prefixes };
}

/** The keys that listeners of transactions index: with the resource or a fragment as their subject, and an IRI as their object. */
export function ownKeys(iri: string, keys: readonly string[]): string[] {
  const from = graphPrefix(iri).length;
  const end = from + iri.length;
  const isOwn = (key: string): boolean =>
    (key[end] === '#' || key.startsWith(separator, end)) && key.startsWith(iri, from);
  return keys.filter((key) => isOwn(key) && key[layoutOf(key).suffixAt + 15] === '0');
}

/** The parts of an item other than its content. */
export function extrasOf(iri: string, member: ResourceMember, seed: string): Omit<BlockItem, 'content'> {
  const { source, links, acl, created, modified } = member;
  return {
    iri,
    source,
    ...(links && Object.keys(links).length > 0 ? { links } : {}),
    ...(acl ? { acl: aclOf(iri, acl, seed) } : {}),
    ...(created === undefined ? {} : { created }),
    ...(modified === undefined ? {} : { modified }),
  };
}

function aclOf(iri: string, { quads, prefixes }: AccessList, seed: string): NonNullable<BlockItem['acl']> {
  const keys = encodeQuads(iri, relabelled(quads, seed, `${iri}.acl`)).map(({ key }) => key);
  return { keys, prefixes: boundedPrefixes(prefixes) };
}

/** A sentence for each agent that an access list names, with its modes. */
export const namedIn = ({ rules }: Acl): string[] =>
  rules.flatMap(({ agents, groups, everybody, authenticated, modes }) =>
    [everybody && 'everybody', authenticated && 'everybody who signs in', ...groups, ...agents]
      .filter((name) => name !== false)
      .map((name) => `${name}: ${[...modes].sort().join(', ')}.`),
  );

/** A content whose bytes are written to a blob; `finish` of the blob must be called before a record refers to it. */
export interface StoredBytes {
  readonly content: NonNullable<BlockItem['content']>;
  readonly blob: BlobWriter | undefined;
}

/**
 * Puts bytes into a blob.
 * @param blobs absent: they are only measured
 * @throws LwsError `storage-full`, what the source throws
 */
export async function storeMember(
  member: BytesMember,
  blobs: Blobs | undefined,
  { jsonBytes }: RdfBounds,
): Promise<StoredBytes> {
  const { mediaType, size: announced } = member;
  const wanted = contentKind(undefined, mediaType.split(';')[0]!.trim().toLowerCase());
  const digest = createHash('sha256');
  const blob = await blobs?.create();
  const kept: Uint8Array[] | undefined = wanted === 'json' && (announced ?? 0) <= jsonBytes ? [] : undefined;
  let size = 0;
  try {
    for await (const chunk of member.open()) {
      size += chunk.length;
      digest.update(chunk);
      if (kept && size <= jsonBytes) kept.push(chunk);
      await blob?.write(chunk);
    }
    const sha256 = digest.digest('base64');
    if (member.sha256 !== undefined && member.sha256 !== sha256)
      throw new LwsError('digest-mismatch', 'It does not have the digest that the source says.');
    const kind = kept && size <= jsonBytes && isJson(Buffer.concat(kept)) ? 'json' : 'binary';
    return { content: { kind, mediaType, size, sha256, blob: blob?.blob ?? '' }, blob };
  } catch (error) {
    await blob?.abort();
    throw error;
  }
}

/** Whether bytes are JSON. Others of a JSON media type are stored as binary, so that PATCH refuses them. */
function isJson(bytes: Uint8Array): boolean {
  try {
    parseJson(decodeUtf8(bytes));
    return true;
  } catch (error) {
    if (error instanceof LwsError) return false;
    throw error;
  }
}
