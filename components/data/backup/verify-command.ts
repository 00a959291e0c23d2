/** `quadpod verify DIR`: verifies a backup without restoring it. */
import { existsSync, statSync } from 'node:fs';
import { join, resolve } from 'node:path';
import type { CommandContext } from '../../../lib/component/component.js';
import type { BlobFacts } from '../../../lib/storage/keys/blob-integrity.js';
import { isQuad } from '../../../lib/storage/keys/iri-rewriting.js';
import { isKeptBlob, keptBlobFacts, readKeptBlob } from '../../../lib/storage/keys/kept-blobs.js';
import { blobFacts, type ResourceRecord } from '../../../lib/storage/keys/records.js';
import { EntryDigests } from '../../../lib/storage/level/entry-digests.js';
import { BackupError, type BackupSection, isOf, recordOf, sectionOf } from './entries.js';
import { backupBlobFile, backupEntries, graphsOf, linesInFiles, type Manifest, readManifest } from './folder.js';
import { digestOfFile } from './state-file.js';

/** Exit code for a damaged backup. */
const damaged = 3;
const maxTold = 1000;

export async function verify({ operands, print, progress }: CommandContext): Promise<number> {
  const folder = resolve(operands[0]!);
  const manifest = readManifest(folder);
  const verification = new Verification(folder, manifest, { print, told: progress('Reading the backup') });
  try {
    await verification.entries();
  } catch (error) {
    if (!(error instanceof BackupError)) throw error;
    verification.fault(error.message);
  }
  for (const key of manifest.keys) if (!existsSync(join(folder, key))) verification.fault(`The key ${key} is missing.`);
  const { faults, resources, triples, blobs } = verification;
  const verdict = faults === 0 ? 'all in order' : `${faults} faults`;
  print(
    `${resources} resources of ${manifest.storage}, ${triples} triples, ${blobs} blobs, made ${manifest.made}: ${verdict}.`,
  );
  return faults === 0 ? 0 : damaged;
}

class Verification {
  faults = 0;
  resources = 0;
  triples = 0;
  blobs = 0;
  private done = 0;
  private readonly total: number;

  constructor(
    private readonly folder: string,
    private readonly manifest: Manifest,
    private readonly telling: Pick<CommandContext, 'print'> & { readonly told: ReturnType<CommandContext['progress']> },
  ) {
    this.total = linesInFiles(manifest);
  }

  fault(sentence: string): void {
    this.faults++;
    // A damaged backup may have millions of faults. Report only the first ones.
    if (this.faults <= maxTold) this.telling.print(sentence);
  }

  /**
   * Verifies that all graphs in the state exist with all triples, and that all parts and blobs exist that the state refers to.
   */
  async entries(): Promise<void> {
    const { folder, manifest } = this;
    for (const { name, sha256 } of [{ name: manifest.state, sha256: manifest.sha256 }, ...manifest.quads])
      await this.digest(join(folder, name), sha256);
    const graphs = manifest.quads.length === 0 ? undefined : await graphsOf(folder, manifest);
    const ended = ({ name, count }: BackupSection, found: number, isOther: boolean): void => {
      if (count !== undefined && count !== found)
        this.fault(
          `${name || 'A part of the entries'} has ${found} ${name ? 'triples' : 'entries'} instead of ${count}.`,
        );
      else if (isOther) this.fault(`The triples of ${name} differ from those that were written.`);
    };
    const digests = new EntryDigests();
    for await (const block of backupEntries(folder, manifest, graphs, ended)) {
      for (const entry of block) {
        if (isQuad(entry[0])) this.triples++;
        else if (!isOf('P', entry[0])) digests.add(...entry);
        const section = graphs && graphs.unseen > 0 ? sectionOf(entry) : undefined;
        if (section && graphs!.has(section) && !graphs!.hasSeen(section))
          this.fault(
            `The ${section.name === '' ? `${section.count} entries of a part` : `quads of ${section.name}`} are missing.`,
          );
        if (isOf('R', entry[0])) await this.resource(recordOf(entry));
        else if (isKeptBlob(entry[0]) && readKeptBlob(entry[1]).isFree) await this.blob(keptBlobFacts(entry));
      }
      this.told(block.length);
    }
    for (const name of digests.differing)
      this.fault(`One of the ${name}s is not the one that was written, or is missing.`);
    if (this.blobs !== manifest.blobs)
      this.fault(`The state has ${this.blobs} blobs instead of ${manifest.blobs}, the number in the manifest.`);
  }

  private async digest(file: string, sha256: string): Promise<void> {
    if (!existsSync(file)) throw new BackupError(`${file} is missing.`);
    if ((await digestOfFile(file)) !== sha256) this.fault(`The digest of ${file} differs from the manifest.`);
  }

  private async resource(record: ResourceRecord): Promise<void> {
    this.resources++;
    const facts = blobFacts(record);
    if (record.blob !== undefined) await this.blob(facts, record.iri);
  }

  /** Verifies a blob. @param iri IRI of the resource with the blob. Absent if only earlier states have the blob */
  private async blob(facts: BlobFacts, iri = 'an earlier state'): Promise<void> {
    this.blobs++;
    const wrong = await faultOf(backupBlobFile(this.folder, facts.blob), facts);
    if (wrong) this.fault(`The content of ${iri} (blob ${facts.blob}) ${wrong}.`);
  }

  private told(count: number): void {
    this.done += count;
    this.telling.told(this.done, this.total);
  }
}

async function faultOf(file: string, { size, sha256 }: BlobFacts): Promise<string | undefined> {
  if (!existsSync(file)) return 'is missing';
  if (statSync(file).size !== size) return `has ${statSync(file).size} bytes instead of ${size}`;
  return (await digestOfFile(file)) === sha256 ? undefined : 'has another digest';
}
