/**
 * Reads RO-Crates (RO-Crate 1.1 and 1.2): a directory of files, whose metadata becomes declared types and links. The metadata file also
 * becomes a resource with its original bytes, so that nothing in it is lost.
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
import { CrateTerms, datasetType, fileType, schema } from './ro-crate-terms.js';

export const metadataFile = 'ro-crate-metadata.json';
/** Maximum size in bytes. */
const longestMetadata = 64 << 20;

const noGraph = 'The array "@graph" is missing (RO-Crate).';

/** Returns true if a tree is a crate. */
export const isCrate = async (tree: FileTree): Promise<boolean> => (await tree.file(metadataFile)) !== undefined;

/** Reads a crate. Cursors are those of the directory, and `-` after the links of the crate itself. */
export const crateReader = treeReader(readCrate);

/** Description of a file or a directory in the metadata. */
interface Described {
  readonly links: Links;
  readonly mediaType?: string;
}

/** End marker of metadata that only contains data of the storage and of the directory index, with the digest of the preceding bytes. */
export const sealed = (digest: string): string =>
  `,\n{"@id":"#export","@type":"PropertyValue","propertyID":"sha256","value":"${digest}"}]}\n`;

/** Returns true if the metadata is unchanged since this server wrote it: the next export generates it again. */
async function isSealed(tree: FileTree): Promise<boolean> {
  const file = await tree.file(metadataFile);
  const bytes = file ? await bytesOfFile(file, longestMetadata) : Buffer.alloc(0);
  const text = bytes.subarray(0, -sealed('0'.repeat(64)).length);
  return bytes.subarray(text.length).toString() === sealed(hash('sha256', text, 'hex'));
}

async function* readCrate(tree: FileTree, options: MemberOptions, tools: FormatTools): AsyncGenerator<ReadStep> {
  if (await isSealed(tree)) {
    for await (const step of tools.readFolder(tree).read(options)) if (step.member.source !== metadataFile) yield step;
    return;
  }
  const described = await describedFiles(tree, options, tools);
  const { cursor, ...others } = options;
  if (cursor === undefined) {
    const links = described.get('')?.links ?? {};
    const root: MemberOf<'container'> = { kind: 'container', path: '', source: metadataFile, links };
    if (Object.keys(links).length > 0) yield { member: root, cursor: '-', bytes: 0 };
  }
  const behind = cursor === undefined || cursor === '-' ? others : options;
  for await (const step of tools.readFolder(tree).read(behind)) {
    const { member } = step;
    const isResource = member.kind !== 'left-out' && member.kind !== 'state';
    const found = isResource ? described.get(member.path === '' ? '' : member.source) : undefined;
    yield found ? { ...step, member: merged(member as Member, found) } : step;
  }
}

/** Other sources, such as an index of the directory, override the metadata. */
function merged(member: Member, { links, mediaType }: Described): Member {
  if (member.kind === 'state') return member;
  const all = { ...links, ...member.links };
  const found = Object.keys(all).length > 0 ? { ...member, links: all } : member;
  const isUnknown = found.kind === 'bytes' && found.mediaType === 'application/octet-stream';
  return isUnknown && mediaType !== undefined ? { ...found, mediaType } : found;
}

/**
 * Returns the descriptions of files and directories by path, which is empty for the crate.
 * @throws TransferError unless it is valid metadata
 */
async function describedFiles(
  tree: FileTree,
  options: MemberOptions,
  tools: FormatTools,
): Promise<Map<string, Described>> {
  const file = await requiredFile(tree, metadataFile, 'this is not an RO-Crate');
  const { context, graph } = await readCrateMetadata(file);
  const terms = new CrateTerms(context);
  const described = new Map<string, Described>();
  const root = rootOf(graph);
  for (const entity of graph) {
    const id = isObject(entity) ? entity['@id'] : undefined;
    const path = id === root ? '' : typeof id === 'string' ? pathOfId(id, options.into, tools) : undefined;
    // Only the root describes the crate.
    if (path !== undefined && path !== metadataFile && (path !== '' || id === root || root === './'))
      described.set(path, describedBy(entity as Entity, { path, terms, options, tools }));
  }
  return described;
}

/** Returns the identifier of the crate itself, which can be absolute since RO-Crate 1.2. */
export function rootOf(graph: readonly unknown[]): string {
  const descriptor = graph.find((entity) => isObject(entity) && entity['@id'] === metadataFile) as Entity | undefined;
  const about = descriptor?.['about'];
  const id = isObject(about) ? about['@id'] : undefined;
  return typeof id === 'string' ? id : './';
}

export type Entity = Readonly<Record<string, unknown>>;

interface CrateMetadata {
  readonly context: unknown;
  readonly graph: unknown[];
}

/** @throws TransferError unless it is the metadata of a crate */
export async function readCrateMetadata(file: Parameters<typeof objectOfFile>[0]): Promise<CrateMetadata> {
  const { '@context': context, '@graph': graph } = await objectOfFile(file, longestMetadata, noGraph);
  if (!Array.isArray(graph)) throw new TransferError(`${metadataFile}: ${noGraph}`);
  return { context, graph };
}

/** Returns the file path of an identifier, or `undefined` if it is not in the crate. */
function pathOfId(id: string, into: string, tools: FormatTools): string | undefined {
  const iri = absoluteIri(id, { into, tools });
  if (iri === undefined || !iri.startsWith(into) || /[?#]/.test(iri)) return undefined;
  try {
    return decodeURIComponent(iri.slice(into.length));
  } catch {
    return undefined;
  }
}

/** Identifiers are relative to the metadata file. Published crates contain unescaped spaces and brackets. */
function absoluteIri(
  id: string,
  { into, tools, move = (iri) => iri }: { into: string; tools: FormatTools; move?: (iri: string) => string },
): string | undefined {
  const reference = id.replace(/[ "<>\\^`{|}]/g, encodeURIComponent);
  if (isAbsoluteIri(reference)) return move(reference);
  const iri = tools.resolveIri(reference, into + metadataFile);
  return isAbsoluteIri(iri) ? iri : undefined;
}

interface Place {
  readonly path: string;
  readonly terms: CrateTerms;
  readonly options: MemberOptions;
  readonly tools: FormatTools;
}

function describedBy(entity: Entity, { path, terms, options, tools }: Place): Described {
  const { into } = options;
  const move = tools.rewriter(options.rewrite);
  // File and directory types are implied by the resource. The crate as a whole has further types.
  const structural = path === '' ? [fileType] : [fileType, datasetType];
  const types = [entity['@type']].flat().flatMap((name) => {
    const iri = typeof name === 'string' ? terms.iri(name) : undefined;
    return iri === undefined || structural.includes(iri) ? [] : [{ href: move(iri) }];
  });
  const relations = new Map<string, unknown[]>(types.length > 0 ? [['type', types]] : []);
  for (const [name, value] of Object.entries(entity)) {
    const relation = name.startsWith('@') ? undefined : terms.iri(name);
    // Containers list their members themselves.
    if (relation === undefined || relation === `${schema}hasPart`) continue;
    const targets = [value].flat().flatMap((each) => {
      const id = isObject(each) ? each['@id'] : undefined;
      const href = typeof id === 'string' && !id.startsWith('_:') ? absoluteIri(id, { into, tools, move }) : undefined;
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

/** Without values that links cannot express, which remain in the metadata. */
function linksOf(relations: ReadonlyMap<string, unknown[]>, read: (object: unknown) => Links): Links {
  try {
    return read(Object.fromEntries(relations));
  } catch (cause) {
    if (!(cause instanceof TransferError)) throw cause;
    return {};
  }
}
