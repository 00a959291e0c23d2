/**
 * Reads the data directory of Community Solid Server 7: files become resources with their media types, metadata files become
 * links, and ACLs are included.
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

/** String that sorts after every path. */
const last = '\uffff';

const internal = '.internal/';
const baseFile = '.internal/setup/current-base-url$.json';

/** Returns true if a tree is a complete data directory of Community Solid Server. */
export const isCss = async (tree: FileTree): Promise<boolean> => (await tree.file(baseFile)) !== undefined;

/**
 * Reads a data directory, or the directory of one pod. A complete data directory contains its base URL: IRIs below it are
 * rewritten, unless `rewrite` maps them. Files with an RDF extension that cannot be parsed are imported as binary. Cursors
 * contain the path of the last file, and the position in this file.
 */
export const cssReader = treeReader(readCss);

async function* readCss(tree: FileTree, options: MemberOptions, tools: FormatTools): AsyncGenerator<ReadStep> {
  const { into, rewrite } = options;
  // An explicit mapping of the directory's IRI overrides the stored base URL.
  const base = (await baseOf(tree)) ?? rewrite.find(({ to }) => to === into)?.from ?? into;
  const place = { base, into, tools, rewrite: base === into ? rewrite : [...rewrite, { from: base, to: into }] };
  const lists = new CssLists(tree, place);
  for await (const found of tree.files()) lists.note(found.path, 'refused' in found);
  yield* new CssReading(tree, lists, place).steps(options.cursor);
}

/** Returns the stored base URL, with a trailing slash. */
async function baseOf(tree: FileTree): Promise<string | undefined> {
  const file = await tree.file(baseFile);
  if (!file) return undefined;
  const { payload: url } = await objectOfFile(file, 64 << 10);
  if (typeof url === 'string' && isAbsoluteIri(url)) return url.endsWith('/') ? url : `${url}/`;
  throw new TransferError(`${baseFile} contains no base URL.`);
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
    // Start from the beginning even with a cursor: name conflicts depend on all earlier files.
    for await (const found of this.tree.files()) {
      const { path } = found;
      const isResource = !('refused' in found) && isContent(path);
      const isNew = !isResource || this.names.add(withoutMark(path));
      if (after !== undefined && path <= after) {
        if (path === after && count !== '-') yield* this.fileSteps(found as TreeFile, count);
      } else if (!isNew) yield this.leftOut(path, 'Another file has the same resource name.');
      else yield* this.stepsOf(found);
    }
    if (this.policies > 0 && after !== last)
      yield this.leftOut(
        last,
        `${this.policies} access control files in the Access Control Policy language (.acr) are not imported: their permissions and prohibitions are lost.`,
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

  /** Returns the reason why a file, or a part of it, is not imported, or `undefined`. */
  private async faultOf(file: TreeFile): Promise<string | undefined> {
    const { path } = file;
    if (path.startsWith(internal))
      return path === internal ? 'Internal data of the server, including accounts and keys.' : undefined;
    const plain = withoutMark(path);
    if (plain.endsWith('.acr')) {
      this.policies++;
      return undefined;
    }
    const resource = plain.slice(0, plain.lastIndexOf('.'));
    if (resource !== '' && !resource.endsWith('/') && !this.names.has(resource)) return 'The resource does not exist.';
    if (isList(path)) {
      const list = await this.lists.listIn(file);
      return list instanceof SyntaxFault ? `It cannot be parsed. ${list.message}${nobody}` : listNotice(list);
    }
    const metadata = await this.lists.metadataIn(file, cssPathOf(resource));
    return metadata instanceof SyntaxFault ? `It cannot be parsed. ${metadata.message}` : metadata.leftOut;
  }

  /** Yields the resource of a file, in parts if it is RDF. @param known parts that are done, as in `rdfParts` */
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
    // Import N3 as binary: an export as Turtle would change it.
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
      yield this.leftOut(file.path, `Its triples are lost: it is imported as binary, not as RDF. ${error.message}`);
    }
  }

  /** Returns the container for a directory. @param path path of the directory */
  private async container(path: string): Promise<MemberOf<'container'>> {
    const resource = cssPathOf(path);
    const metadata = await this.lists.metadataOf(path, resource);
    return { kind: 'container', ...(await this.common(path, resource, metadata)), source: path || 'The directory' };
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
    return this.step({ kind: 'left-out', source: path === last ? 'The directory' : path, why }, path);
  }
}

