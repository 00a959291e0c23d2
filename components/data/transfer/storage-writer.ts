/** Writes members to a storage over the Linked Web Storage protocol, on any server: containers first, then resources concurrently. */
import { Readable } from 'node:stream';
import { bytesOfFile, type TreeSink } from '../../../lib/exchange/file-tree.js';
import {
  type BytesMember,
  type GraphMember,
  type Member,
  type ResourceMember,
  TransferError,
  type Writer,
} from '../../../lib/exchange/member.js';
import { type ClientLinks, declaredTypes, linkedValues } from '../../../lib/resources/linkset.js';
import { formatLink } from '../../../lib/tools/fields/link.js';
import { TurtleFiles } from '../exchange/text-files.js';
import { addReport, type ImportState, type WantedImport } from './import-state.js';
import { NameSet, nameInSet } from './name-set.js';
import { isBelow, isMade, refusal, type Sending, type ServerAnswer, type StorageClient } from './storage-client.js';

/** Maximum size of content held in memory and sent concurrently, in bytes. Longer content is streamed. */
const longestWaiting = 1 << 20;
const container = formatLink('https://www.w3.org/ns/lws#Container', 'type');

/** The facts about a resource known before its content is sent. */
type Facts = Pick<ResourceMember, 'path' | 'source' | 'links'>;

export class StorageWriter implements Writer {
  private readonly requests = new Requests(8);
  private readonly graphs: TurtleFiles;
  /** Short names of the resources already sent: a graph may occur again. */
  private readonly sent = new NameSet();
  /** Reasons why containers cannot be created, by path. `undefined` for containers that exist. */
  private readonly containers = new Map<string, string | undefined>();
  /** The current graph. If `facts` is undefined, the graph is skipped. */
  private graph: { readonly facts: GraphMember | undefined } | undefined;
  /** The last graph sent as a stream. */
  private streamed: Readable | undefined;
  private lists = 0;
  private states = 0;

  /** @param options `dryRun`: only check for existing resources, and send nothing @param state counts the results */
  constructor(
    private readonly client: StorageClient,
    private readonly options: Pick<WantedImport, 'into' | 'conflict' | 'dryRun'>,
    private readonly state: ImportState,
  ) {
    const sink: Pick<TreeSink, 'add' | 'end'> = {
      add: (_path, content) => {
        if (content instanceof Readable) this.streamed = content.on('error', () => {});
        return this.send(this.graph!.facts!, 'text/turtle', content);
      },
      end: async () => {},
    };
    this.graphs = new TurtleFiles(sink, options.into);
  }

  /** Makes sure that the target container exists. @throws TransferError if it cannot be created */
  async begin(): Promise<void> {
    const { into } = this.options;
    const { status, detail } = await this.client.send(into, { method: 'HEAD' });
    if (status === 200) this.containers.set('', undefined);
    else if (status === 403) throw new TransferError(`The caller has no access to ${into} (403). ${detail}`);
    else {
      const why = await this.containerAt({ path: '', source: into });
      if (why !== undefined) throw new TransferError(`${into} cannot be created: ${why}`);
    }
  }

  async write(member: Member): Promise<void> {
    if (member.kind === 'state') {
      this.states++;
      return;
    }
    if (member.acl) this.lists++;
    if (member.kind === 'rdf') return this.writeGraph(member);
    const why = await this.faultOf(member);
    if (why !== undefined) this.leaveOut(member.source, why);
    else if (member.kind === 'container') await this.makeContainer(member);
    else if (this.isNew(member)) await this.writeBytes(member);
  }

  /** Waits for all responses. @throws TransferError of the first failed request */
  async end(): Promise<void> {
    await this.requests.end();
    const { lists, states, options } = this;
    const why = 'they are imported only by their own server';
    if (lists > 0) this.leaveOut(options.into, `${lists} access control lists: ${why}.`);
    if (states > 0) this.leaveOut(options.into, `${states} grants and subscriptions: ${why}.`);
  }

  /** Aborts requests in progress. The server stores nothing of a graph that was sent in part. */
  async abandon(): Promise<void> {
    this.streamed?.destroy(new TransferError('The source ended.'));
    await this.requests.end().catch(() => {});
  }

