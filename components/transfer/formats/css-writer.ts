/** Writes members as the data folder of a Community Solid Server 7 has them. */
import { parseMediaType } from '../../../lib/fields/media-type.js';
import { writeTurtle } from '../../../lib/rdf/turtle-writer.js';
import type { TreeSink } from '../file-tree.js';
import { type BytesMember, type Member, type ResourceMember, TransferError, type Writer } from '../member.js';
import { metadataQuads } from './css-metadata.js';
import { anyType, cssFileName, cssNameOf, FolderNames } from './css-names.js';
import { TurtleFiles } from './turtle-files.js';

/**
 * Writes such a folder. References to what is below the same container are relative, so that they hold at any base URL; others are
 * as they were. Links become triples of descriptions; owners, attributes of links and the state of components have no place there.
 */
export class CssWriter implements Writer {
  private readonly graphs: TurtleFiles;
  private readonly names = new FolderNames();
  /** The graph whose parts come. */
  private graph: ResourceMember | undefined;

  /** @param of the IRI of the container that is exported */
  constructor(
    private readonly sink: TreeSink,
    private readonly of: string,
  ) {
    this.graphs = new TurtleFiles(sink, of);
  }

  /** @throws TransferError for a name that such a server cannot have */
  async write(member: Member): Promise<void> {
    if (member.kind === 'state') return;
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

  private async writeBytes(member: BytesMember): Promise<void> {
    const { path, mediaType, modified } = member;
    const parsed = parseMediaType(mediaType);
    const { name, isUnknown } = cssFileName(fileOf(path), parsed?.essence ?? anyType);
    await this.writeLists(member, isUnknown || (parsed?.parameters.size ?? 0) > 0 ? mediaType : undefined);
    await this.sink.add(name, member.open(), modified === undefined ? {} : { modified });
  }

  /** @param mediaType where only the description says it */
  private async writeLists({ path, links = {}, acl }: ResourceMember, mediaType?: string): Promise<void> {
    const file = fileOf(path);
    const plain = file.replace(/\/$/, '');
    // Only folders may be named as files are, with a slash after it.
    if (path !== '' && !this.names.add(file.endsWith('/') ? `${plain}//` : plain))
      throw new TransferError(`${this.of}${path} is the same resource as another one to a Community Solid Server.`);
    assertFree(plain);
    const iri = this.of + path;
    const quads = metadataQuads(iri, links, mediaType);
    if (quads.length > 0)
      await this.sink.add(`${file}.meta`, Buffer.from(writeTurtle(quads, { base: iri, prefixes: {} })));
    if (!acl) return;
    const text = writeTurtle(acl.quads, { base: `${iri}.acl`, prefixes: acl.prefixes });
    await this.sink.add(`${file}.acl`, Buffer.from(text));
  }

  end(): Promise<void> {
    return this.sink.end();
  }
}

/** The path of the file, without a mark. */
const fileOf = (path: string): string => path.split('/').map(cssNameOf).join('/');

/** @throws TransferError for a name that is the server's own */
function assertFree(plain: string): void {
  if (plain === '.internal' || /\.(?:acl|acr|meta)$/.test(plain))
    throw new TransferError(`${plain} is a name that a Community Solid Server keeps for itself.`);
}
