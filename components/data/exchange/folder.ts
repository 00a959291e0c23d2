/**
 * Reads the files of a directory or a ZIP as resources of the same names: RDF by extension, everything else as bytes. A file with
 * several graphs becomes a container of that name, with one resource per graph. The graph name is kept as a link.
 */

import { bytesOfFile, type FileTree, type TreeFile, treeReader } from '../../../lib/exchange/file-tree.js';
import type { ParseDocument } from '../../../lib/exchange/format.js';
import { isPage, mediaTypeOf, rdfTypeOf, typeWithout } from '../../../lib/exchange/media-types.js';
import {
  type ContainerMember,
  type GraphMember,
  type LeftOut,
  type Member,
  type MemberOptions,
  type MemberReader,
  type ReadStep,
  SyntaxFault,
  TransferError,
} from '../../../lib/exchange/member.js';
import { type ClientLinks, readContextObject } from '../../../lib/resources/linkset.js';
import { IriRewriting } from '../../../lib/storage/keys/iri-rewriting.js';
import { LwsError } from '../../../lib/tools/errors.js';
import { isObject } from '../../../lib/tools/json/exact-json.js';
import { isAuxiliary, isClutter, lastSegment, segmentOf } from './file-names.js';
import { type RdfPart, rdfParts } from './rdf-files.js';

/**
 * Reads a tree of files. An invalid RDF file is skipped, unless some of its parts were already imported: then reading ends.
 * Cursors hold the path of the last file and the number of its parts read.
 * @param parserOf for a single file chosen by the caller: the RDF in HTML pages is read, and pages without RDF are stored as
 * bytes
 */
export const folderReader = (tree: FileTree, parserOf?: ParserOf): MemberReader =>
  treeReader((own, options) => new FolderReading(own, options, parserOf).steps())(tree);

type ParserOf = (type: string) => ParseDocument | undefined;

class FolderReading {
  private index: FolderIndex = new Map();
  private bytes = 0;
  private clutter = 0;
  /** The directory of the last path, and the path of its container. */
  private last: readonly [folder: string, path: string] = ['', ''];
  private readonly rewriting: IriRewriting;

  constructor(
    private readonly tree: FileTree,
    private readonly options: MemberOptions,
    private readonly parserOf: ParserOf = () => undefined,
  ) {
    this.rewriting = new IriRewriting(options.rewrite);
  }

  async *steps(): AsyncGenerator<ReadStep> {
    this.index = await readIndex(this.tree);
    const [, bytes = '0', clutter = '0', count, after] =
      /^(\d+) (\d+) (\d+:\S+|-) (.*)$/s.exec(this.options.cursor ?? '') ?? [];
    [this.bytes, this.clutter] = [Number(bytes), Number(clutter)];
    if (after === undefined && this.index.get('')?.links) yield this.step(this.container('', indexName), '');
    if (after !== undefined && count !== '-') {
      const file = await this.tree.file(after);
      if (!file) throw new TransferError(`${after} was partly imported and no longer exists.`);
      yield* this.fileSteps(file, count);
    }
    for await (const found of this.tree.files(after || undefined)) {
      if ('refused' in found) yield this.leftOut(found.path, found.refused);
      else if (found.path === indexName) this.bytes += found.size;
      else yield* this.stepsOf(found);
    }
    const why = `${this.clutter} files of operating systems and programs, such as .DS_Store, Thumbs.db, __MACOSX/ and .git/.`;
    if (this.clutter > 0) yield this.step({ kind: 'left-out', source: 'The directory', why }, '\uffff');
  }

  private async *stepsOf(file: TreeFile): AsyncGenerator<ReadStep> {
    const { path } = file;
    const isFolder = path.endsWith('/');
    if (!this.index.has(path)) {
      if (isClutter(path)) {
        this.clutter += isFolder ? 0 : 1;
        this.bytes += file.size;
        return;
      }
      if (isAuxiliary(path)) {
        this.bytes += file.size;
        yield this.leftOut(path, 'Names ending in .acl or .meta are reserved for access control lists and metadata.');
        return;
      }
    }
    if (isFolder) yield this.step(this.container(path, path), path);
    else yield* this.fileSteps(file);
  }

  /** Yields the members in a file. @param known the parts read so far, see `rdfParts` */
  private async *fileSteps(file: TreeFile, known = ''): AsyncGenerator<ReadStep> {
    const facts = this.index.get(file.path);
    const mediaType = facts?.type ?? mediaTypeOf(file.path);
    const parse = this.parserOf(typeWithout(mediaType));
    const type = facts?.bytes ? undefined : (rdfTypeOf(mediaType) ?? (parse && typeWithout(mediaType)));
    const common = { ...this.common(file.path, file.path), ...(file.modified ? { modified: file.modified } : {}) };
    const { size } = file;
    const bytes = { kind: 'bytes', ...common, mediaType, size, open: () => file.open() } as const;
    if (type === undefined) {
      this.bytes += size;
      yield this.step(bytes, file.path);
      return;
    }
    const { into, rewrite } = this.options;
    const parts = rdfParts({ file, type, base: into + common.path, rewrite, parse, takesGraphs: true }, known);
    let isBegun = known !== '';
    try {
      for await (const part of parts) {
        const { hasMore, count, place, known: soFar } = part;
        if (!hasMore) this.bytes += file.size;
        if (count === 0 && isPage(type)) {
          yield this.step(bytes, file.path);
          return;
        }
        const member = graphMember(common, part);
        if (!isBegun && place?.name !== undefined) {
          const { path, source } = common;
          yield this.step({ kind: 'container', ...common, path: `${path}/`, source }, file.path, '0:-');
        }
        yield this.step(member, file.path, hasMore ? soFar : undefined);
        isBegun = true;
      }
    } catch (error) {
      if (isBegun || !(error instanceof SyntaxFault)) throw error;
      this.bytes += file.size;
      yield this.leftOut(file.path, `It is invalid. ${error.message}`);
    }
  }