  private leaveOut(source: string, why: string): void {
    Object.assign(this.state, addReport(this.state, [{ source, why }]));
  }

  private isNew({ path, source }: Facts): boolean {
    const name = nameInSet(path);
    if (this.sent.has(name)) {
      this.leaveOut(
        source,
        `${this.options.into}${path} was sent before, and graphs cannot be appended on another server: sort the dump by graph.`,
      );
      return false;
    }
    this.sent.add(name);
    return true;
  }

  private async writeGraph(member: GraphMember): Promise<void> {
    if (!this.graph) {
      const why = await this.faultOf(member);
      if (why !== undefined) this.leaveOut(member.source, why);
      this.graph = { facts: why === undefined && this.isNew(member) ? member : undefined };
    }
    const { facts } = this.graph;
    // Any part may have links. A streamed graph gets the links of its first part.
    if (facts) this.graph = { facts: { ...facts, ...(member.links ? { links: member.links } : {}) } };
    if (facts) {
      this.state.quads += member.quads.length;
      await this.graphs.write(member, ({ path }) => path);
    }
    if (!member.hasMore) this.graph = undefined;
  }

  private async writeBytes(member: BytesMember): Promise<void> {
    const { mediaType, size = Number.POSITIVE_INFINITY } = member;
    if (size > longestWaiting) return this.send(member, mediaType, member.open());
    return this.send(member, mediaType, await bytesOfFile(member, Number.POSITIVE_INFINITY));
  }

  /**
   * Creates missing parent containers. Returns the reason why the member cannot be sent to its path, or `undefined` if it can.
   */
  private async faultOf({ path }: Facts): Promise<string | undefined> {
    const { into } = this.options;
    if (!isBelow(into, path)) return 'Its name is not valid in HTTP requests.';
    for (let at = path.indexOf('/'); at >= 0 && at < path.length - 1; at = path.indexOf('/', at + 1)) {
      const above = path.slice(0, at + 1);
      if (!this.containers.has(above)) await this.containerAt({ path: above, source: above });
      const why = this.containers.get(above);
      if (why !== undefined) return `Its container ${into}${above} cannot be created: ${why}`;
    }
    return undefined;
  }

  private async makeContainer(facts: Facts): Promise<void> {
    if (this.containers.has(facts.path)) return;
    const why = await this.containerAt(facts);
    if (why !== undefined) this.leaveOut(facts.source, why);
  }

  /** Creates a container. @returns the reason why it cannot be created, or `undefined` */
  private async containerAt(facts: Facts): Promise<string | undefined> {
    if (this.options.dryRun) {
      if (!(await this.isStored(facts))) this.state.created++;
      this.containers.set(facts.path, undefined);
      return undefined;
    }
    const answer = await this.put(facts, { Link: container, ...ifNew });
    // A server may report that a container exists (409, 405) before it checks preconditions (412).
    const isOther = answer.status === 409 || answer.status === 405;
    const isThere = isMade(answer) || answer.status === 412 || (isOther && (await this.isStored(facts)));
    const why = isThere ? undefined : refusal(answer);
    this.containers.set(facts.path, why);
    if (isMade(answer)) this.state.created++;
    return why;
  }

  private async isStored({ path }: Facts): Promise<boolean> {
    return (await this.client.send(this.options.into + path, { method: 'HEAD' })).status === 200;
  }

  /** Sends a content as soon as the limit on requests permits it. Returns after a stream was sent. */
  private async send(facts: Facts, type: string, content: Uint8Array | AsyncIterable<Uint8Array>): Promise<void> {
    if (content instanceof Uint8Array) {
      this.requests.add(() => this.store(facts, type, content));
      return this.requests.room();
    }
    const source = content[Symbol.asyncIterator]();
    // An iterator without `return`: when fetch stops reading early, the source must not be closed.
    const body = { [Symbol.asyncIterator]: () => ({ next: () => source.next() }) };
    try {
      await this.requests.add(() => this.store(facts, type, body));
    } finally {
      for (let left = await source.next(); !left.done; left = await source.next());
    }
  }

