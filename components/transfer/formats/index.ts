import { basename } from 'node:path';
import type { Reader } from '../member.js';
import { fileSource } from './byte-source.js';
import { dumpKind, dumpReader } from './dump-reader.js';
export interface Source { readonly path: string; readonly name?: string; readonly mediaType?: string }
export const readFormats: readonly string[] = ['nquads'];
export async function openReader(source: Source, _format?: string): Promise<Reader> {
  const kind = dumpKind(source.name ?? basename(source.path), source.mediaType)!;
  return dumpReader(await fileSource(source.path, source.mediaType), kind);
}
