/**
 * Reads the data folder of a Community Solid Server 7: files become resources of the media types that they had there, descriptions
 * their links, and lists of access go with them.
 */
import {
  type AccessList,
  type FileTree,
  type FormatTools,
  isAbsoluteIri,
  type MemberOf,
  type MemberOptions,
  objectOfFile,
  type ReadStep,
  type RefusedFile,
  rdfTypeOf,
  SyntaxFault,
  TransferError,
  type TreeFile,
  treeReader,
} from '../../lib/plugin/formats.js';
import { type CssMetadata, readMetadata } from './css-metadata.js';
import { cssPathOf, cssTypeOf, FolderNames, withoutMark } from './css-names.js';

/** Behind all paths. */
const last = '\uffff';

const internal = '.internal/';
const baseFile = '.internal/setup/current-base-url$.json';

/** Whether a tree is the whole data folder of such a server. */
export const isCss = async (tree: FileTree): Promise<boolean> => (await tree.file(baseFile)) !== undefined;

/**
 * Reads such a folder, or the folder of a single pod. A whole one says which base URL it had: IRIs below that follow, unless `rewrite`
 * says something else of them. What is no RDF that can be read, though its name says so, is kept as it is, as it was there.
 * Cursors hold the path of the last file, and the parts of it that are known.
 */
export const cssReader = treeReader(readCss);

async function* readCss(tree: FileTree, options: MemberOptions, tools: FormatTools): AsyncGenerator<ReadStep> {
  const { into, rewrite } = options;
  // What somebody says of the folder's own address counts as much as what it says itself.
  const base = (await baseOf(tree)) ?? rewrite.find(({ to }) => to === into)?.from ?? into;
  const place = { base, into, tools, rewrite: base === into ? rewrite : [...rewrite, { from: base, to: into }] };
  const lists = new CssLists(tree, place);
  for await (const found of tree.files()) lists.note(found.path, 'refused' in found);
  yield* new CssReading(tree, lists, place).steps(options.cursor);
}

/** The base URL, with a slash at its end. */
async function baseOf(tree: FileTree): Promise<string | undefined> {
  const file = await tree.file(baseFile);
  if (!file) return undefined;
  const { payload: url } = await objectOfFile(file, 64 << 10);
  if (typeof url === 'string' && isAbsoluteIri(url)) return url.endsWith('/') ? url : `${url}/`;
  throw new TransferError(`${baseFile} says no base URL.`);
}

class CssReading {
  private bytes = 0;
  private policies = 0;
  private readonly names = new FolderNames();

  constructor(
    private readonly tree: FileTree,
    private readonly lists: CssLists,
    private readonly place: CssPlace,
  ) {}

  async *steps(cursor: string | undefined): AsyncGenerator<ReadStep> {
    const [, bytes = '0', policies = '0', count = '-', after] =
      /^(\d+) (\d+) (\d+:\S+|-) (.*)$/s.exec(cursor ?? '') ?? [];
    [this.bytes, this.policies] = [Number(bytes), Number(policies)];
    if (after === undefined) {
      const root = await this.container('');
      if (root.acl || root.links) yield this.step(root, '');
    }
    // From the start, since what belongs to a resource may come long after it.
    for await (const found of this.tree.files()) {
      const { path } = found;
      const isResource = !('refused' in found) && isContent(path);
      const isNew = !isResource || this.names.add(withoutMark(path));
      if (after !== undefined && path <= after) {
        if (path === after && count !== '-') yield* this.fileSteps(found as TreeFile, count);
      } else if (!isNew) yield this.leftOut(path, 'Another file is the same resource.');
      else yield* this.stepsOf(found);
    }
    if (this.policies > 0 && after !== last)
      yield this.leftOut(
        last,
        `${this.policies} lists of access in the Access Control Policy language (.acr): what they allowed and forbade is lost.`,
      );
  }

  private async *stepsOf(found: TreeFile | RefusedFile): AsyncGenerator<ReadStep> {
    const { path } = found;
    if ('refused' in found) {
      yield this.leftOut(path, found.refused + (isList(path) ? nobody : ''));
      return;
    }
    if (isContent(path)) {
      if (path.endsWith('/')) yield this.step(await this.container(path), path);
      else yield* this.fileSteps(found);
      return;
    }
    this.bytes += found.size;
    const why = await this.faultOf(found);
    if (why !== undefined) yield this.leftOut(path, why);
  }