  private async store(facts: Facts, type: string, body: NonNullable<Sending['body']>): Promise<void> {
    const { conflict, dryRun, into } = this.options;
    const fields = { 'Content-Type': type };
    // fetch may not return the response to a partially sent stream, so a HEAD request is sent first.
    const isWhole = body instanceof Uint8Array;
    const isKnown = (dryRun || !isWhole) && (await this.isStored(facts));
    if (!isKnown) {
      const answer = dryRun ? undefined : await this.put(facts, { ...fields, ...ifNew }, body);
      if (answer === undefined || isMade(answer)) return void this.state.created++;
      // A stream cannot be sent again.
      if (answer.status !== 412 || (conflict === 'replace' && !isWhole))
        return this.leaveOut(facts.source, refusal(answer));
    }
    if (conflict === 'skip') return void this.state.skipped++;
    if (conflict === 'fail')
      throw new TransferError(`${facts.source}: ${into}${facts.path} already exists. Use --on-conflict.`);
    const answer = dryRun ? undefined : await this.put(facts, { ...fields, 'If-Match': '*' }, body);
    if (answer === undefined || isMade(answer)) this.state.replaced++;
    else this.leaveOut(facts.source, refusal(answer));
  }

  private async put(
    { path, source, links: given }: Facts,
    { Link, ...fields }: Readonly<Record<string, string>>,
    body?: Sending['body'],
  ): Promise<ServerAnswer> {
    const iri = this.options.into + path;
    const { links, lost } = linkFields(given, iri);
    const field = [...(Link === undefined ? [] : [Link]), ...links].join(', ');
    const headers = {
      ...fields,
      ...(field === '' ? {} : { Link: field }),
      ...(links.length === 0 ? {} : { Prefer: 'set-linkset' }),
    };
    const answer = await this.client.send(iri, { method: 'PUT', headers, ...(body === undefined ? {} : { body }) });
    if (!isMade(answer)) return answer;
    if (lost !== undefined) this.leaveOut(source, lost);
    if (links.length > 0 && !/\bset-linkset\b/.test(answer.headers.get('preference-applied') ?? ''))
      this.leaveOut(source, `${links.length} links: the server does not confirm that it stored them.`);
    return answer;
  }
}

const ifNew = { 'If-None-Match': '*' };

/** Maximum length of links in the header fields of a request, in characters. */
const longestLinks = 6 << 10;

/**
 * Returns the links of a member as fields of the request that stores it (LWS, `Prefer: set-linkset`).
 * @param iri of the resource
 * @returns `lost`: a sentence on links that header fields cannot express
 */
function linkFields(all: ClientLinks | undefined, iri: string): { links: readonly string[]; lost?: string } {
  if (all === undefined) return { links: [] };
  const values = linkedValues(all, iri);
  const types = declaredTypes(all).map((type) => formatLink(type, 'type'));
  const links = [
    ...types,
    ...values.flatMap(([relation, { href }]) => (href === undefined ? [] : formatLink(href, relation))),
  ];
  if (links.reduce((sum, link) => sum + link.length, 0) > longestLinks)
    return { links: [], lost: `Its ${links.length} links exceed the size limit of header fields.` };
  const literals = types.length + values.length - links.length;
  return literals === 0
    ? { links }
    : { links, lost: `${literals} of its links are literals, which header fields cannot express.` };
}

/** Runs work concurrently, up to a limit. */
class Requests {
  private readonly under = new Set<Promise<void>>();
  private failure: { readonly error: unknown } | undefined;

  constructor(private readonly max: number) {}

  /** Starts work. Its error is also thrown by the next `room` or `end`. */
  add(work: () => Promise<void>): Promise<void> {
    const done = work().finally(() => this.under.delete(done));
    this.under.add(done);
    done.catch((error: unknown) => {
      this.failure ??= { error };
    });
    return done;
  }

  /** Waits until more work may start. @throws the error of failed work */
  async room(): Promise<void> {
    while (this.under.size >= this.max && !this.failure) await Promise.race(this.under).catch(() => {});
    if (this.failure) throw this.failure.error;
  }

  /** Waits for all work. @throws the error of failed work */
  async end(): Promise<void> {
    await Promise.allSettled(this.under);
    if (this.failure) throw this.failure.error;
  }
}
