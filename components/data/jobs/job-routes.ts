/** Routes of jobs, for controllers: GET reports a job, once or as lines of progress until it ends, and DELETE cancels it. */
import { Readable } from 'node:stream';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Platform } from '../../../lib/component/contract.js';
import { jsonReply, uncached } from '../../../lib/http/json-reply.js';
import type { Reply } from '../../../lib/http/reply.js';
import { type Route, type RouteRequest, route } from '../../../lib/http/route.js';
import { LwsError } from '../../../lib/tools/errors.js';
import type { Job, JobRunner, JobState } from './job-runner.js';

/** Interval of progress lines, in milliseconds. */
const intervalMs = 200;

export interface JobRoutesOptions<S> {
  /** Path of all jobs: `{prefix}/imports`. */
  readonly path: string;
  /** Error message for an unknown id. */
  readonly missing: string;
  /** True if GET can return progress lines (`application/x-ndjson`). */
  readonly hasProgress: boolean;
  /** Returns the report on a job for clients. @param isWhole true to include details, as for a job that has ended */
  readonly report: (state: S, isWhole: boolean) => object;
}

export function jobRoutes<S extends JobState>(
  { baseUri, systemPrefix }: Pick<Platform, 'baseUri' | 'systemPrefix'>,
  jobs: Pick<JobRunner<Job<S>>, 'find' | 'cancel'>,
  { path, missing, hasProgress, report }: JobRoutesOptions<S>,
) {
  /** Returns the job of a request. @throws LwsError `not-found` */
  const find = ({ parameters }: RouteRequest): S => {
    const state = jobs.find(parameters['id'] ?? '');
    if (!state) throw new LwsError('not-found', missing);
    return state;
  };
  async function* lines(first: S): AsyncGenerator<string> {
    for (let state = first; ; state = jobs.find(first.id) ?? { ...state, status: 'failed' }) {
      const isLast = state.status !== 'running';
      yield `${JSON.stringify(report(state, isLast))}\n`;
      if (isLast) return;
      await sleep(intervalMs);
    }
  }
  const progress = (state: S): Reply => ({
    status: 200,
    fields: { ...uncached, 'Content-Type': 'application/x-ndjson' },
    body: Readable.from(lines(state), { objectMode: false }),
  });
  /** Returns the response for a job that was started. */
  const started = (status: 201 | 202, state: S): Reply => {
    const url = `${baseUri}${path.replace('{prefix}', systemPrefix)}/${state.id}`;
    return jsonReply(status, report(state, true), { Location: url });
  };
  const routes: readonly Route[] = [
    route('controller', `GET ${path}/:id`, (request) => {
      const state = find(request);
      const wantsProgress = hasProgress && /\bapplication\/x-ndjson\b/.test(request.req.headers.accept ?? '');
      return wantsProgress ? progress(state) : jsonReply(200, report(state, true));
    }),
    route('controller', `DELETE ${path}/:id`, async (request) => {
      await jobs.cancel(find(request).id);
      return { status: 204, fields: uncached };
    }),
  ];
  return { routes, find, started };
}
