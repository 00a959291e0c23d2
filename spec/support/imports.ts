/** Imports and exports over HTTP. */

import { expect } from 'chai';
import { ArchiveWriter } from '../../components/data/transfer/formats/archive-writer.js';
import type { Member } from '../../lib/exchange/member.js';
import type { Sender, StorageUnderTest } from './conformance.js';
import type { Answer } from './http.js';
import { writeAll } from './members.js';
import { memorySink } from './memory-tree.js';
import { until } from './until.js';
import { zipOf } from './zip.js';

export const nquads = 'application/n-quads';

/** State of an import, as reported by the server. */
export interface ReportedImport {
  readonly status: string;
  readonly created: number;
  readonly replaced: number;
  readonly merged: number;
  readonly skipped: number;
  readonly leftOut: number;
  readonly quads: number;
  readonly failure?: string;
  readonly report: readonly { readonly source: string; readonly why: string }[];
  /** Access that its ACLs grant, reported even if they are not imported. */
  readonly access: readonly { readonly source: string; readonly why: string }[];
}

export interface Sent {
  readonly query?: Readonly<Record<string, string>>;
  readonly type?: string;
  readonly sender?: Sender;
}

export function beginImport(
  s: StorageUnderTest,
  content: string | Uint8Array,
  { query = {}, type = nquads, sender }: Sent = {},
): Promise<Answer> {
  const wanted = new URLSearchParams({ into: s.scratch, ...query });
  return s.send('POST', `${s.root}.lws/import?${wanted}`, { 'Content-Type': type }, content, sender);
}

/** Waits for the end of an import and returns its last state. */
export async function importOutcome(s: StorageUnderTest, begun: Answer): Promise<ReportedImport> {
  expect(begun.status, begun.text).to.equal(202);
  const answer = await s.get(begun.headers['location']!, { Accept: 'application/x-ndjson' });
  expect(answer.headers['content-type']).to.equal('application/x-ndjson');
  return JSON.parse(answer.text.trim().split('\n').at(-1)!) as ReportedImport;
}

export const imported = async (
  s: StorageUnderTest,
  content: string | Uint8Array,
  sent?: Sent,
): Promise<ReportedImport> => importOutcome(s, await beginImport(s, content, sent));

/** Starts an export. Retries on 503, because the thread of the previous export may still hold the slot. */
export async function requestExport(s: StorageUnderTest, query: string, sender?: Sender): Promise<Answer> {
  let answer: Answer | undefined;
  await until(async () => {
    answer = await s.send('GET', `${s.root}.lws/export${query}`, {}, undefined, sender);
    return answer.status !== 503;
  });
  return answer!;
}

/** Returns a ZIP archive of a container. */
export async function archiveOf(container: string, members: readonly Member[]): Promise<Buffer> {
  const { sink, files } = memorySink();
  await writeAll(new ArchiveWriter(sink, { storage: container, container, made: '' }), members);
  return zipOf([...files].map(([name, content]) => ({ name, content })));
}
