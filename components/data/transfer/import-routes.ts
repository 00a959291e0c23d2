/** Routes of imports, for controllers: POST of a file starts an import, and POST to an interrupted import resumes it. */
import { requireAccess } from '../../../lib/authorization/guard.js';
import type { Platform } from '../../../lib/component/contract.js';
import { jsonReply } from '../../../lib/http/json-reply.js';
import { type Route, type RouteRequest, route } from '../../../lib/http/route.js';
import { checkedChunks } from '../../../lib/resources/body.js';
import { assertName } from '../../../lib/resources/bulk.js';
import { isContainerIri, parentOf } from '../../../lib/storage/keys/records.js';
import { LwsError } from '../../../lib/tools/errors.js';
import { jobRoutes } from '../jobs/job-routes.js';
import { Formats } from './formats/index.js';
import type { ImportJobs, ImportRequest } from './import-jobs.js';
import { type Conflict, conflicts, type ImportState, readRewrite } from './import-state.js';

const importPath = '{prefix}/import';
const importsPath = '{prefix}/imports';

export function importRoutes(platform: Platform, jobs: ImportJobs): readonly Route[] {
  const missing = 'The import does not exist.';
  const { routes, find, started } = jobRoutes(platform, jobs, {
    path: importsPath,
    missing,
    hasProgress: true,
    report,
  });
  return [
    route('controller', `POST ${importPath}`, async (request) => {
      assertBody(request);
      const body = request.body();
      const { read } = await Formats.of(platform.formats);
      const wanted = importRequest(platform, request, { mediaType: body.mediaType, formats: read });
      await requireAccess(platform, platform.store, request.access, 'append', nearest(platform, wanted.into));
      return started(202, await jobs.begin(wanted, request.access, checkedChunks(body)));
    }),
    route('controller', `GET ${importsPath}`, () =>
      jsonReply(200, { imports: jobs.all().map((state) => report(state, false)) }),
    ),
    route('controller', `POST ${importsPath}/:id`, (request) =>
      started(202, jobs.resume(find(request), request.access)),
    ),
    ...routes,
  ];
}

/** Rejects a request without a body. An empty body with a Content-Type is an empty dump. @throws LwsError `bad-request` */
function assertBody({ req: { headers, httpVersionMajor } }: RouteRequest): void {
  const length = headers['content-length'];
  // In HTTP/2, a request with a body can lack both fields.
  const isAbsent = length === undefined && headers['transfer-encoding'] === undefined && httpVersionMajor < 2;
  if (headers['content-type'] === undefined && (length === '0' || isAbsent))
    throw new LwsError(
      'bad-request',
      'The request has no body. Send the data to import, with its Content-Type, such as application/n-quads.',
    );
}

/** Returns the nearest existing ancestor container. */
function nearest({ store, rootIri: storage }: Platform, into: string): string {
  let at = into;
  while (at !== storage && !store.record(at)) at = parentOf(at);
  return at;
}

/** Parses the parameters of an import request. @throws LwsError `bad-request` */
function importRequest(
  { rootIri: storage, systemPrefix }: Platform,
  { query }: RouteRequest,
  { mediaType, formats }: { readonly mediaType: string; readonly formats: readonly string[] },
): ImportRequest {
  const into = query.get('into') ?? storage;
  if (!into.startsWith(storage) || !isContainerIri(into))
    throw new LwsError(
      'bad-request',
      `"into" must be a container of this storage: an IRI below ${storage} with a trailing slash.`,
    );
  try {
    assertName({ rootIri: storage, systemPrefix }, into);
  } catch (error) {
    if (!(error instanceof LwsError)) throw error;
    throw new LwsError('bad-request', `"into" is not a valid target: ${error.message}`);
  }
  const conflict = query.get('on-conflict') ?? 'fail';
  if (!conflicts.includes(conflict as Conflict))
    throw new LwsError('bad-request', `"on-conflict" must be one of ${conflicts.join(', ')}.`);
  const format = query.get('format');
  if (format !== null && !formats.includes(format))
    throw new LwsError('bad-request', `"format" must be one of ${formats.join(', ')}.`);
  return {
    name: (query.get('name') || 'upload').slice(0, 200),
    into,
    conflict: conflict as Conflict,
    rewrite: query.getAll('rewrite').map(readRewrite),
    dryRun: query.has('dry-run'),
    grants: isAsked(query, 'grants'),
    acls: isAsked(query, 'acls'),
    mediaType,
    ...(format === null ? {} : { format }),
  };
}

/** Returns true if a parameter is `yes`. @throws LwsError `bad-request` if it is neither `yes` nor `no` */
function isAsked(query: URLSearchParams, name: string): boolean {
  const given = query.get(name) ?? 'no';
  if (given !== 'yes' && given !== 'no') throw new LwsError('bad-request', `"${name}" must be yes or no.`);
  return given === 'yes';
}

/** Returns the client's report on an import, without server paths. */
function report(
  { source: _source, cursor: _cursor, blocks: _blocks, told: list, access, ...state }: ImportState,
  whole: boolean,
) {
  return { ...state, began: new Date(state.began).toISOString(), ...(whole ? { report: list, access } : {}) };
}
