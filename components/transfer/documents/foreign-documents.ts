/**
 * Documents that only rdf-parse reads: pages with RDF in them (RDFa, microdata, JSON-LD) and shapes in SHACL's compact syntax. It must
 * not know where they lie.
 *
 * Some pages of 60 KB keep these parsers busy for minutes, and they give no chance to end them on the way: each document has a thread
 * of its own, which is killed.
 */
import type { Quad } from '@rdfjs/types';
import { DataFactory } from 'rdf-data-factory';
import type { Document } from '../../../lib/exchange/format.js';
import { TransferError } from '../../../lib/exchange/member.js';
import { readQuadLines } from '../../../lib/exchange/text-files.js';
import { ThreadEnded } from '../../../lib/threads/messages.js';
import { Thread } from '../../../lib/threads/thread.js';
import { threadLimits } from '../../../lib/threads/thread-limits.js';
import type { ForeignDocumentFunctions } from './foreign-document-worker.js';

const script = new URL('./foreign-document-worker.js', import.meta.url);
/** MiB of memory, and milliseconds without those that it takes to load the parsers. */
const [memoryMb, usualMs] = [512, 20_000];

/** A document cannot be read. The message is for people, without a full stop. */
export class DocumentFault extends TransferError {}

/**
 * The triples of a document.
 * @param maxMs milliseconds that it may take; @param factory is asked for their terms
 * @throws DocumentFault
 */
export async function documentQuads(
  { maxMs = usualMs, ...document }: Document & { readonly maxMs?: number },
  factory = new DataFactory<Quad>(),
): Promise<{ readonly quads: Quad[]; readonly prefixes: Readonly<Record<string, string>> }> {
  const thread = new Thread<ForeignDocumentFunctions>({ script, limits: threadLimits(memoryMb) });
  const lines: string[] = [];
  const take = (some: readonly string[]): unknown => lines.push(...some);
  try {
    const prefixes = await thread.call('read', document, { take, deadlineMs: maxMs });
    return { quads: readQuadLines(lines.join(''), factory), prefixes };
  } catch (cause) {
    if (!(cause instanceof ThreadEnded)) throw new DocumentFault((cause as Error).message.slice(0, 300), { cause });
    if (cause.why === 'crash') throw cause;
    const why = cause.why === 'memory' ? `more than ${memoryMb} MiB of memory` : `more than ${maxMs / 1000} s`;
    throw new DocumentFault(`It takes ${why} to read it`, { cause });
  } finally {
    // What it has loaded and cached goes with it.
    await thread.end();
  }
}
