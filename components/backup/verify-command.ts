/** `quadpod verify DIR`: whether a back-up is whole, without restoring it. It must not know how one is made. */
import { existsSync, statSync } from 'node:fs';
import { join, resolve } from 'node:path';
import type { CommandContext } from '../../lib/component.js';
import { iriOfRecordKey, type ResourceRecord, readRecord } from '../../lib/storage/records.js';
import { isQuad } from '../../lib/storage/rewritten-entries.js';
import { isOf } from './entries.js';
import { blobFile, readManifest } from './folder.js';
import { BackupError, digestOf, readState } from './state-file.js';

/** Exit code for a back-up that is damaged. */
const damaged = 3;

export async function verify({ operands, print, progress }: CommandContext): Promise<number> {
  const folder = resolve(operands[0]!);
  const manifest = readManifest(folder);
  const file = join(folder, manifest.state);
  let faults = 0;
  const fault = (sentence: string): void => {
    faults++;
    print(sentence);
  };
  let [resources, triples, blobs] = [0, 0, 0];
  try {
    if (!existsSync(file)) throw new BackupError(`The state ${file} is missing.`);
    if ((await digestOf(file)) !== manifest.sha256) fault(`${file} does not have the digest that its manifest names.`);
    const told = progress('Reading the back-up');
    let done = 0;
    for await (const block of readState(file)) {
      for (const [key, value] of block) {
        if (isQuad(key)) triples++;
        if (!isOf('R', key)) continue;
        resources++;
        const record = readRecord(iriOfRecordKey(key), value);
        if (record.blob === undefined) continue;
        blobs++;
        const wrong = await faultOf(blobFile(folder, record.blob), record);
        if (wrong) fault(`The content of ${record.iri} (blob ${record.blob}) ${wrong}.`);
      }
      done += block.length;
      told(done, manifest.entries);
    }
    if (blobs !== manifest.blobs) fault(`The state has ${blobs} blobs, its manifest says ${manifest.blobs}.`);
    for (const key of manifest.keys) if (!existsSync(join(folder, key))) fault(`The key ${key} is missing.`);
  } catch (error) {
    if (!(error instanceof BackupError)) throw error;
    fault(error.message);
  }
  const verdict = faults === 0 ? 'all in order' : `${faults} faults`;
  print(
    `${resources} resources of ${manifest.storage}, ${triples} triples, ${blobs} blobs, made ${manifest.made}: ${verdict}.`,
  );
  return faults === 0 ? 0 : damaged;
}

async function faultOf(file: string, { size, sha256 }: ResourceRecord): Promise<string | undefined> {
  if (!existsSync(file)) return 'is missing';
  if (statSync(file).size !== size) return `has ${statSync(file).size} bytes instead of ${size}`;
  return (await digestOf(file)) === sha256 ? undefined : 'does not have its digest';
}
