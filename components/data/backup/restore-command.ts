/** `quadpod restore DIR`: restores a backup into an empty data directory, under the same address or, with --rewrite, another. */
import { createReadStream, existsSync, readdirSync, rmSync } from 'node:fs';
import { join, resolve } from 'node:path';
import type { CommandContext } from '../../../lib/component/component.js';
import { tasks } from '../../../lib/documents/document-tasks.js';
import { writeLinksetGraphs } from '../../../lib/resources/linkset-migration.js';
import type { Blobs } from '../../../lib/storage/blobs/blobs.js';
import { blobsAt } from '../../../lib/storage/blobs/blobs-at.js';
import { countQuads, migrate, oneIndex } from '../../../lib/storage/graphs/format.js';
import { withDigest } from '../../../lib/storage/graphs/graph-digests.js';
import type { Entry } from '../../../lib/storage/graphs/state-blocks.js';
import { isDerivedEntry } from '../../../lib/storage/keys/derived-entries.js';
import {
  featureOf,
  featuresKey,
  initialFeatures,
  newTerms,
  writeFeatures,
} from '../../../lib/storage/keys/features.js';
import { IriRewriting, isQuad } from '../../../lib/storage/keys/iri-rewriting.js';
import { KeyDigest } from '../../../lib/storage/keys/key-digest.js';
import { graphPrefix } from '../../../lib/storage/keys/quad-keys.js';
import {
  iriOfRecordKey,
  metaKey,
  newRevision,
  rangeOf,
  readRecord,
  recordKey,
  writeRecord,
} from '../../../lib/storage/keys/records.js';
import { forEachConcurrently } from '../../../lib/storage/level/concurrently.js';
import { keyBlocks, type Level, openLevel, putSynced, writeEntries } from '../../../lib/storage/level/durable-level.js';
import { makeFolder } from '../../../lib/storage/level/synced-files.js';
import { LwsError } from '../../../lib/tools/errors.js';
import { BackupError, isOf } from './entries.js';
import {
  backupBlobFile,
  backupEntries,
  copyOnce,
  damagedFile,
  graphsOf,
  linesInFiles,
  type Manifest,
  readManifest,
  syncNames,
} from './folder.js';

/** Number of entries in a batch. Each batch is synced. */
const batchSize = 10_000;
/** Characters of the values in a batch: those of earlier states are long. */
const batchCharacters = 16 << 20;

export async function restore(context: CommandContext): Promise<number> {
  const { dataDir, operands, print, check } = context;
  const folder = resolve(operands[0]!);
  const target = resolve(dataDir);
  const manifest = readManifest(folder);
  const rewriting = rewritingOf(context, manifest);
  const damaged = await damagedFile(folder, manifest);
  if (damaged) throw new BackupError(`${damaged} is missing or damaged. Run "quadpod verify ${folder}" for details.`);
  const place = await blobsAt(context.blobs);
  await assertEmpty(target, place);
  await makeFolder(target);
  const level = await openLevel(join(target, 'level'));
  try {
    await putSynced(level, metaKey('restoring'), manifest.made);
    if (place.isShared) await place.open(`${context.baseUri}/`);
    const { blobs, facts } = await restoreEntries(context, { level, folder, manifest, rewriting });
    await restoreBlobs(context, place, folder, blobs);
    for (const key of manifest.keys) await copyOnce(join(folder, key), join(target, key));
    await syncNames(target);
    // The backup omits graphs that were being written or removed, but its own count includes them.
    const quads = await countQuads(level);
    const own = [[metaKey('quads'), String(quads)], oneIndex, [metaKey('restoring'), null]] as const;
    await writeEntries(level, [...facts, ...own], facts.at(-1)!);
    // With another address, everything is counted anew, as for earlier formats. This is not reported.
    if (rewriting) await migrate(level, { deriveGraphs: writeLinksetGraphs });
    if (place.isShared) await confirmAll(place, blobs, print);
  } finally {
    await level.close();
    await place.close();
  }
  print(`${target} has the state of ${manifest.made}${rewriting ? `, now of ${rewriting.to}` : ''}.`);
  return check();
}

