/** The quad indexes of earlier builds, written by quadstore's own class. */
import { join } from 'node:path';
import { Quadstore, type TermName } from 'quadstore';
import { DataFactory } from 'rdf-data-factory';
import { formerIndexes } from '../../lib/storage/graphs/format.js';
import { metaKey } from '../../lib/storage/keys/records.js';
import { ClassicLevel } from '../../lib/storage/level/classic-level.js';
import { quadstoreIndex } from '../../lib/storage/level/quadstore-file.js';

const names: Readonly<Record<string, TermName>> = { S: 'subject', P: 'predicate', O: 'object', G: 'graph' };
const four: TermName[][] = ['GSPO', ...formerIndexes].map((index) => [...index].map((letter) => names[letter]!));
const quadsAtATime = 1000;

/** Opens the database of a stopped storage with quadstore. */
export async function quadstoreOf(dataDir: string, indexes: TermName[][] = [[...quadstoreIndex]]): Promise<Quadstore> {
  const backend = new ClassicLevel<string, string>(join(dataDir, 'level'));
  const store = new Quadstore({ backend, dataFactory: new DataFactory() as never, indexes });
  await store.open();
  return store;
}

/** Adds the former indexes to a stopped storage. */
export async function addFormerIndexes(dataDir: string): Promise<void> {
  const store = await quadstoreOf(dataDir, four);
  const { items } = await store.get({ graph: undefined as never });
  for (let at = 0; at < items.length; at += quadsAtATime) await store.multiPut(items.slice(at, at + quadsAtATime));
  await (store.db as unknown as ClassicLevel<string, string>).put(metaKey('orders'), 'all');
  await store.close();
}

/** Returns the number of keys of the former indexes, and the record of the index. */
export async function formerState(dataDir: string): Promise<{ readonly keys: number; readonly record: string }> {
  const level = new ClassicLevel<string, string>(join(dataDir, 'level'));
  let keys = 0;
  for (const index of formerIndexes) keys += (await level.keys({ gte: index, lt: `${index}\uffff` }).all()).length;
  const record = (await level.get(metaKey('orders'))) ?? '';
  await level.close();
  return { keys, record };
}
