/**
 * Reads RO-Crates (RO-Crate 1.0 to 1.2): a directory of files, whose metadata becomes declared types and links. The metadata
 * file is also imported as a resource with its original bytes, so that no information is lost.
 */
import { hash } from 'node:crypto';
import {
  bytesOfFile,
  type FileTree,
  type FormatTools,
  isAbsoluteIri,
  isObject,
  type Links,
  type Member,
  type MemberOf,
  type MemberOptions,
  objectOfFile,
  parseMediaType,
  type ReadStep,
  rdfTypeOf,
  requiredFile,
  TransferError,
  treeReader,
} from '../../lib/plugin/formats.js';
import { baseWith, treeBelow } from './one-folder.js';
import { CrateTerms, datasetType, fileType, schemaOrg } from './ro-crate-terms.js';

export const metadataFile = 'ro-crate-metadata.json';
/** Name of the metadata file in RO-Crate 1.0. */
const oldMetadataFile = 'ro-crate-metadata.jsonld';
const metadataFiles: readonly string[] = [metadataFile, oldMetadataFile];
/** Maximum size of the metadata file, in bytes. */
const longestMetadata = 64 << 20;

/** Cursor after the metadata of RO-Crate 1.0. Differs from all file paths. */
const afterOld = '//';

const noGraph = 'The array "@graph" is missing (RO-Crate).';

export const isMetadataFile = (path: string): boolean => metadataFiles.includes(path);

/** Returns true if a tree is a crate, or has a crate as its only directory. */
export const isCrate = async (tree: FileTree): Promise<boolean> => (await baseWith(tree, metadataFiles)) !== undefined;

/** Reads a crate. Cursors are those of the directory reader, `-` after the links of the crate itself, and `afterOld`. */
export const crateReader = treeReader(readCrate);

/** Description of a file or a directory in the metadata. */
interface Described {
  readonly links: Links;
  readonly mediaType?: string;
}

/** Returns the end of metadata that has only data of the storage and the directory index. @param digest of the bytes before */
export const sealed = (digest: string): string =>
  `,\n{"@id":"#export","@type":"PropertyValue","propertyID":"sha256","value":"${digest}"}]}\n`;

/** Returns true if the metadata is unchanged since this server generated it, so that it need not be imported. */
async function isSealed(tree: FileTree): Promise<boolean> {
  const file = await tree.file(metadataFile);
  const bytes = file ? await bytesOfFile(file, longestMetadata) : Buffer.alloc(0);
  const text = bytes.subarray(0, -sealed('0'.repeat(64)).length);
  return bytes.subarray(text.length).toString() === sealed(hash('sha256', text, 'hex'));
}

async function* readCrate(whole: FileTree, options: MemberOptions, tools: FormatTools): AsyncGenerator<ReadStep> {
  const base = await baseWith(whole, metadataFiles);
  const tree = base ? treeBelow(whole, base) : whole;
  if (await isSealed(tree)) {
    for await (const step of tools.readFolder(tree).read(options)) if (step.member.source !== metadataFile) yield step;
    return;
  }
  const described = await describedFiles(tree, options, tools);
  const { cursor, ...others } = options;
  const old = await oldMetadata(tree);
  if (cursor === undefined) {
    const links = described.get('')?.links ?? {};
    const root: MemberOf<'container'> = { kind: 'container', path: '', source: metadataFile, links };
    if (Object.keys(links).length > 0) yield { member: root, cursor: '-', bytes: 0 };
  }
  if (old && (cursor === undefined || cursor === '-')) yield { member: old, cursor: afterOld, bytes: old.size! };
  const behind = cursor === undefined || cursor === '-' || cursor === afterOld ? others : options;
  for await (const step of tools.readFolder(old ? without(tree, oldMetadataFile) : tree).read(behind)) {
    const { member } = step;
    const isResource = member.kind !== 'left-out' && member.kind !== 'state';
    const found = isResource ? described.get(member.path === '' ? '' : member.source) : undefined;
    yield found ? { ...step, member: merged(member as Member, found) } : step;
  }
}

/** Returns the metadata of RO-Crate 1.0 as binary: as JSON-LD, it would require the context of that version. */
async function oldMetadata(tree: FileTree): Promise<MemberOf<'bytes'> | undefined> {
  if (await tree.file(metadataFile)) return undefined;
  const file = await tree.file(oldMetadataFile);
  if (!file) return undefined;
  const { size, modified } = file;
  const dates = modified === undefined ? {} : { modified };
  const names = { path: oldMetadataFile, source: oldMetadataFile };
  return { kind: 'bytes', ...names, ...dates, mediaType: 'application/ld+json', size, open: () => file.open() };
}

const without = (tree: FileTree, path: string): FileTree => ({
  total: tree.total,
  async *files(after) {
    for await (const file of tree.files(after)) if (file.path !== path) yield file;
  },
  file: async (wanted) => (wanted === path ? undefined : tree.file(wanted)),
  close: () => tree.close(),
});

/** Adds the links of a description to a member. Other sources, such as an index of the directory, take precedence. */
function merged(member: Member, { links, mediaType }: Described): Member {
  if (member.kind === 'state') return member;
  const all = { ...links, ...member.links };
  const found = Object.keys(all).length > 0 ? { ...member, links: all } : member;
  const isUnknown = found.kind === 'bytes' && found.mediaType === 'application/octet-stream';
  return isUnknown && mediaType !== undefined ? { ...found, mediaType } : found;
}