/** @throws BackupError if the address of the backup differs and no option says what to do */
function rewritingOf({ baseUri, flags }: CommandContext, { storage }: Manifest): Rewriting | undefined {
  const wanted = `${baseUri}/`;
  const given = flags['rewrite'];
  if (given === undefined) {
    if (storage === wanted) return undefined;
    throw new BackupError(
      `The backup is of ${storage}, but lws.base-uri is ${wanted}. To change the address, use --rewrite ${storage}=${wanted}.`,
    );
  }
  const [from = '', to = '', ...rest] = given.split('=');
  const withSlash = (iri: string): string => (iri.endsWith('/') ? iri : `${iri}/`);
  if (rest.length > 0 || withSlash(from) !== storage || withSlash(to) !== wanted)
    throw new BackupError(
      `--rewrite is ${given}; expected ${storage}=${wanted}, from the backup's address to lws.base-uri.`,
    );
  return new Rewriting(withSlash(from), withSlash(to));
}

/** Removes the remains of an interrupted restore. Anything else is kept and rejected. */
async function assertEmpty(target: string, blobs: Blobs): Promise<void> {
  const names = existsSync(target) ? readdirSync(target) : [];
  if (names.length === 0) {
    if (!(await blobs.exists())) return;
    await blobs.close();
    throw new BackupError(`${blobs.name} contains blobs. Choose another lws.blobs.`);
  }
  if (names.includes('level')) {
    const level = await openLevel(join(target, 'level'));
    const broken = (await level.get(metaKey('restoring'))) !== undefined;
    await level.close();
    if (broken) {
      for (const name of ['level', 'blobs']) rmSync(join(target, name), { recursive: true, force: true });
      return;
    }
  }
  throw new BackupError(`${target} is not empty (${names.slice(0, 5).join(', ')}). Choose another --data-dir.`);
}

interface EntriesTask {
  readonly level: Level;
  readonly folder: string;
  readonly manifest: Manifest;
  readonly rewriting: Rewriting | undefined;
}

async function restoreEntries(
  { progress }: CommandContext,
  { level, folder, manifest, rewriting }: EntriesTask,
): Promise<{ blobs: readonly string[]; facts: readonly Entry[] }> {
  const told = progress('Restoring entries');
  const blobs: string[] = [];
  const facts: Entry[] = [];
  let batch: Entry[] = [];
  const flush = async (more: readonly Entry[] = []): Promise<void> => {
    batch.push(...more);
    if (batch.length === 0) return;
    const entries = batch;
    batch = [];
    await writeEntries(level, entries, [metaKey('restoring'), manifest.made]);
  };
  let [done, characters] = [0, 0];
  const total = linesInFiles(manifest);
  const graphs = manifest.quads.length === 0 ? undefined : await graphsOf(folder, manifest);
  for await (const block of backupEntries(folder, manifest, graphs)) {
    for (const entry of block) {
      const [key] = entry;
      if (isOf('B', key)) blobs.push(key.slice(2));
      if (isOf('P', key)) continue;
      // These entries make the database a storage, so they are written last.
      if (isOf('M', key)) facts.push(entry);
      else if (!rewriting) batch.push(entry);
      else for (const rewritten of await rewriting.entries(entry, { level, flush })) batch.push(rewritten);
      characters += entry[1].length;
      if (batch.length < batchSize && characters < batchCharacters) continue;
      await flush();
      characters = 0;
    }
    done += block.length;
    told(done, total);
  }
  if (graphs && graphs.unseen > 0)
    throw new BackupError(
      `The backup lacks ${graphs.unseen} graphs, or parts of the other entries. Run "quadpod verify ${folder}" for details.`,
    );
  for (const rewritten of rewriting?.rest() ?? []) batch.push(rewritten);
  await flush();
  return { blobs, facts: rewriting ? rewriting.facts() : facts };
}

async function restoreBlobs(
  { dataDir, progress }: CommandContext,
  place: Blobs,
  folder: string,
  blobs: readonly string[],
): Promise<void> {
  const told = progress('Restoring blobs');
  let done = 0;
  await forEachConcurrently(blobs, place.atOnce, async (blob) => {
    const from = backupBlobFile(folder, blob);
    if (!existsSync(from))
      throw new BackupError(`The backup lacks the blob ${blob}. Run "quadpod verify ${folder}" for details.`);
    if (place.isShared) await upload(place, blob, from);
    else await copyOnce(from, backupBlobFile(resolve(dataDir), blob));
    told(++done, blobs.length);
  });
}

