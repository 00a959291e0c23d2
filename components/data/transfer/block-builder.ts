/** Collects members of an import into blocks. Each block becomes one transaction. */

import { createHash, hash } from 'node:crypto';
import type { Quad } from '@rdfjs/types';
import { type Acl, aclOfGraph } from '../../../lib/authorization/acl.js';
import type {
  AccessList,
  BytesMember,
  GraphMember,
  Member,
  ReadStep,
  ResourceMember,
} from '../../../lib/exchange/member.js';
import { relabeller } from '../../../lib/rdf/blank-nodes.js';
import { lengthOfTriple } from '../../../lib/rdf/bounds.js';
import { boundedPrefixes } from '../../../lib/rdf/prefixes.js';
import { contentKind } from '../../../lib/resources/types.js';
import type { Blobs, BlobWriter } from '../../../lib/storage/blobs/blobs.js';
import { sizeOfTurtle } from '../../../lib/storage/graphs/graph-lines.js';
import { KeyDigest } from '../../../lib/storage/keys/key-digest.js';
import { versionOf } from '../../../lib/storage/keys/key-layout.js';
import { decodeGraph } from '../../../lib/storage/keys/quad-decoding.js';
import { encodeQuads, graphPrefix, layoutOf, separator } from '../../../lib/storage/keys/quad-keys.js';
import { LwsError } from '../../../lib/tools/errors.js';
import { decodeUtf8, parseJson } from '../../../lib/tools/json/json.js';
import { isStoredLabel } from '../exchange/document-factory.js';
import {
  type BlockItem,
  type BlockState,
  type ImportBlock,
  type ImportTask,
  maxTold,
  type ReportEntry,
} from './blocks.js';

/** Maximum quads in a block. Larger transactions delay others and outlive V8's young generation. Smaller ones are slower. */
const maxQuads = 4_000;
const maxItems = 500;
const maxBytes = 16 << 20;
/** Maximum length of the terms in a block, in characters: the thread has several copies of them, and a batch has four. */
const maxCharacters = 8 << 20;
/** Maximum number of quads up to which parts of a graph are joined into one item. */
const maxJoined = 20_000;
/** Maximum size of a JSON document in bytes. Longer documents are stored as binary, without parsing. */
const longestJson = 16 << 20;

interface BuilderOptions extends Pick<ImportTask, 'into' | 'seed' | 'acls' | 'texts'> {
  /** Store of the blobs. Undefined in a dry run: contents are measured but not stored. */
  readonly blobs: Blobs | undefined;
}

/** A block, and the data of its items that stay in the reading thread. */
export interface BuiltBlock {
  readonly block: ImportBlock;
  /** All keys of each graph, by index of the item. */
  readonly keys: readonly (readonly string[] | undefined)[];
  /** Blobs by index of the item, undefined for items without a blob. */
  readonly blobs: readonly (BlobWriter | undefined)[];
}

const notAsked = 'Access control lists are imported on request only (acls=yes, --acls).';

type Item = { item: BlockItem; keys: readonly string[] | undefined; blob: BlobWriter | undefined };

export class BlockBuilder {
  private readonly items: (Item | undefined)[] = [];
  /** Index in `items` of each encoded graph, by path. */
  private readonly encoded = new Map<string, number>();
  private readonly graphs = new Map<string, { member: GraphMember; quads: GraphMember['quads'][] }>();
  private readonly states: BlockState[] = [];
  private readonly leftOut: ReportEntry[] = [];
  private readonly access: ReportEntry[] = [];
  private readonly finishing: Promise<void>[] = [];
  private quads = 0;
  private characters = 0;
  private keyBytes = 0;
  private contentBytes = 0;
  private at: Pick<ReadStep, 'cursor' | 'bytes'> = { cursor: '', bytes: 0 };
  /** True if more parts of the last graph follow. */
  private isOpen = false;

  /** @param source facts about the source, for all its blocks */
  constructor(
    private readonly options: BuilderOptions,
    private readonly source: { isMixed: boolean; listed: string },
  ) {}

  get isEmpty(): boolean {
    return this.items.length + this.graphs.size + this.states.length + this.leftOut.length === 0;
  }

  get isFull(): boolean {
    if (this.quads >= maxJoined || this.characters >= maxCharacters) return true;
    if (this.isOpen) return false;
    const { items, graphs, states, leftOut } = this;
    const many = items.length + graphs.size + states.length + leftOut.length >= maxItems;
    return many || this.quads >= maxQuads || this.contentBytes >= maxBytes;
  }

  /** Adds a member to the block. @throws TransferError from the source, LwsError `storage-full` */
  async add(step: ReadStep): Promise<void> {
    const { member } = step;
    this.isOpen = false;
    if (member.kind === 'left-out') this.leftOut.push({ source: member.source, why: member.why });
    else if (member.kind === 'rdf') this.addGraph(member);
    else await this.addOther(member);
    // Set the position after the member is added: if adding fails, a continued import reads the member again.
    this.at = step;
  }

