import { LwsError } from '../../../lib/errors.js';
import type { Reader } from '../member.js';
import { fileSource } from './byte-source.js';
import { dumpKind, dumpReader } from './dump-reader.js';
export async function openReader(
  source: string,
  o: { format?: string | undefined; mediaType?: string | undefined },
): Promise<Reader> {
  const kind = dumpKind(source, o.mediaType ?? 'application/n-quads')!;
  return dumpReader(await fileSource(source, o.mediaType), kind);
}
export function assertFormat(format: string): void {
  if (!['nquads'].includes(format)) throw new LwsError('bad-request', 'no such format');
}