  /** Why a file that is no resource, or a part of it, has no place. */
  private async faultOf(file: TreeFile): Promise<string | undefined> {
    const { path } = file;
    if (path.startsWith(internal))
      return path === internal ? 'What the server keeps for itself, accounts and keys among it.' : undefined;
    const plain = withoutMark(path);
    if (plain.endsWith('.acr')) {
      this.policies++;
      return undefined;
    }
    const resource = plain.slice(0, plain.lastIndexOf('.'));
    if (resource !== '' && !resource.endsWith('/') && !this.names.has(resource)) return 'There is no such resource.';
    if (isList(path)) {
      const list = await this.lists.listIn(file);
      return list instanceof SyntaxFault ? `It cannot be read. ${list.message}${nobody}` : listNotice(list);
    }
    const metadata = await this.lists.metadataIn(file, cssPathOf(resource));
    return metadata instanceof SyntaxFault ? `It cannot be read. ${metadata.message}` : metadata.leftOut;
  }

  /** @param known the parts of it that are known, as `rdfParts` has it */
  private async *fileSteps(file: TreeFile, known = ''): AsyncGenerator<ReadStep> {
    const plain = withoutMark(file.path);
    const path = cssPathOf(plain);
    const metadata = await this.lists.metadataOf(plain, path);
    const mediaType = metadata?.mediaType ?? cssTypeOf(file.path);
    const common = {
      ...(await this.common(plain, path, metadata)),
      ...(file.modified ? { modified: file.modified } : {}),
    };
    const source = file.path;
    const { size } = file;
    const open = (): AsyncIterable<Uint8Array> => file.open();
    const bytes: MemberOf<'bytes'> = {
      kind: 'bytes',
      ...common,
      source,
      mediaType: mediaType + (metadata?.parameters ?? ''),
      size,
      open,
    };
    const type = rdfTypeOf(mediaType);
    // N3 would come back as Turtle, which is not what was there.
    if (type === undefined || type === 'text/n3') {
      this.bytes += size;
      yield this.step(bytes, file.path);
      return;
    }
    let isBegun = known !== '';
    const { base, rewrite, tools } = this.place;
    try {
      for await (const part of tools.rdfParts({ file, type, base: base + path, rewrite }, known)) {
        const { quads, prefixes, hasMore, known: soFar } = part;
        if (!hasMore) this.bytes += size;
        const member = { kind: 'rdf', ...common, source, quads, prefixes, ...(hasMore ? { hasMore } : {}) } as const;
        yield this.step(member, file.path, hasMore ? soFar : undefined);
        isBegun = true;
      }
    } catch (error) {
      if (isBegun || !(error instanceof SyntaxFault)) throw error;
      this.bytes += size;
      yield this.step(bytes, file.path);
      yield this.leftOut(
        file.path,
        `Its triples: it is kept as it is, and can be asked for, but is no RDF. ${error.message}`,
      );
    }
  }

  /** @param path of the folder */
  private async container(path: string): Promise<MemberOf<'container'>> {
    const resource = cssPathOf(path);
    const metadata = await this.lists.metadataOf(path, resource);
    return { kind: 'container', ...(await this.common(path, resource, metadata)), source: path || 'The folder' };
  }

  private async common(
    plain: string,
    path: string,
    metadata: CssMetadata | undefined,
  ): Promise<Pick<MemberOf<'container'>, 'path' | 'links' | 'acl'>> {
    const acl = await this.lists.listOf(plain);
    const hasLinks = metadata !== undefined && Object.keys(metadata.links).length > 0;
    return { path, ...(hasLinks ? { links: metadata.links } : {}), ...(acl ? { acl } : {}) };
  }

  private step(member: ReadStep['member'], path: string, known?: string): ReadStep {
    return { member, cursor: `${this.bytes} ${this.policies} ${known ?? '-'} ${path}`, bytes: this.bytes };
  }

  private leftOut(path: string, why: string): ReadStep {
    return this.step({ kind: 'left-out', source: path === last ? 'The folder' : path, why }, path);
  }
}

