/**
 * Documents readable by rdf-parse only: pages with embedded RDF (RDFa, microdata, JSON-LD) and shapes in SHACL compact syntax.
 * This module does not know where they are stored.
 *
 * Some pages of 60 KB keep these parsers busy for minutes without a way to cancel: each document has its own thread, which is
 * terminated at the deadline.
 */
import type { Quad } from '@rdfjs/types';
import { DataFactory } from 'rdf-data-factory';
import type { Document } from '../../../../lib/exchange/format.js';
import { TransferError } from '../../../../lib/exchange/member.js';
import { ThreadEnded } from '../../../../lib/tools/threads/messages.js';
import { Thread } from '../../../../lib/tools/threads/thread.js';
import { threadLimits } from '../../../../lib/tools/threads/thread-limits.js';
import { readQuadLines } from '../../exchange/text-files.js';
import type { ForeignDocumentFunctions } from './foreign-document-worker.js';

const script = new URL('./foreign-document-worker.js', import.meta.url);
/** Memory limit in MiB, and time limit in milliseconds, excluding the loading of the parsers. */
const [memoryMb, usualMs] = [512, 20_000];

/** Thrown if a document cannot be read. The message is for the user, without a full stop. */
export class DocumentFault extends TransferError {}

/** Returns the triples of a document. @param maxMs time limit in milliseconds @param factory makes the terms @throws DocumentFault */
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
    throw new DocumentFault(`Reading it takes ${why}`, { cause });
  } finally {
    // The end of the thread frees the modules and caches that it has loaded.
    await thread.end();
  }
}