  private addGraph(member: GraphMember): void {
    this.isOpen = member.hasMore === true;
    this.quads += member.quads.length;
    for (const quad of member.quads) this.characters += lengthOfTriple(quad);
    if (!this.source.isMixed) this.encodeOthers(member.path);
    const known = this.graphs.get(member.path);
    if (known) {
      known.quads.push(member.quads);
      // In exports, links and access lists come with the last part of a graph.
      const { links = known.member.links, acl = known.member.acl } = member;
      const facts = { ...(links ? { links } : {}), ...(acl ? { acl } : {}) };
      this.graphs.set(member.path, { ...known, member: { ...known.member, ...facts } });
    } else this.graphs.set(member.path, { member, quads: [...this.reopened(member.path), member.quads] });
  }

  /** Encodes all graphs except the current one, to free their quads. In most sources, one graph follows the other. */
  private encodeOthers(open: string): void {
    for (const [path, graph] of this.graphs)
      if (path !== open) {
        this.graphs.delete(path);
        this.encode(path, graph);
      }
  }

  /** Returns the quads of a graph that was already encoded: this source interleaves the parts of graphs. */
  private reopened(path: string): GraphMember['quads'][] {
    const at = this.encoded.get(path);
    if (at === undefined) return [];
    this.source.isMixed = true;
    this.encoded.delete(path);
    const { keys } = this.items[at]!;
    this.items[at] = undefined;
    return [decodeGraph(keys!)];
  }

  private async addOther(member: Exclude<Member, GraphMember>): Promise<void> {
    // Encode the graphs first, because the first of two members with the same name is used.
    this.encodeOthers('');
    if (member.kind === 'state') {
      const { source, key, value } = member;
      this.states.push({ source, key, value });
    } else if (member.kind === 'container') this.push(member, undefined);
    else await this.addBytes(member);
  }

  private async addBytes(member: BytesMember): Promise<void> {
    try {
      const { content, blob } = await storeMember(member, this.options.blobs);
      this.contentBytes += content.size;
      // Blobs are synced concurrently. `build` waits for all of them.
      if (blob) this.finish(blob);
      this.push(member, content, { blob });
    } catch (error) {
      this.refuse(member.source, error);
    }
  }

  private finish(blob: BlobWriter): void {
    const finished = blob.finish();
    // `build` throws the error. Until then, the rejection must not be reported as unhandled.
    finished.catch(() => {});
    this.finishing.push(finished);
  }

  private push(
    member: Parameters<typeof extrasOf>[1],
    content: BlockItem['content'] | undefined,
    { keys, blob }: { keys?: readonly string[]; blob?: BlobWriter | undefined } = {},
  ): void {
    const { into, seed } = this.options;
    const { acl, ...others } = extrasOf(into + member.path, member, seed);
    if (acl) this.tellOf(others.iri, acl.keys);
    const extras = acl && this.options.acls ? { ...others, acl } : others;
    this.items.push({ item: content ? { ...extras, content } : extras, keys, blob });
  }

  /** Reports the agents in an ACL, once per graph, because each part of a graph has the ACL. */
  private tellOf(iri: string, keys: readonly string[]): void {
    const named = namedIn(aclOfGraph(iri, keys)).slice(0, maxTold + 1);
    const listed = [iri, ...named].join('\n');
    if (this.source.listed === listed) return;
    this.source.listed = listed;
    this.access.push(...named.map((why) => ({ source: iri, why })));
    if (!this.options.acls) this.leftOut.push({ source: iri, why: notAsked });
  }

  /** Skips a member that cannot be stored and reports the reason. The import continues. */
  private refuse(source: string, error: unknown): void {
    if (!(error instanceof LwsError) || error.code === 'storage-full' || error.code === 'too-busy') throw error;
    this.leftOut.push({ source, why: error.message });
  }

  private encode(path: string, { member, quads }: { member: GraphMember; quads: GraphMember['quads'][] }): void {
    const { into, seed, texts } = this.options;
    const iri = into + path;
    try {
      const all = relabelled(quads.length === 1 ? quads[0]! : quads.flat(), seed, path);
      const found = encodeQuads(iri, all);
      const prefixes = boundedPrefixes(member.prefixes);
      const keys = found.map(({ key }) => key);
      const size = sizeOfTurtle({ keys, quads: found.map(({ quad }) => quad) }, iri, prefixes);
      for (const key of keys) this.keyBytes += key.length;
      this.encoded.set(path, this.items.length);
      this.push(
        member,
        {
          ...{ kind: 'rdf', size, triples: keys.length, prefixes, own: ownKeys(iri, keys, texts) },
          ...{ digest: KeyDigest.of(keys).toString(), rdfVersion: versionOf(keys) },
        },
        { keys },
      );
    } catch (error) {
      this.refuse(member.source, error);
    }
  }

