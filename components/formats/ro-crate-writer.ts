/** Writes RO-Crates (RO-Crate 1.2): a directory of files, and metadata with their types and links. */
import { createHash } from 'node:crypto';
import {
  isObject,
  type Links,
  type Member,
  type MemberOf,
  type TreeSink,
  type Writer,
  type WriteTools,
} from '../../lib/plugin/formats.js';
import type { BagWriterOptions } from './bagit-writer.js';
import {
  type Entity,
  isMetadataFile,
  isMetadataId,
  metadataFile,
  readCrateMetadata,
  rootOf,
  sealed,
} from './ro-crate-reader.js';
import { crateName } from './ro-crate-terms.js';

/** Description of a file or directory (paths of directories end in a slash). */
interface Described {
  readonly entity: Record<string, unknown>;
  readonly parts: string[];
}

/** Writes a crate. If the exported container was imported from a crate, the original metadata is kept and extended. */
export class CrateWriter implements Writer {
  private readonly files: Writer;
  private readonly described = new Map<string, Described>();
  private before: { readonly context: unknown; readonly graph: readonly unknown[] } | undefined;
  private member: MemberOf<'container' | 'rdf' | 'bytes'> | undefined;
  /** Path and links of the RDF resource that is being written. */
  private file = '';
  private links: Links | undefined;

  private readonly of: string;
  private readonly made: Date;
  private readonly tools: WriteTools;

  constructor(
    private readonly sink: TreeSink,
    { of, made, tools }: BagWriterOptions,
  ) {
    [this.of, this.made, this.tools] = [of, made, tools];
    const add: TreeSink['add'] = (path, content, facts) => {
      this.describe(path);
      return sink.add(path, content, facts);
    };
    this.files = tools.folderWriter({ add, end: async () => {} }, of);
  }

  /** Writes a member. @throws TransferError if existing metadata cannot be parsed */
  async write(member: Member): Promise<void> {
    if (member.kind === 'state') return;
    if (member.kind === 'bytes' && isMetadataFile(member.path)) {
      this.before = await readCrateMetadata(member);
      return;
    }
    if (member.path === '') this.described.set('', this.descriptionOf('', member));
    // All parts of a graph become one file, which the first part describes.
    if (this.member?.path !== member.path) this.member = member;
    await this.files.write(member);
    if (member.kind !== 'rdf') return;
    // Any part of a graph can contain the links.
    this.links = member.links ?? this.links;
    if (member.hasMore) return;
    this.described.set(this.file, this.descriptionOf(this.file, { ...member, links: this.links ?? {} }));
    this.links = undefined;
  }

  async end(): Promise<void> {
    this.member = undefined;
    await this.files.end();
    await this.sink.add(metadataFile, this.text());
    await this.sink.end();
  }

  /** Adds the description of a file, and lists it in its directory. @param file path of the written file */
  private describe(file: string): void {
    // Files written at the end, such as an index, belong to no member.
    this.file = file;
    if (this.member) this.described.set(file, this.descriptionOf(file, this.member));
    const folder = file.slice(0, file.lastIndexOf('/', file.length - 2) + 1);
    if (this.member) this.described.get(folder)?.parts.push(file);
  }

  private descriptionOf(file: string, member: MemberOf<'container' | 'rdf' | 'bytes'>): Described {
    const { kind, modified, links = {} } = member;
    const types = [kind === 'container' ? 'Dataset' : 'File', ...this.tools.links.types(links).map(crateName)];
    const entity: Record<string, unknown> = { '@id': idOf(file), '@type': types.length > 1 ? types : types[0] };
    if (kind === 'bytes') entity['encodingFormat'] = member.mediaType;
    if (kind === 'rdf') entity['encodingFormat'] = 'text/turtle';
    if (modified !== undefined) entity['dateModified'] = new Date(modified).toISOString();
    this.addLinks(entity, links, this.of + member.path);
    return { entity, parts: [] };
  }

