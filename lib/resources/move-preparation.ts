/** Prepares the content of a MOVE or COPY before its transaction: writes large graphs, or all if there are many triples. */
import type { Pause } from '../authorization/decision-turns.js';
import { isLargeGraph } from '../storage/graphs/graph-lines.js';
import type { GraphKeys, PackedKeys } from '../storage/keys/graph-keys.js';
import type { ResourceRecord } from '../storage/keys/records.js';
import { quotaExceeded } from '../storage/level/quota.js';
import { LwsError, tooBusy } from '../tools/errors.js';
import { type Moving, type Placed, place } from './moved-content.js';
import { longestPath } from './names.js';
import type { Storage } from './storage.js';

/** Maximum count of resources in one request: the transaction of 20 000 resources blocks all others for about one second. */
export const maxResources = 25_000;

/** Maximum count of triples, and of characters in their keys, that the transaction itself writes and holds in memory. */
export const maxStaged = 100_000;
const maxCharacters = 64 << 20;

/** Maximum triples of one request, and maximum memory in bytes for the keys of all requests in progress. */
export const maxMoved = 5_000_000;
const maxBytes = 256 << 20;

/** Counts of triples and of characters in keys above which all graphs, not only large ones, are written in advance. */
const [fewTriples, fewCharacters] = [50_000, 16 << 20];

/** Count of triples in a batch that is written before the transaction. */
const triplesAtATime = 20_000;

export const tooManyMoved = (): LwsError =>
  new LwsError(
    'too-complex',
    `One request moves or copies at most ${maxResources} resources with ${maxMoved} triples, and replaces at most ${maxStaged} triples. The limits are fixed. Delete what is replaced, or create the Destination and move the members one by one.`,
  );

/** Returns true if graphs have at most the given counts of triples and characters of keys. */
function fits(
  graphs: readonly { readonly keys: PackedKeys }[],
  most: readonly [triples: number, characters: number],
): boolean {
  let [triples, characters] = [0, 0];
  for (const { keys } of graphs) [triples, characters] = [triples + keys.length, characters + keys.characters];
  return triples <= most[0] && characters <= most[1];
}

/** Memory for the keys of all requests in progress, in bytes. */
let bytesInUse = 0;

/** Content of the resources at their new names. Built outside of transactions, and reused when the transaction is repeated. */
export class Preparation {
  /** Remaining bytes of the quota. */
  room = 0;
  /** IRIs of the sources that the last transaction staged. Absent: unknown, all sources may have been staged. */
  staged: ReadonlySet<string> | undefined;
  /**
   * True once the transaction of the move may be committed. An earlier CommitInDoubtError concerns only the graphs of `writeAhead`,
   * which no reader sees yet.
   */
  isCommitting = false;
  private readonly made = new Map<string, Placed>();
  /** Graphs already written at their new names, by the IRI of the source. */
  private readonly ahead = new Map<string, { readonly iri: string; readonly keys: GraphKeys }>();
  private bytes = 0;
  private bytesOfKeys = 0;

  constructor(
    readonly storage: Storage,
    private readonly request: Moving,
  ) {}

  has({ iri, kind, revision }: ResourceRecord): boolean {
    const known = this.made.get(iri);
    return known !== undefined && (kind === 'container' || known.record.revision === revision);
  }

  /** Returns the prepared content of a resource. @throws LwsError `quota-exceeded`, `iri-too-long`, `too-complex`, Again */
  async of(record: ResourceRecord): Promise<Placed> {
    const { storage, request, made } = this;
    const known = made.get(record.iri);
    if (known && this.has(record)) return { ...known, record };
    const iri = request.destination + record.iri.slice(request.iri.length);
    if (iri.length - storage.rootIri.length >= longestPath)
      throw new LwsError('iri-too-long', `A new path exceeds the limit of ${longestPath} characters.`);
    await this.forget(record.iri);
    if (this.bytes + record.size > this.room) throw quotaExceeded();
    const placed = await place(storage, request, { record, iri });
    this.bytes += record.size;
    made.set(record.iri, placed);
    this.use(placed.graph?.keys.bytes ?? 0);
    return placed;
  }

  /** Returns true if the graph of a source is already written at its new name. */
  isAhead(iri: string): boolean {
    return this.ahead.has(iri);
  }

  /**
   * Writes large graphs at their new names, and also small graphs if these have many triples. Readers do not see the graphs
   * before the transaction commits. The transaction itself writes graphs that replace others.
   * @throws LwsError `too-complex` if the transaction would write too many triples
   */
  async writeAhead(pause: Pause = async () => {}): Promise<void> {
    const { store } = this.storage;
    const rest = [...this.made].flatMap(([from, { iri, graph }]) =>
      graph && graph.keys.length > 0 && !this.ahead.has(from) ? [{ from, iri, keys: graph.keys }] : [],
    );
    const areMany = !fits(rest, [fewTriples, fewCharacters]);
    const chosen = rest.filter(({ keys }) => areMany || isLargeGraph(keys.length));
    // Sort by name, so that two requests with the same Destination cannot deadlock.
    chosen.sort((a, b) => (a.iri < b.iri ? -1 : 1));
    for (let at = 0; at < chosen.length; ) {
      const turn: typeof chosen = [];
      for (let triples = 0; at < chosen.length && triples < triplesAtATime; at++) {
        turn.push(chosen[at]!);
        triples += chosen[at]!.keys.length;
      }
      const written = await store.loadGraphs(new Map(turn.map(({ iri, keys }) => [iri, keys])));
      for (const { from, iri, keys } of turn) if (written.has(iri)) this.ahead.set(from, { iri, keys });
      await pause();
    }
    const left = rest.filter(({ from }) => !this.ahead.has(from));
    if (!fits(left, [maxStaged, maxCharacters])) throw tooManyMoved();
    // Wait until earlier graphs with these names are removed. Otherwise the transaction would be repeated for each of them.
    for (const { iri } of left) {
      await store.nameFree(iri);
      await pause();
    }
  }

  /** Discards the content of sources that no longer exist. */
  async forgetOthers(existing: ReadonlySet<string>): Promise<void> {
    for (const iri of [...this.made.keys()]) if (!existing.has(iri)) await this.forget(iri);
  }

  private async forget(iri: string): Promise<void> {
    const known = this.made.get(iri);
    if (!known) return;
    this.bytes -= known.record.size;
    this.use(-(known.graph?.keys.bytes ?? 0));
    this.made.delete(iri);
    this.dropAhead(iri);
    await known.blob?.abort();
  }

  /** Charges memory for keys. @throws LwsError `too-complex`, `too-busy` */
  private use(bytes: number): void {
    this.bytesOfKeys += bytes;
    bytesInUse += bytes;
    if (this.bytesOfKeys > maxBytes) throw tooManyMoved();
    if (bytes > 0 && bytesInUse > maxBytes)
      throw tooBusy('Other requests move or copy many triples. Retry in a few seconds.', 5);
  }

  private dropAhead(from: string): void {
    const written = this.ahead.get(from);
    if (written) this.storage.store.dropLoaded(written.iri, written.keys);
    this.ahead.delete(from);
  }

  /** Removes uncommitted blobs and graphs. If the commit is in doubt, keeps the blobs, and drops only unpublished graphs. */
  async discard(): Promise<void> {
    for (const [iri, { blob }] of this.made) if (this.staged?.has(iri) === false) await blob?.abort();
    for (const from of [...this.ahead.keys()]) if (!this.staged?.has(from)) this.dropAhead(from);
    this.use(-this.bytesOfKeys);
  }
}
