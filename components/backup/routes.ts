/**
 * Back-ups over HTTP, for controllers: POST begins one, GET tells how far it is, its state and its quads are had then, DELETE releases it.
 * The body of the POST names graphs that are left out.
 */
import { createReadStream } from 'node:fs';
import { stat } from 'node:fs/promises';
import type { Platform } from '../../lib/component/contract.js';
import { LwsError } from '../../lib/errors.js';
import { jsonReply, uncached } from '../../lib/http/json-reply.js';
import { type Route, route } from '../../lib/http/route.js';
import { checkedChunks } from '../../lib/resources/body.js';
import type { BackupJob, BackupJobs } from './jobs.js';

export const backupPath = '{prefix}/backups';

export function backupRoutes(
  { baseUri, systemPrefix, rootIri: storage }: Platform,
  jobs: BackupJobs,
): readonly Route[] {
  const urlOf = (id: string): string => `${baseUri}${backupPath.replace('{prefix}', systemPrefix)}/${id}`;
  const found = (parameters: Readonly<Record<string, string>>): BackupJob => {
    const job = jobs.find(parameters['id'] ?? '');
    if (!job) throw new LwsError('not-found', 'There is no such back-up under way.');
    return job;
  };
  return [
    route('controller', `POST ${backupPath}`, async (request) => {
      const job = await jobs.begin(checkedChunks(request.body()));
      if (!job)
        throw new LwsError(
          'conflict',
          'Another back-up is under way. It ends when it is deleted, or after 15 minutes.',
        );
      return jsonReply(201, told(job, storage), { Location: urlOf(job.id) });
    }),
    route('controller', `GET ${backupPath}/:id`, ({ parameters }) => jsonReply(200, told(found(parameters), storage))),
    ...(['state', 'quads'] as const).map((part) =>
      route('controller', `GET ${backupPath}/:id/${part}`, async ({ parameters }) => {
        const { files, state } = found(parameters);
        if (state !== 'ready') throw new LwsError('conflict', 'The state is not written yet.');
        const { size } = await stat(files[part]);
        const fields = { ...uncached, 'Content-Type': 'application/gzip', 'Content-Length': String(size) };
        return { status: 200, fields, body: createReadStream(files[part], { highWaterMark: 1 << 18 }) };
      }),
    ),
    route('controller', `DELETE ${backupPath}/:id`, async ({ parameters }) => {
      found(parameters);
      await jobs.end();
      return { status: 204, fields: uncached };
    }),
  ];
}

const told = ({ id, state, entries, failure }: BackupJob, storage: string): object => ({
  id,
  storage,
  state,
  entries,
  failure,
});
