/** Creates tasks for the query threads, with the access rights of the caller. */
import { clientFor } from '../../lib/authorization/client.js';
import type { Mode } from '../../lib/authorization/mode.js';
import { whenGone } from '../../lib/http/request.js';
import type { RouteRequest } from '../../lib/http/route.js';
import type { TextCall } from '../../lib/query/parse/text-patterns.js';
import type { PastFact } from '../../lib/query/past-graphs.js';
import { parentOf } from '../../lib/storage/keys/records.js';
import type { QueryAnswer } from './pool/asked-query.js';
import type { Purpose, QueryTask } from './pool/messages.js';
import type { SparqlEndpoint } from './service-endpoint.js';
import { serviceCalls } from './services/service-calls.js';

/** Client for fair queueing: identified by the subject, or by the address of an anonymous caller. */
export type Asker = Pick<RouteRequest, 'access' | 'address' | 'req'>;

/** Access modes by purpose. The caller needs one mode. */
const modesFor: Readonly<Record<Exclude<Purpose, 'read'>, readonly Mode[]>> = {
  know: ['read', 'write', 'delete'],
  make: ['append'],
};

/** Runs a task, and resolves when its result begins. @throws LwsError as `QueryPool.run` */
export async function runQueryTask(
  { platform, pool, services }: SparqlEndpoint,
  { access, address, req }: Asker,
  task: QueryTask,
): Promise<QueryAnswer> {
  const { authorizer, store } = platform;
  const may = async (purpose: Purpose, given: string): Promise<boolean> => {
    if (purpose === 'read') return authorizer.finds({ view: store, access, iri: given });
    const iri = purpose === 'make' ? parentOf(given) : given;
    for (const mode of modesFor[purpose]) if (await authorizer.allows({ view: store, access, mode, iri })) return true;
    return false;
  };
  const decide = (iris: readonly string[], purpose: Purpose): Promise<boolean[]> =>
    Promise.all(iris.map((iri) => may(purpose, iri)));
  const { client, callerClass } = await clientFor(platform, access, address);
  // Lazy, because short queries do not need it.
  let watch: ReturnType<typeof whenGone> | undefined;
  const gone = (): AbortSignal => {
    watch ??= whenGone(req);
    return watch.signal;
  };
  const job = {
    task,
    client,
    callerClass,
    scope: async () => authorizer.readScope(access),
    gone,
    decide,
    callService: serviceCalls(services),
    admits: (states: readonly PastFact[]) => platform.offered('pastQueries')[0]!.admits(access, states),
    searchTexts: (call: TextCall) => platform.offered('searchTexts')[0]!(access, { ...call, within: task.within }),
  };
  return pool.run(job).finally(() => watch?.release());
}
