/**
 * The entries of a storage under another address: every IRI below the old one, in graphs, names of graphs, records, linksets, access
 * control lists, grants, requests and subscriptions.
 */
import { tasks } from '../../lib/component/documents.js';
import {
  iriOfRecordKey,
  metaKey,
  newRevision,
  partsOfEntry,
  rangeOf,
  readRecord,
  recordKey,
  writeRecord,
} from '../../lib/component/entries.js';
import { graphPrefix } from '../../lib/component/graphs.js';
import {
  type Entry,
  IriRewriting,
  indexStateKey,
  isQuad,
  keyBlocks,
  type Level,
  ownedSpace,
} from '../../lib/component/level.js';
import { isOf } from './entries.js';

/** Where entries are written to. */
interface Target {
  readonly level: Level;
  /** Writes what waits. */
  flush(): Promise<void>;
}

/** Entries of the type index, which the next start makes anew. */
const indexed = new Set(['index', ownedSpace, partsOfEntry(indexStateKey)[0]]);
const graphOf = (key: string): string =>
  key.slice(graphPrefix('').length - 2, key.indexOf('\u0000', graphPrefix('').length - 2));

export class Rewriting {
  /** Keys of the graph that is being read. */
  private graph: { readonly name: string; readonly keys: string[] } | undefined;
  private contentBytes = 0;
  private hasFlushed = false;
  private readonly rewriting = new IriRewriting((iri) => this.iri(iri));

  /** @param from the old address, @param to the new one, both with a slash at the end */
  constructor(
    private readonly from: string,
    readonly to: string,
  ) {}

  private iri(iri: string): string {
    if (iri.startsWith(this.from)) return this.to + iri.slice(this.from.length);
    // People write the base URI with and without its slash.
    return `${iri}/` === this.from ? this.to.slice(0, -1) : iri;
  }

  /** The entries in the place of one, or of those before it. */
  async entries([key, value]: Entry, target: Target): Promise<Entry[]> {
    if (isQuad(key)) {
      const name = graphOf(key);
      const before = this.graph?.name === name ? [] : this.rest();
      this.graph ??= { name, keys: [] };
      this.graph.keys.push(key);
      return before;
    }
    const before = this.rest();
    if (isOf('E', key)) return [...before, ...this.ownEntry(key, value)];
    if (isOf('B', key)) return [...before, [key, this.iri(value)]];
    if (!this.hasFlushed) {
      // Records tell the size of graphs, which are read where they have just been written.
      this.hasFlushed = true;
      await target.flush();
    }
    return [...before, await this.record(key, value, target.level)];
  }

  /** The entries of the last graph. */
  rest(): Entry[] {
    const { graph } = this;
    this.graph = undefined;
    return graph ? this.rewriting.graph(graph.keys).map((key) => [key, '']) : [];
  }

  private ownEntry(key: string, value: string): Entry[] {
    return indexed.has(partsOfEntry(key)[0]) ? [] : [this.rewriting.entry(key, value)];
  }

  private async record(key: string, value: string, level: Level): Promise<Entry> {
    const before = readRecord(iriOfRecordKey(key), value);
    let record = this.rewriting.value(before);
    if (record.kind === 'rdf') {
      const keys: string[] = [];
      for await (const block of keyBlocks(level, rangeOf(graphPrefix(record.iri)))) keys.push(...block);
      const { size, prefixes } = tasks.encoded(keys, record.iri, record.prefixes ?? {});
      // A new revision: a revision names a set of quads for ever, and rewriting changes quads and may merge two.
      record = { ...record, prefixes, size, triples: keys.length, revision: newRevision() };
    }
    this.contentBytes += record.size;
    return [recordKey(record.iri), writeRecord(record)];
  }

  /** The facts of the whole storage, in the format of which `migrate` counts sizes and counters. */
  facts(): Entry[] {
    return [
      [metaKey('version'), '1'],
      [metaKey('bytes'), String(this.contentBytes)],
      [metaKey('storage'), this.to],
    ];
  }
}