  /** Creates the block when all its blobs are stored. @throws LwsError `storage-full` */
  async build(number: number): Promise<BuiltBlock> {
    for (const [path, graph] of this.graphs) this.encode(path, graph);
    const { states, leftOut, access, quads } = this;
    const { cursor, bytes } = this.at;
    const items = this.items.filter((item) => item !== undefined);
    const finished = await Promise.allSettled(this.finishing);
    const failed = finished.find((result) => result.status === 'rejected');
    if (failed) {
      await this.abort();
      throw failed.reason;
    }
    const block: ImportBlock = {
      ...{ number, states, leftOut, access, quads, cursor, bytes },
      items: items.map(({ item }) => item),
      keyBytes: this.keyBytes,
    };
    return { block, keys: items.map(({ keys }) => keys), blobs: items.map(({ blob }) => blob) };
  }

  /** Removes the blobs of an unfinished block. */
  async abort(): Promise<void> {
    await Promise.allSettled(this.finishing);
    await Promise.all(this.items.map((item) => item?.blob?.abort()));
  }
}

/** Matches blank node labels made by the storage. Other software does not make such labels. */
const ours = /^b[0-9a-f]{24}x[0-9a-z]{4,}$/;

/**
 * Returns quads whose blank nodes have unique labels: the label of their document, or a label computed from the import's seed,
 * the resource and the original label. The labels are stable across the parts of a graph and after continuing an import. Labels
 * made by this storage are kept, so that an exported graph is imported unchanged.
 */
const relabelled = (quads: readonly Quad[], seed: string, path: string): readonly Quad[] =>
  relabeller((label) => {
    if (ours.test(label)) return label;
    const whole = isStoredLabel(label) ? label : `${seed}\u0000${path}\u0000${label}`;
    return `b${hash('sha256', whole, 'hex').slice(0, 24)}x0000`;
  })(quads);

/**
 * Returns the keys that transaction listeners index: the subject is the resource or a fragment of it, and the object an IRI.
 * @param texts true to include keys with a text as object
 */
function ownKeys(iri: string, keys: readonly string[], texts: boolean): string[] {
  const from = graphPrefix(iri).length;
  const end = from + iri.length;
  const isOwn = (key: string): boolean =>
    (key[end] === '#' || key.startsWith(separator, end)) && key.startsWith(iri, from);
  return keys.filter((key) => {
    if (!texts && !isOwn(key)) return false;
    // Type letter of the object: an IRI, a string, or a text with a language.
    const type = key[layoutOf(key).suffixAt + 15]!;
    return type === '0' ? isOwn(key) : texts && (type === '3' || type === '4' || type === '9');
  });
}

/** Returns the metadata of an item: everything except its content. */
function extrasOf(iri: string, member: ResourceMember, seed: string): Omit<BlockItem, 'content'> {
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

/** Returns a sentence for each agent in an access list, with its modes. */
const namedIn = ({ rules }: Acl): string[] =>
  rules.flatMap(({ agents, groups, everybody, authenticated, modes }) =>
    [everybody && 'all callers', authenticated && 'all authenticated callers', ...groups, ...agents]
      .filter((name) => name !== false)
      .map((name) => `${name}: ${[...modes].sort().join(', ')}.`),
  );

/**
 * Stores bytes as a blob. @param blobs undefined to measure the bytes only @returns the content and its blob. Call `finish` on
 * the blob before a record refers to it @throws LwsError `storage-full`, errors of the source
 */
async function storeMember(member: BytesMember, blobs: Blobs | undefined) {
  const { mediaType, size: announced } = member;
  const wanted = contentKind(undefined, mediaType.split(';')[0]!.trim().toLowerCase());
  const digest = createHash('sha256');
  const blob = await blobs?.create();
  const kept: Uint8Array[] | undefined = wanted === 'json' && (announced ?? 0) <= longestJson ? [] : undefined;
  let size = 0;
  try {
    for await (const chunk of member.open()) {
      size += chunk.length;
      digest.update(chunk);
      if (kept && size <= longestJson) kept.push(chunk);
      await blob?.write(chunk);
    }
    const sha256 = digest.digest('base64');
    if (member.sha256 !== undefined && member.sha256 !== sha256)
      throw new LwsError('digest-mismatch', 'The digest differs from the one in the source.');
    const kind = kept && size <= longestJson && isJson(Buffer.concat(kept)) ? 'json' : 'binary';
    const content: BlockItem['content'] = { kind, mediaType, size, sha256, blob: blob?.blob ?? '' };
    return { content, blob };
  } catch (error) {
    await blob?.abort();
    throw error;
  }
}

/** Returns true if bytes are valid JSON. Invalid content with a JSON media type is stored as binary, so that PATCH rejects it. */
function isJson(bytes: Uint8Array): boolean {
  try {
    parseJson(decodeUtf8(bytes));
    return true;
  } catch (error) {
    if (error instanceof LwsError) return false;
    throw error;
  }
}
