/** `quadpod restore DIR`: restores a backup to an empty data directory, with the same or (`--rewrite`) another base URI. */
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

/** Entries in a batch. Each batch is synced. */
const batchSize = 10_000;
/** Maximum characters of the values in a batch, because values of earlier states are long. */
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
    // Count the quads: the stored count includes graphs that were being written or removed, which the backup omits.
    const quads = await countQuads(level);
    const own = [[metaKey('quads'), String(quads)], oneIndex, [metaKey('restoring'), null]] as const;
    await writeEntries(level, [...facts, ...own], facts.at(-1)!);
    // For another base URI, recompute all counts, as for earlier formats.
    if (rewriting) await migrate(level, { deriveGraphs: writeLinksetGraphs });
    if (place.isShared) await confirmAll(place, blobs, print);
  } finally {
    await level.close();
    await place.close();
  }
  print(`${target} has the state of ${manifest.made}${rewriting ? `, now of ${rewriting.to}` : ''}.`);
  return check();
}

/** Returns the rewriting of IRIs, if requested. @throws BackupError if the base URIs differ and `--rewrite` is missing */
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

/** Removes the files of an interrupted restore. @throws BackupError if the directory contains anything else */
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
      // Write these entries last: a database without them is not a storage, so an interrupted restore cannot be started.
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

/** Confirms the commits of the blobs, because all entries that refer to them are written. */
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

/** Database to which entries are restored. */
interface Target {
  readonly level: Level;
  /** Writes the pending entries, and `more`. */
  flush(more: readonly Entry[]): Promise<void>;
}

const graphOf = (key: string): string =>
  key.slice(graphPrefix('').length - 2, key.indexOf('\u0000', graphPrefix('').length - 2));

/** Rewrites the entries of a storage for another base URI: every IRI below the old one, in any position. */
export class Rewriting {
  /** Keys of the graph that is being read. */
  private graph: { readonly name: string; readonly keys: string[] } | undefined;
  private contentBytes = 0;
  private hasFlushed = false;
  private readonly features = new Set(initialFeatures);
  private readonly rewriting = new IriRewriting((iri) => this.iri(iri));

  /** @param from old base URI @param to new base URI, both with a trailing slash */
  constructor(
    private readonly from: string,
    readonly to: string,
  ) {}

  private iri(iri: string): string {
    if (iri.startsWith(this.from)) return this.to + iri.slice(this.from.length);
    // The base URI also occurs without the trailing slash.
    return `${iri}/` === this.from ? this.to.slice(0, -1) : iri;
  }

  /** Returns the entries to write: the replacement of an entry, or all entries of a graph that is now complete. */
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
      // Write the pending entries first: records contain the size of their graphs, which is computed from the database.
      this.hasFlushed = true;
      await target.flush(before);
      return [await this.record(key, value, target.level)];
    }
    return [...before, await this.record(key, value, target.level)];
  }

  /** Returns the entries of the last graph, which is now complete. */
  rest(): Entry[] {
    const { graph } = this;
    this.graph = undefined;
    return graph ? this.rewriting.graph(graph.keys).map((key) => [key, '']) : [];
  }

  private ownEntry(key: string, value: string): Entry[] {
    // Omit index entries. The next start rebuilds the indexes.
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
      // Set a new revision, because a revision always identifies the same quads. Rewriting changes quads,
      // and may merge two into one.
      const facts = { prefixes, size, triples: keys.length, revision: newRevision() };
      record = withDigest({ ...record, ...facts }, KeyDigest.of(keys));
    }
    if (record.rdfVersion) this.features.add(newTerms);
    this.contentBytes += record.size;
    return [recordKey(record.iri), writeRecord(record)];
  }

  /** Returns the entries about the whole storage, in an earlier format, so that `migrate` recomputes sizes and counters. */
  facts(): Entry[] {
    return [
      [metaKey('version'), '1'],
      [metaKey('bytes'), String(this.contentBytes)],
      [featuresKey, writeFeatures(this.features)],
      [metaKey('storage'), this.to],
    ];
  }
}