/** All entries now refer to these blobs. */
async function confirmAll(place: Blobs, blobs: readonly string[], print: (line: string) => void): Promise<void> {
  try {
    await forEachConcurrently(blobs, place.atOnce, (blob) => place.confirm(blob));
  } catch (error) {
    if (!(error instanceof LwsError)) throw error;
    print(`Some marks remain in ${place.name}pending/ (${error.reason ?? error.message}); the server removes them.`);
  }
}

async function upload(place: Blobs, blob: string, from: string): Promise<void> {
  const writer = await place.create(blob);
  try {
    for await (const chunk of createReadStream(from, { highWaterMark: 1 << 20 })) await writer.write(chunk);
    await writer.finish();
  } catch (error) {
    await writer.abort();
    throw error instanceof LwsError ? new BackupError(`${place.name}: ${error.reason ?? error.message}`) : error;
  }
}

/** The target of entries. */
interface Target {
  readonly level: Level;
  /** Writes the pending entries, and further ones. */
  flush(more: readonly Entry[]): Promise<void>;
}

const graphOf = (key: string): string =>
  key.slice(graphPrefix('').length - 2, key.indexOf('\u0000', graphPrefix('').length - 2));

/** Moves the entries of a storage to another address: rewrites every IRI below the old one, in any position. */
export class Rewriting {
  /** Keys of the current graph. */
  private graph: { readonly name: string; readonly keys: string[] } | undefined;
  private contentBytes = 0;
  private hasFlushed = false;
  private readonly features = new Set(initialFeatures);
  private readonly rewriting = new IriRewriting((iri) => this.iri(iri));

  /** @param from the old address @param to the new address, both with a trailing slash */
  constructor(
    private readonly from: string,
    readonly to: string,
  ) {}

  private iri(iri: string): string {
    if (iri.startsWith(this.from)) return this.to + iri.slice(this.from.length);
    // The base URI occurs with and without its slash.
    return `${iri}/` === this.from ? this.to.slice(0, -1) : iri;
  }

  /** Returns the entries that replace an entry, or the entries before it. */
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
      // Records contain the size of graphs, computed from the entries just written.
      this.hasFlushed = true;
      await target.flush(before);
      return [await this.record(key, value, target.level)];
    }
    return [...before, await this.record(key, value, target.level)];
  }

  /** Returns the entries of the last graph. */
  rest(): Entry[] {
    const { graph } = this;
    this.graph = undefined;
    return graph ? this.rewriting.graph(graph.keys).map((key) => [key, '']) : [];
  }

  private ownEntry(key: string, value: string): Entry[] {
    // Indexes are rebuilt at the next start.
    if (isDerivedEntry(key)) return [];
    const feature = featureOf(key);
    if (feature !== undefined) this.features.add(feature);
    return [this.rewriting.entry(key, value)];
  }

  private async record(key: string, value: string, level: Level): Promise<Entry> {
    const before = readRecord(iriOfRecordKey(key), value);
    let record = this.rewriting.value(before);
    if (record.kind === 'rdf') {
      const keys: string[] = [];
      for await (const block of keyBlocks(level, rangeOf(graphPrefix(record.iri)))) keys.push(...block);
      const { size, prefixes } = tasks.encoded(keys, record.iri, record.prefixes ?? {});
      // A new revision: a revision identifies a set of quads permanently, and rewriting changes quads and may merge two.
      const facts = { prefixes, size, triples: keys.length, revision: newRevision() };
      record = withDigest({ ...record, ...facts }, KeyDigest.of(keys));
    }
    if (record.rdfVersion) this.features.add(newTerms);
    this.contentBytes += record.size;
    return [recordKey(record.iri), writeRecord(record)];
  }

  /** Returns the entries of the whole storage, in the format for which `migrate` recomputes sizes and counters. */
  facts(): Entry[] {
    return [
      [metaKey('version'), '1'],
      [metaKey('bytes'), String(this.contentBytes)],
      [featuresKey, writeFeatures(this.features)],
      [metaKey('storage'), this.to],
    ];
  }
}