const nobody = ' If ACLs are imported, only owners have access to its resource.';

const isList = (path: string): boolean => withoutMark(path).endsWith('.acl');

/** Returns true if a file or directory is a resource, not metadata or an ACL. */
const isContent = (path: string): boolean =>
  !path.startsWith(internal) && (path.endsWith('/') || !/\.(?:acl|acr|meta)$/.test(withoutMark(path)));

/** IRIs of the data directory before and after the import. */
export interface CssPlace {
  /** IRI of the directory on its server. If unknown, equals `into`. */
  readonly base: string;
  /** IRI of the directory in this storage. */
  readonly into: string;
  readonly rewrite: MemberOptions['rewrite'];
  readonly tools: FormatTools;
}

class CssLists {
  /** ACLs with unusual names: in another syntax, or with a path that the tree rejects and provides no file for. */
  private readonly unusual = new Map<string, string>();

  constructor(
    private readonly tree: FileTree,
    private readonly place: CssPlace,
  ) {}

  /** Records a path of the tree. Called for all paths, before any file is read. */
  note(path: string, isRefused: boolean): void {
    const plain = withoutMark(path);
    if (plain.endsWith('.acl') && (isRefused || plain !== path)) this.unusual.set(plain, path);
  }

  /**
   * Returns the ACL of a resource, or `undefined` if it has none. If an ACL cannot be parsed, returns an ACL that grants
   * nothing: without an ACL, the resource would inherit access. @param path in the tree, without `$.` extension
   */
  async listOf(path: string): Promise<AccessList | undefined> {
    const name = `${path}.acl`;
    const file = await this.tree.file(this.unusual.get(name) ?? name);
    if (file === undefined) return this.unusual.has(name) ? { quads: [], prefixes: {} } : undefined;
    const found = await this.listIn(file);
    return found instanceof SyntaxFault ? { quads: [], prefixes: {} } : found;
  }

  /** Parses an ACL file. Returns the error if it is malformed. */
  async listIn(file: TreeFile): Promise<AccessList | SyntaxFault> {
    const found = await this.graphIn(file, cssPathOf(withoutMark(file.path)));
    return found instanceof SyntaxFault ? found : { quads: found.quads, prefixes: found.prefixes };
  }

  /** Returns the metadata of a resource. @param path in the tree, without `$.` extension @param resource the resource's path */
  async metadataOf(path: string, resource: string): Promise<CssMetadata | undefined> {
    const file = await this.tree.file(`${path}.meta`);
    const found = file && (await this.metadataIn(file, resource));
    return found instanceof SyntaxFault ? undefined : found;
  }

  /** Parses a metadata file. Returns the error if it is malformed. */
  async metadataIn(file: TreeFile, resource: string): Promise<CssMetadata | SyntaxFault> {
    const found = await this.graphIn(file, resource);
    return found instanceof SyntaxFault
      ? found
      : readMetadata(found.quads, this.place.into + resource, this.place.tools);
  }

  private async graphIn(file: TreeFile, path: string): Promise<AccessList | SyntaxFault> {
    const { base, rewrite, tools } = this.place;
    const type = rdfTypeOf(cssTypeOf(file.path));
    if (type === undefined) return new SyntaxFault(`${file.path}: The file is in no supported RDF syntax.`);
    try {
      for await (const part of tools.rdfParts({ file, type, base: base + path, rewrite }))
        return part.hasMore ? new SyntaxFault(`${file.path}: The file has more than ${part.count} triples.`) : part;
    } catch (error) {
      if (error instanceof SyntaxFault) return error;
      throw error;
    }
    return { quads: [], prefixes: {} };
  }
}

/** Returns warnings about parts of an ACL that have different meanings on the two servers, or `undefined`. */
function listNotice({ quads }: AccessList): string | undefined {
  const says = (name: string): boolean =>
    quads.some(({ predicate }) => predicate.value === `http://www.w3.org/ns/auth/acl#${name}`);
  const notices = [
    says('defaultForNew') ? 'Its acl:defaultForNew has no effect, as on that server. Use acl:default.' : '',
    says('origin')
      ? 'Its acl:origin is now enforced: that server ignored it, and gave the same access to all origins.'
      : '',
  ];
  return notices.filter(Boolean).join(' ') || undefined;
}