const nobody = ' Nobody but owners has access to what it was about, where lists of access are taken.';

const isList = (path: string): boolean => withoutMark(path).endsWith('.acl');

/** Whether a file or folder is a resource, and does not belong to another. */
const isContent = (path: string): boolean =>
  !path.startsWith(internal) && (path.endsWith('/') || !/\.(?:acl|acr|meta)$/.test(withoutMark(path)));

/** Where IRIs of the folder go. */
export interface CssPlace {
  /** The IRI that the folder had on its server, or where that is not known the one that it gets. */
  readonly base: string;
  /** The IRI that it gets. */
  readonly into: string;
  readonly rewrite: MemberOptions['rewrite'];
  readonly tools: FormatTools;
}

export class CssLists {
  /** Lists that are not named as lists usually are: stored in another syntax, or refused by the tree, which has no file for them. */
  private readonly unusual = new Map<string, string>();

  constructor(
    private readonly tree: FileTree,
    private readonly place: CssPlace,
  ) {}

  /** Is told of each name in the tree before anything is read. */
  note(path: string, isRefused: boolean): void {
    const plain = withoutMark(path);
    if (plain.endsWith('.acl') && (isRefused || plain !== path)) this.unusual.set(plain, path);
  }

  /**
   * The list of a resource; `undefined` where it has none. One that cannot be read gives access to nobody: without any, the resource
   * would be open to whom the containers above it are.
   * @param path in the tree, without a mark
   */
  async listOf(path: string): Promise<AccessList | undefined> {
    const name = `${path}.acl`;
    const file = await this.tree.file(this.unusual.get(name) ?? name);
    if (file === undefined) return this.unusual.has(name) ? { quads: [], prefixes: {} } : undefined;
    const found = await this.listIn(file);
    return found instanceof SyntaxFault ? { quads: [], prefixes: {} } : found;
  }

  /** What is in a file that is a list; the fault where it cannot be read. */
  async listIn(file: TreeFile): Promise<AccessList | SyntaxFault> {
    const found = await this.graphIn(file, cssPathOf(withoutMark(file.path)));
    return found instanceof SyntaxFault ? found : { quads: found.quads, prefixes: found.prefixes };
  }

  /** @param path in the tree, without a mark; @param resource the path of the resource */
  async metadataOf(path: string, resource: string): Promise<CssMetadata | undefined> {
    const file = await this.tree.file(`${path}.meta`);
    const found = file && (await this.metadataIn(file, resource));
    return found instanceof SyntaxFault ? undefined : found;
  }

  /** What a file says of a resource; the fault where it cannot be read. */
  async metadataIn(file: TreeFile, resource: string): Promise<CssMetadata | SyntaxFault> {
    const found = await this.graphIn(file, resource);
    return found instanceof SyntaxFault
      ? found
      : readMetadata(found.quads, this.place.into + resource, this.place.tools);
  }

  private async graphIn(file: TreeFile, path: string): Promise<AccessList | SyntaxFault> {
    const { base, rewrite, tools } = this.place;
    const type = rdfTypeOf(cssTypeOf(file.path));
    if (type === undefined) return new SyntaxFault(`${file.path}: It is in no syntax of RDF that can be read.`);
    try {
      for await (const part of tools.rdfParts({ file, type, base: base + path, rewrite }))
        return part.hasMore ? new SyntaxFault(`${file.path}: It has more than ${part.count} triples.`) : part;
    } catch (error) {
      if (error instanceof SyntaxFault) return error;
      throw error;
    }
    return { quads: [], prefixes: {} };
  }
}

/** What a list says that does not mean the same on both servers, as sentences; `undefined` where it says no such thing. */
export function listNotice({ quads }: AccessList): string | undefined {
  const says = (name: string): boolean =>
    quads.some(({ predicate }) => predicate.value === `http://www.w3.org/ns/auth/acl#${name}`);
  const notices = [
    says('defaultForNew') ? 'Its acl:defaultForNew has no effect, as it had none there; acl:default has.' : '',
    says('origin')
      ? 'Its acl:origin counts: that server did not know it, and gave the same access to all origins.'
      : '',
  ];
  return notices.filter(Boolean).join(' ') || undefined;
}
