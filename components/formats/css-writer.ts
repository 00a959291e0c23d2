/** Writes members as the data folder of a Community Solid Server 7 has them. */

import {
  type Member,
  type MemberOf,
  parseMediaType,
  TransferError,
  type TreeSink,
  type Writer,
  type WriteTools,
} from '../../lib/plugin/formats.js';
import { metadataQuads } from './css-metadata.js';
import { anyType, cssFileName, cssNameOf, FolderNames } from './css-names.js';

/** Resources left out that are listed. */
const maxTold = 500;

/**
 * Writes such a folder. References to what is below the same container are relative, so that they hold at any base URL; others are
 * as they were. Links become triples of descriptions; owners, attributes of links and the state of components have no place there.
 */
export class CssWriter implements Writer {
  private readonly graphs: ReturnType<WriteTools['turtleFiles']>;
  private readonly names = new FolderNames();
  /** The graph whose parts come, and whether it is left out. */
  private graph: MemberOf<'container' | 'rdf' | 'bytes'> | undefined;
  private isLeftOut = false;
  private leftContainer: string | undefined;
  private readonly leftOut: string[] = [];

  /** @param of the IRI of the container that is exported */
  constructor(
    private readonly sink: TreeSink,
    private readonly of: string,
    private readonly tools: WriteTools,
  ) {
    this.graphs = tools.turtleFiles(sink, of);
  }

  async write(member: Member): Promise<void> {
    if (member.kind === 'state') return;
    if (this.graph === undefined) this.isLeftOut = this.leavesOut(member.path);
    if (this.isLeftOut) this.graph = member.kind === 'rdf' && member.hasMore ? member : undefined;
    if (this.isLeftOut) return;
    if (member.kind === 'rdf') {
      await this.graphs.write(member, ({ path }) => cssFileName(fileOf(path), 'text/turtle').name);
      // Any part may have what belongs to the graph.
      const graph = { ...this.graph, ...member };
      this.graph = member.hasMore ? graph : undefined;
      return member.hasMore ? undefined : this.writeLists(graph);
    }
    if (member.kind === 'bytes') return this.writeBytes(member);
    if (member.path !== '') await this.sink.add(fileOf(member.path), new Uint8Array());
    await this.writeLists(member);
  }

  private async writeBytes(member: MemberOf<'bytes'>): Promise<void> {
    const { path, mediaType, modified } = member;
    const parsed = parseMediaType(mediaType);
    const { name, isUnknown } = cssFileName(fileOf(path), parsed?.essence ?? anyType);
    await this.writeLists(member, isUnknown || (parsed?.parameters.size ?? 0) > 0 ? mediaType : undefined);
    await this.sink.add(name, member.open(), modified === undefined ? {} : { modified });
  }

  /** @param mediaType where only the description says it */
  private async writeLists(
    { path, links = {}, acl }: MemberOf<'container' | 'rdf' | 'bytes'>,
    mediaType?: string,
  ): Promise<void> {
    const file = fileOf(path);
    const iri = this.of + path;
    const quads = metadataQuads(iri, this.tools.links.quads(links, iri), mediaType);
    if (quads.length > 0)
      await this.sink.add(`${file}.meta`, Buffer.from(this.tools.writeTurtle(quads, { base: iri, prefixes: {} })));
    if (!acl) return;
    const text = this.tools.writeTurtle(acl.quads, { base: `${iri}.acl`, prefixes: acl.prefixes });
    await this.sink.add(`${file}.acl`, Buffer.from(text));
  }

  private leavesOut(path: string): boolean {
    const why = this.faultOf(path);
    if (why === undefined) return false;
    if (path.endsWith('/')) this.leftContainer = path;
    const { length } = this.leftOut;
    if (length <= maxTold) this.leftOut.push(length < maxTold ? `${this.of}${path}: ${why}\n` : 'There is more.\n');
    return true;
  }

  /** Why such a server cannot have it. */
  private faultOf(path: string): string | undefined {
    if (path === '') return undefined;
    if (this.leftContainer !== undefined && path.startsWith(this.leftContainer)) return 'Its container is left out.';
    try {
      const file = fileOf(path);
      const plain = file.replace(/\/$/, '');
      if (/^\.internal(?:\/|$)|\.(?:acl|acr|meta)(?:\/|$)/.test(plain))
        return 'It has a name that a Community Solid Server keeps for itself.';
      // Folders may be named as files are; no name has a backslash.
      const isNew = this.names.add(file.endsWith('/') ? `${plain}\\` : plain);
      return isNew ? undefined : 'It is the same resource as another one to a Community Solid Server.';
    } catch (error) {
      if (error instanceof TransferError) return error.message;
      throw error;
    }
  }

  async end(): Promise<void> {
    // That server keeps this folder from everybody.
    if (this.leftOut.length > 0) await this.sink.add('.internal/left-out.txt', Buffer.from(this.leftOut.join('')));
    return this.sink.end();
  }
}

/** The path of the file, without a mark. */
const fileOf = (path: string): string => path.split('/').map(cssNameOf).join('/');
