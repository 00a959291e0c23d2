/**
 * Executes SPARQL Update at the endpoint. A query thread computes the changes on a snapshot. One transaction writes the
 * changes. If a graph has changed in between, the changes are computed again.
 */

import type { Reply } from '../../lib/http/reply.js';
import type { GraphUpdate } from '../../lib/query/change-set.js';
import { turtle } from '../../lib/rdf/formats.js';
import { lws } from '../../lib/rdf/vocabulary.js';
import { type UpdatedGraph, updateGraphs } from '../../lib/resources/update-graphs.js';
import { variantOf } from '../../lib/resources/variants.js';
import { LwsError } from '../../lib/tools/errors.js';
import { formatEntityTag } from '../../lib/tools/fields/etag.js';
import { formatLink } from '../../lib/tools/fields/link.js';
import { parseStates } from '../../lib/tools/fields/states.js';
import type { QueryAnswer } from './pool/asked-query.js';
import type { QueryTask } from './pool/messages.js';
import type { UpdateLine } from './pool/run-update.js';
import type { SparqlRequest } from './protocol/protocol.js';
import { type Asker, runQueryTask } from './run-task.js';
import { type SparqlEndpoint, sparqlUrl } from './service-endpoint.js';

/** Maximum number of graph states in the preconditions of a request. */
const maxStates = 250;

/**
 * Runs an update and writes the result atomically.
 * @throws LwsError if the update or the write of one of its graphs is rejected, `too-busy` if graphs change too often
 */
export async function updateAtEndpoint(endpoint: SparqlEndpoint, asker: Asker, asked: SparqlRequest): Promise<Reply> {
  const { platform } = endpoint;
  const task: QueryTask = {
    ...asked,
    base: sparqlUrl(platform),
    formats: {},
    maxResults: endpoint.maxResults,
    maxBytes: endpoint.maxAnswerBytes,
    allowedServices: [],
    update: { systemPrefix: platform.systemPrefix, defaultGraph: endpoint.defaultGraph },
  };
  const conditions = conditionsOf(asker);
  const compute = async () => updatesOf(await runQueryTask(endpoint, asker, task));
  return reply(endpoint, await updateGraphs(platform.storage, { access: asker.access, compute, conditions }));
}

/** Parses the preconditions of a request. @throws LwsError `bad-request` */
function conditionsOf({ req }: Asker): NonNullable<ReturnType<typeof parseStates>> {
  if (req.headers['if-match'] !== undefined)
    throw new LwsError(
      'bad-request',
      'If-Match applies to one resource. For graphs, send their states as LWS-If-Match: <https://...> "tag".',
    );
  const field = req.headers['lws-if-match'];
  if (field === undefined) return new Map();
  const states = parseStates(String(field), maxStates);
  if (!states)
    throw new LwsError(
      'bad-request',
      `LWS-If-Match must be a list of at most ${maxStates} IRIs, each with an entity tag: <https://...> "tag", <https://...> "tag".`,
    );
  return states;
}

/** Returns the graph updates of the result, parsed line by line. */
async function updatesOf({ body }: QueryAnswer): Promise<readonly GraphUpdate[]> {
  const updates: (Omit<GraphUpdate, 'added' | 'removed'> & { added: string[]; removed: string[] })[] = [];
  const take = (text: string): void => {
    const line = JSON.parse(text) as UpdateLine;
    if ('graph' in line) updates.push({ ...line.graph, added: [], removed: [] });
    else if ('added' in line) updates.at(-1)!.added.push(...line.added);
    else updates.at(-1)!.removed.push(...line.removed);
  };
  let rest = '';
  const decoder = new TextDecoder();
  for await (const chunk of Buffer.isBuffer(body) ? [body] : body) {
    const lines = (rest + decoder.decode(chunk as Buffer, { stream: true })).split('\n');
    rest = lines.pop()!;
    for (const line of lines) take(line);
  }
  return updates;
}

function reply({ platform }: SparqlEndpoint, updated: readonly UpdatedGraph[]): Reply {
  const resources = updated.map(({ iri, status, record }) => ({
    id: iri,
    status,
    ...(record ? { etag: formatEntityTag(`${record.revision}.${variantOf(turtle)}`) } : {}),
  }));
  return {
    status: 200,
    fields: {
      'Content-Type': 'application/json',
      'Cache-Control': 'private, no-store',
      'X-Content-Type-Options': 'nosniff',
      Link: formatLink(platform.rootIri, lws.storage),
    },
    body: Buffer.from(`${JSON.stringify({ resources })}\n`),
  };
}