  private container(path: string, source: string): ContainerMember {
    return { kind: 'container', ...this.common(path, source) };
  }

  /** Returns the properties common to all members. @throws TransferError if the index has invalid links */
  private common(path: string, source: string): Pick<ContainerMember, 'path' | 'source' | 'links'> {
    const resource = this.resourceOf(path);
    const links = this.index.get(path)?.links;
    if (links === undefined) return { path: resource, source };
    try {
      const read = readContextObject(links, this.options.into + resource);
      return { path: resource, source, links: this.rewriting.value(read) };
    } catch (cause) {
      if (!(cause instanceof LwsError)) throw cause;
      throw new TransferError(`${indexName}: The links of "${path}" are invalid. ${cause.message}`, { cause });
    }
  }

  /** Returns the resource path of a file or directory. */
  private resourceOf(path: string): string {
    if (path === '') return '';
    const name = lastSegment(path);
    const isFolder = path.endsWith('/');
    const folder = path.slice(0, path.length - name.length - (isFolder ? 1 : 0));
    if (this.last[0] !== folder) this.last = [folder, this.resourceOf(folder)];
    return this.last[1] + (this.index.get(path)?.name ?? segmentOf(name)) + (isFolder ? '/' : '');
  }

  private step(member: Member | LeftOut, path: string, known?: string): ReadStep {
    return { member, cursor: `${this.bytes} ${this.clutter} ${known ?? '-'} ${path}`, bytes: this.bytes };
  }

  private leftOut(path: string, why: string): ReadStep {
    return this.step({ kind: 'left-out', source: path, why }, path);
  }
}

/** Makes a member from a graph of a file, or from a part of a graph. */
function graphMember(common: Omit<GraphMember, 'kind' | 'quads' | 'prefixes'>, part: RdfPart): GraphMember {
  const { quads, prefixes, isOpen, place } = part;
  const { name, oldNames = [] } = place ?? {};
  const old = oldNames.length === 0 ? {} : { via: oldNames.map((href) => ({ href })) };
  const { links, ...rest } = common;
  const path = name === undefined ? common.path : `${common.path}/${name}`;
  const all = { ...old, ...(name === undefined ? links : {}) };
  return {
    ...{ kind: 'rdf', ...rest, path, quads, prefixes },
    ...(Object.keys(all).length > 0 ? { links: all } : {}),
    ...(isOpen ? { hasMore: true } : {}),
  };
}

/*
 * The index of a directory, `.quadpod.json` at its top: facts about resources that file names do not express. Only files with
 * such facts need an entry.
 *
 * { "quadpod": 1, "files": { "notes/a.ttl": { "name": "notes/a", "links": { … } }, "x.ttl": { "type": "text/plain", "bytes": true
 * } } }
 */

export const indexName = '.quadpod.json';

/** Maximum size of an index, in bytes. */
const longestIndex = 256 << 20;

/** The entry of a file or directory. Paths of directories end with a slash. The empty path is the top directory. */
export interface FileFacts {
  /** The last segment of the resource IRI, without a slash, if it differs from the file name. */
  readonly name?: string;
  /** The media type, with its parameters. */
  readonly type?: string;
  /** True if the file is stored as bytes despite its RDF media type. */
  readonly bytes?: true;
  readonly links?: ClientLinks;
}

type FolderIndex = ReadonlyMap<string, FileFacts>;

/** Reads the index of a tree. If the tree has none, returns an empty index. @throws TransferError if the index is invalid */
async function readIndex(tree: FileTree): Promise<FolderIndex> {
  const file = await tree.file(indexName);
  if (!file) return new Map();
  const files = filesOf(await bytesOfFile(file, longestIndex));
  for (const [path, facts] of Object.entries(files)) assertFacts(path, facts);
  return new Map(Object.entries(files as Readonly<Record<string, FileFacts>>));
}

function filesOf(bytes: Buffer): object {
  let index: unknown;
  try {
    index = JSON.parse(bytes.toString('utf8'));
  } catch (cause) {
    throw faulty((cause as Error).message);
  }
  if (!isObject(index) || index['quadpod'] !== 1 || !isObject(index['files']))
    throw faulty('it must be an object with "quadpod": 1 and the object "files"');
  return index['files'];
}

function assertFacts(path: string, facts: unknown): void {
  if (!isObject(facts)) throw faulty(`"${path.slice(0, 200)}" is not an object`);
  const { name, type, bytes, links } = facts;
  const isFault =
    (name !== undefined && (typeof name !== 'string' || !/^[^/?#\s]+$/.test(name))) ||
    (type !== undefined && (typeof type !== 'string' || !type.includes('/'))) ||
    (bytes !== undefined && bytes !== true) ||
    (links !== undefined && !isObject(links));
  if (isFault) throw faulty(`"${path.slice(0, 200)}" has an invalid "name", "type", "bytes" or "links"`);
}

const faulty = (why: string): TransferError => new TransferError(`${indexName} is invalid: ${why}.`);
