/** Exports resources in the layout of the data directory of Community Solid Server 7. */

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

/** Maximum skipped resources that the report lists. */
const maxTold = 500;

/**
 * Writes a data directory. References between resources of the exported container are relative, so that they work at any base
 * URL. Other references are unchanged. Links are written to metadata files. Owners, link attributes and the state of components
 * are not exported.
 */
export class CssWriter implements Writer {
  private readonly graphs: ReturnType<WriteTools['turtleFiles']>;
  private readonly names = new FolderNames();
  /** RDF resource whose parts are being written, and whether it is skipped. */
  private graph: MemberOf<'container' | 'rdf' | 'bytes'> | undefined;
  private isLeftOut = false;
  private leftContainer: string | undefined;
  private readonly leftOut: string[] = [];

  /** @param of IRI of the exported container */
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
      // Any part of a graph can contain the metadata.
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

  /** Writes metadata file and ACL. @param mediaType only if the metadata must contain it */
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
    if (length <= maxTold)
      this.leftOut.push(length < maxTold ? `${this.of}${path}: ${why}\n` : 'More resources follow.\n');
    return true;
  }

  /** Returns the reason why Community Solid Server cannot have a resource, or `undefined`. */
  private faultOf(path: string): string | undefined {
    if (path === '') return undefined;
    if (this.leftContainer !== undefined && path.startsWith(this.leftContainer)) return 'Its container is skipped.';
    try {
      const file = fileOf(path);
      const plain = file.replace(/\/$/, '');
      if (/^\.internal(?:\/|$)|\.(?:acl|acr|meta)(?:\/|$)/.test(plain))
        return 'Its name is reserved by Community Solid Server.';
      // A directory can have the name of a file. Mark it with a backslash, which names cannot contain.
      const isNew = this.names.add(file.endsWith('/') ? `${plain}\\` : plain);
      return isNew ? undefined : 'Community Solid Server treats it as the same resource as another one.';
    } catch (error) {
      if (error instanceof TransferError) return error.message;
      throw error;
    }
  }

  async end(): Promise<void> {
    // The server denies access to this directory, so the report is not public.
    if (this.leftOut.length > 0) await this.sink.add('.internal/left-out.txt', Buffer.from(this.leftOut.join('')));
    return this.sink.end();
  }
}

/** Returns the path of the file, without `$.` extension. */
const fileOf = (path: string): string => path.split('/').map(cssNameOf).join('/');
