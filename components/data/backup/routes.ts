/** Routes of backups, for controllers. The body of POST is the set of graphs to omit. GET returns the state and the quads. */
import { createReadStream } from 'node:fs';
import { stat } from 'node:fs/promises';
import type { Platform } from '../../../lib/component/contract.js';
import { uncached } from '../../../lib/http/json-reply.js';
import { type Route, route } from '../../../lib/http/route.js';
import { checkedChunks } from '../../../lib/resources/body.js';
import { LwsError } from '../../../lib/tools/errors.js';
import { jobRoutes } from '../jobs/job-routes.js';
import type { BackupJobs, BackupState } from './jobs.js';

const backupPath = '{prefix}/backups';

const stateNames = { running: 'working', done: 'ready', failed: 'failed', interrupted: 'failed' } as const;

/** Report on a backup, for clients. */
export type BackupReport = ReturnType<typeof reportOf>;

const reportOf = ({ id, status, entries, failure }: BackupState, storage: string) => ({
  ...{ id, storage, state: stateNames[status], entries, failure },
});

export function backupRoutes(platform: Platform, jobs: BackupJobs): readonly Route[] {
  const report = (state: BackupState): BackupReport => reportOf(state, platform.rootIri);
  const options = { path: backupPath, missing: 'The backup does not exist or has ended.', hasProgress: false, report };
  const { routes, find, started } = jobRoutes(platform, jobs, options);
  return [
    route('controller', `POST ${backupPath}`, async (request) =>
      started(201, await jobs.begin(checkedChunks(request.body()))),
    ),
    ...(['state', 'quads'] as const).map((part) =>
      route('controller', `GET ${backupPath}/:id/${part}`, async (request) => {
        const { files, status } = find(request);
        if (status !== 'done') throw new LwsError('conflict', 'The state is not written yet.');
        const { size } = await stat(files[part]);
        const fields = { ...uncached, 'Content-Type': 'application/gzip', 'Content-Length': String(size) };
        return { status: 200, fields, body: createReadStream(files[part], { highWaterMark: 1 << 18 }) };
      }),
    ),
    ...routes,
  ];
}
