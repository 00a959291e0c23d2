/** Writes resources as the files that `folderReader` reads. */

import type { TreeSink } from '../../../lib/exchange/file-tree.js';
import { mediaTypeOf, rdfTypeOf } from '../../../lib/exchange/media-types.js';
import type { BytesMember, GraphMember, Member, ResourceMember, Writer } from '../../../lib/exchange/member.js';
import type { ClientLinks } from '../../../lib/resources/linkset.js';
import { isAuxiliary, isClutter, lastSegment, nameOfSegment } from './file-names.js';
import { type FileFacts, indexName } from './folder.js';
import { TurtleFiles } from './text-files.js';

/** IRIs are relative to the resource if possible. ACLs, owners and the state of components are not written. */
export class FolderWriter implements Writer {
  private readonly index = new Map<string, FileFacts>();
  /** Paths of files that differ from the paths of their resources. Each path must be unique. */
  private readonly taken = new Set([indexName]);
  /** Directories whose names differ from the names of their containers. */
  private readonly folders = new Map<string, string>();
  private readonly graphs: TurtleFiles;
  /** Path of the last graph's file, and links of this graph. */
  private graphFile = '';
  private graphLinks: ClientLinks | undefined;

  /** @param of IRI of the exported container */
  constructor(
    private readonly sink: TreeSink,
    of: string,
  ) {
    this.graphs = new TurtleFiles(sink, of);
  }

  async write(member: Member): Promise<void> {
    if (member.kind === 'state') return;
    if (member.kind === 'rdf') return this.writeGraph(member);
    if (member.kind === 'bytes') return this.writeBytes(member);
    if (member.path !== '') {
      const file = this.fileOf(member, (name) => name);
      if (file !== this.folderOf(member.path)) this.folders.set(member.path, file);
      return this.sink.add(file, new Uint8Array());
    }
    if (hasLinks(member)) this.index.set('', { links: member.links });
  }

  private async writeBytes(member: BytesMember): Promise<void> {
    const file = this.fileOf(member, (name) => name);
    const facts = this.index.get(file);
    if (mediaTypeOf(file) !== member.mediaType) this.index.set(file, { ...facts, type: member.mediaType });
    if (rdfTypeOf(member.mediaType)) this.index.set(file, { ...this.index.get(file), bytes: true });
    await this.sink.add(file, member.open(), dated(member));
  }

  private async writeGraph(member: GraphMember): Promise<void> {
    await this.graphs.write(member, (first) => {
      this.graphFile = this.fileOf(first, (name) => (mediaTypeOf(name) === 'text/turtle' ? name : `${name}.ttl`));
      return this.graphFile;
    });
    // The links of a graph can be in any of its parts.
    if (hasLinks(member)) this.graphLinks = member.links;
    if (member.hasMore) return;
    if (this.graphLinks) this.index.set(this.graphFile, { ...this.index.get(this.graphFile), links: this.graphLinks });
    this.graphLinks = undefined;
  }

  /** Returns the path of a member's file. Adds facts to the index that the file name does not express. */
  private fileOf(member: ResourceMember, named: (name: string) => string): string {
    const segment = lastSegment(member.path);
    const slash = member.kind === 'container' ? '/' : '';
    const folder = this.folderOf(member.path.slice(0, member.path.length - segment.length - slash.length));
    const plain = named(nameOfSegment(segment));
    const file = this.freePath(folder + plain);
    const isPlain = file === folder + segment || file === folder + nameOfSegment(segment);
    if (!isPlain) this.taken.add(file);
    const name = lastSegment(file);
    const isTold = !isPlain || (name === segment && name.includes('%')) || isClutter(file) || isAuxiliary(file);
    const facts = { ...(isTold ? { name: segment } : {}), ...(hasLinks(member) ? { links: member.links } : {}) };
    if (Object.keys(facts).length > 0) this.index.set(file + slash, facts);
    return file + slash;
  }

  /** Returns an unused path. Members are sorted by name: if a later member has this name, the member gets another path. */
  private freePath(path: string): string {
    if (!this.taken.has(path)) return path;
    const [, start, extension] = /^(.*?)(\.[^./]*)?$/s.exec(path)!;
    for (let count = 2; ; count++) {
      const other = `${start}~${count}${extension ?? ''}`;
      if (!this.taken.has(other)) return other;
    }
  }

  /** Returns the directory of a container. */
  private folderOf(path: string): string {
    if (path === '') return '';
    const known = this.folders.get(path);
    if (known !== undefined) return known;
    const segment = lastSegment(path);
    return `${this.folderOf(path.slice(0, path.length - segment.length - 1))}${nameOfSegment(segment)}/`;
  }

  async end(): Promise<void> {
    if (this.index.size > 0) await this.sink.add(indexName, bytesOf(indexText(this.index)));
    await this.sink.end();
  }
}

const hasLinks = (member: ResourceMember): member is ResourceMember & { links: object } =>
  member.links !== undefined && Object.keys(member.links).length > 0;

const dated = ({ modified }: ResourceMember): { modified?: number } => (modified === undefined ? {} : { modified });

async function* bytesOf(text: Iterable<string>): AsyncGenerator<Uint8Array> {
  for (const piece of text) yield Buffer.from(piece);
}

/** Yields the text of an index. */
function* indexText(index: ReadonlyMap<string, FileFacts>): Generator<string> {
  yield '{"quadpod":1,"files":{';
  let separator = '\n';
  for (const [path, facts] of index) {
    yield `${separator}${JSON.stringify(path)}:${JSON.stringify(facts)}`;
    separator = ',\n';
  }
  yield '\n}}\n';
}