  private addLinks(entity: Record<string, unknown>, links: Links, iri: string): void {
    for (const [relation, { href, literal }] of this.tools.links.values(links, iri)) {
      const name = relation.includes(':')
        ? crateName(relation)
        : `http://www.iana.org/assignments/relation/${relation}`;
      const value =
        href === undefined ? literal : { '@id': href.startsWith(this.of) ? referenceOf(href, this.of) : href };
      entity[name] = entity[name] === undefined ? value : [entity[name], value].flat();
    }
  }

  /** Returns the properties that RO-Crate 1.2 requires for a crate. */
  private ofRoot({ [ianaLicense]: license = 'The storage states no license.' }: Entity): Entity {
    const { of, made } = this;
    return { name: of, description: `Resources of ${of}`, datePublished: made.toISOString(), license };
  }

  private async *text(): AsyncGenerator<Uint8Array> {
    const digest = createHash('sha256');
    for (const piece of this.pieces()) {
      digest.update(piece);
      yield Buffer.from(piece);
    }
    yield Buffer.from(this.before ? ']}\n' : sealed(digest.digest('hex')));
  }

  private *pieces(): Generator<string> {
    const context = this.before?.context ?? `${version}/context`;
    const before = new Map<string, Entity>();
    for (const entity of this.before?.graph ?? [])
      if (isObject(entity) && typeof entity['@id'] === 'string')
        before.set(isMetadataId(entity['@id']) ? metadataFile : entity['@id'], entity);
    if (!this.described.has(''))
      this.described.set('', { entity: { '@id': './', '@type': 'Dataset' }, parts: topParts(this.described) });
    yield `{"@context":${JSON.stringify(context)},"@graph":[`;
    yield JSON.stringify({ ...descriptor(context), ...before.get(metadataFile), '@id': metadataFile });
    for (const id of [metadataFile, '#export']) before.delete(id);
    const root = rootOf(this.before?.graph ?? []);
    for (const { entity, parts } of this.described.values()) {
      const isRoot = entity['@id'] === './';
      const id = isRoot ? root : (entity['@id'] as string);
      const own = isRoot ? { ...this.ofRoot(entity), ...entity, '@id': root } : entity;
      const hasPart = parts.length > 0 ? { hasPart: parts.map((file) => ({ '@id': idOf(file) })) } : {};
      yield `,\n${JSON.stringify(together(before.get(id), { ...own, ...hasPart }))}`;
      before.delete(id);
    }
    for (const entity of before.values()) yield `,\n${JSON.stringify(entity)}`;
  }
}

const ianaLicense = 'http://www.iana.org/assignments/relation/license';

const version = 'https://w3id.org/ro/crate/1.2';

/** Returns the description of the metadata file. Kept metadata conforms to the version that its context names. */
function descriptor(context: unknown): Entity {
  const known = [context]
    .flat()
    .find((part) => typeof part === 'string' && /^https:\/\/w3id\.org\/ro\/crate\/[\d.]+\/context$/.test(part));
  const conformsTo = { '@id': (known as string | undefined)?.slice(0, -'/context'.length) ?? version };
  return { '@id': metadataFile, '@type': 'CreativeWork', conformsTo, about: { '@id': './' } };
}

const topParts = (described: ReadonlyMap<string, Described>): string[] =>
  [...described.keys()].filter((file) => /^[^/]+\/?$/.test(file));

/** Merges a generated description into an existing one, which takes precedence. Unites the types, and replaces the parts. */
function together(before: Entity | undefined, entity: Entity): Entity {
  if (!before) return entity;
  const types = [...new Set([before['@type'], entity['@type']].flat().filter((type) => typeof type === 'string'))];
  const parts = entity['hasPart'] === undefined ? {} : { hasPart: entity['hasPart'] };
  return { ...entity, ...before, '@type': types.length > 1 ? types : types[0], ...parts };
}

/** Returns the identifier of a file: a reference relative to the crate. */
const idOf = (file: string): string =>
  file === '' ? './' : referenceOf(file.split('/').map(encodeURIComponent).join('/'), '');

/** Returns a reference whose first segment cannot be mistaken for a scheme. */
function referenceOf(iri: string, of: string): string {
  const path = iri.slice(of.length);
  return path === '' || /^[^/?#]*:/.test(path) ? `./${path}` : path;
}