/** Returns descriptions of files and directories by path, '' for the crate. @throws TransferError for invalid metadata */
async function describedFiles(
  tree: FileTree,
  options: MemberOptions,
  tools: FormatTools,
): Promise<Map<string, Described>> {
  const file =
    (await tree.file(metadataFile)) ??
    (await tree.file(oldMetadataFile)) ??
    (await requiredFile(tree, metadataFile, 'this is not an RO-Crate'));
  const { context, graph } = await readCrateMetadata(file);
  const terms = new CrateTerms(context);
  const described = new Map<string, Described>();
  const root = rootOf(graph);
  for (const entity of graph) {
    const id = isObject(entity) ? entity['@id'] : undefined;
    const path = id === root ? '' : typeof id === 'string' ? pathOfId(id, options.into, tools) : undefined;
    // Only the root entity describes the crate as a whole.
    if (path !== undefined && !isMetadataFile(path) && (path !== '' || id === root || root === './'))
      described.set(path, describedBy(entity as Entity, { path, terms, options, tools, metadata: file.path }));
  }
  return described;
}

/** Returns the identifier of the crate itself, which can be absolute since RO-Crate 1.2. */
export function rootOf(graph: readonly unknown[]): string {
  const descriptor = graph.find((entity) => isObject(entity) && isMetadataId(entity['@id'])) as Entity | undefined;
  const about = descriptor?.['about'];
  const id = isObject(about) ? about['@id'] : undefined;
  return typeof id === 'string' ? id : './';
}

/** True for an identifier of the metadata file, with or without `./`. */
export const isMetadataId = (id: unknown): boolean => typeof id === 'string' && isMetadataFile(id.replace(/^\.\//, ''));

export type Entity = Readonly<Record<string, unknown>>;

interface CrateMetadata {
  readonly context: unknown;
  readonly graph: unknown[];
}

/** Parses a metadata file. @throws TransferError if it is not valid */
export async function readCrateMetadata(file: Parameters<typeof objectOfFile>[0]): Promise<CrateMetadata> {
  const { '@context': context, '@graph': graph } = await objectOfFile(file, longestMetadata, noGraph);
  if (!Array.isArray(graph)) throw new TransferError(`${metadataFile}: ${noGraph}`);
  return { context, graph };
}

/** Returns the file path for an identifier, or `undefined` if it is outside of the crate. */
function pathOfId(id: string, into: string, tools: FormatTools): string | undefined {
  const iri = absoluteIri(id, { into, tools });
  if (iri === undefined || !iri.startsWith(into) || /[?#]/.test(iri)) return undefined;
  try {
    return decodeURIComponent(iri.slice(into.length));
  } catch {
    return undefined;
  }
}

interface Resolution {
  readonly into: string;
  readonly tools: FormatTools;
  readonly move?: (iri: string) => string;
  /** Name of the metadata file. */
  readonly metadata?: string;
}

/** Resolves an identifier, which is relative to the metadata file. Published crates contain unescaped spaces and brackets. */
function absoluteIri(
  id: string,
  { into, tools, move = (iri) => iri, metadata = metadataFile }: Resolution,
): string | undefined {
  const reference = id.replace(/[ "<>\\^`{|}]/g, encodeURIComponent);
  if (isAbsoluteIri(reference)) return move(reference);
  const iri = tools.resolveIri(reference, into + metadata);
  return isAbsoluteIri(iri) ? iri : undefined;
}

interface Place {
  readonly path: string;
  readonly terms: CrateTerms;
  /** Name of the metadata file. */
  readonly metadata: string;
  readonly options: MemberOptions;
  readonly tools: FormatTools;
}

function describedBy(entity: Entity, { path, terms, options, tools, metadata }: Place): Described {
  const { into } = options;
  const move = tools.rewriter(options.rewrite);
  // Omit the types of files and directories, which the kind of resource implies. The crate itself keeps Dataset.
  const structural = path === '' ? [fileType] : [fileType, datasetType];
  const types = [entity['@type']].flat().flatMap((name) => {
    const iri = typeof name === 'string' ? terms.iri(name) : undefined;
    return iri === undefined || structural.includes(iri) ? [] : [{ href: move(iri) }];
  });
  const relations = new Map<string, unknown[]>(types.length > 0 ? [['type', types]] : []);
  for (const [name, value] of Object.entries(entity)) {
    const relation = name.startsWith('@') ? undefined : terms.iri(name);
    // Skip membership, which containers manage.
    if (relation === undefined || relation === `${schemaOrg}hasPart`) continue;
    const targets = [value].flat().flatMap((each) => {
      const id = isObject(each) ? each['@id'] : undefined;
      const href =
        typeof id === 'string' && !id.startsWith('_:') ? absoluteIri(id, { into, tools, move, metadata }) : undefined;
      return href === undefined ? [] : [{ href }];
    });
    const key = move(relation).replace(/^http:\/\/www\.iana\.org\/assignments\/relation\//, '');
    if (targets.length > 0) relations.set(key, [...(relations.get(key) ?? []), ...targets]);
  }
  const format = [entity['encodingFormat']].flat().find((each) => typeof each === 'string' && parseMediaType(each));
  const isKept = typeof format === 'string' && rdfTypeOf(format) === undefined;
  return {
    links: linksOf(relations, (object) => tools.links.read(object, into)),
    ...(isKept ? { mediaType: format } : {}),
  };
}

/** Returns relations as links, or no links if a relation cannot be a link. The values remain in the metadata file. */
function linksOf(relations: ReadonlyMap<string, unknown[]>, read: (object: unknown) => Links): Links {
  try {
    return read(Object.fromEntries(relations));
  } catch (cause) {
    if (!(cause instanceof TransferError)) throw cause;
    return {};
  }
}
