/**
 * The SPARQL 1.1 Graph Store HTTP Protocol: the RDF resources of the storage by another address, `{prefix}/graphs?graph=IRI`, under the
 * rules of their own (rule 14.10).
 */
import { refusalOfAbsent } from '../authorization/guard.js';
import { LwsError } from '../errors.js';
import { rdfFormats } from '../rdf/formats.js';
import { type RequestBody, readBody } from '../resources/body.js';
import { sparqlUpdate } from '../resources/methods.js';
import { isReserved, readTarget } from '../resources/names.js';
import { patch } from '../resources/patch.js';
import type { Storage } from '../resources/storage.js';
import { assertUnreserved } from '../resources/write.js';
import { isContainerIri } from '../storage/state/records.js';
import type { AppContext } from './app-context.js';
import type { Step } from './exchange.js';
import type { Reply } from './reply.js';
import { requestBody } from './request.js';
import type { ResourceExchange } from './resource-exchange.js';
import { resourceReply, writeOf, written } from './resource-routes.js';
import { exchangeOf } from './resources.js';
import { toldHowToCreate } from './state-fields.js';

const methods = ['GET', 'HEAD', 'PUT', 'POST', 'DELETE', 'OPTIONS'];

export const graphStorePath = '/graphs';

export function graphStore(appContext: AppContext): Step {
  const { rootIri: storage, systemPrefix } = appContext.storage;
  const path = new URL(storage).pathname.slice(0, -1) + systemPrefix + graphStorePath;
  const handle = async (ctx: Parameters<Step>[0]): Promise<void> => {
    const { exchange } = ctx.state;
    exchange.route = 'graphs';
    if (!methods.includes(ctx.req.method ?? ''))
      throw new LwsError('method-not-allowed', 'A graph store has other methods.', {
        fields: { Allow: methods.join(', ') },
      });
    const query = new URL(ctx.req.url ?? '', storage).searchParams;
    // Section 5.5: a graph under a name of the server's choice, which goes where other resources do.
    const isNameless = ctx.req.method === 'POST' && query.size === 0;
    const iri = isNameless ? storage : graphOf(query, storage);
    const asked = { ...exchangeOf(appContext, ctx, { iri, query: undefined }), model: 'rdf' } as const;
    exchange.reply = isNameless ? await resourceReply(asked) : await answer(asked);
  };
  return (ctx, next) => (ctx.state.exchange.path === path ? handle(ctx) : next());
}

/** @throws LwsError `bad-request` for anything but one graph of this storage */
function graphOf(query: URLSearchParams, storage: string): string {
  if (query.has('default'))
    throw new LwsError(
      'bad-request',
      'The default graph is the union of all that you may read: ask for it by SPARQL. Name one graph: ?graph=IRI.',
    );
  const named = query.getAll('graph');
  const iri = named[0] ?? '';
  if (named.length !== 1 || !iri.startsWith(storage) || /[?#]/.test(iri))
    throw new LwsError('bad-request', `Name one graph of this storage: ?graph=${storage}..., percent-encoded.`);
  return readTarget(iri, storage).iri;
}

async function answer(exchange: ResourceExchange): Promise<Reply> {
  const { storage, req, access, target } = exchange;
  const { iri } = target;
  const { method } = req;
  const isContainer = isContainerIri(iri);
  if (method === 'PUT' || method === 'POST') assertUnreserved(storage, iri);
  if (method === 'PUT' && isContainer) throw new LwsError('bad-request', 'No graph has the name of a container.');
  const kind = storage.store.record(iri)?.kind;
  const isNoGraph = isContainer || isReserved(iri, storage.rootIri, storage.systemPrefix);
  if (isNoGraph || (kind !== undefined && kind !== 'rdf' && method !== 'PUT')) {
    const refusal = await refusalOfAbsent(storage, storage.store, access, iri);
    // In the words of an absent graph, to the last field.
    if (/^(?:GET|HEAD|OPTIONS)$/.test(method ?? '')) return toldHowToCreate(exchange, refusal);
    throw refusal;
  }
  const reply = method === 'POST' ? await merge(exchange) : await resourceReply(exchange);
  return { ...reply, fields: { ...reply.fields, 'Content-Location': iri, ...(method === 'OPTIONS' ? allow : {}) } };
}

const allow = { Allow: methods.join(', '), 'Accept-Post': rdfFormats.join(', ') };

/** POST: what is sent is added to the graph, which need not be there (section 5.5). */
async function merge(exchange: ResourceExchange): Promise<Reply> {
  const { storage, req, res, target, idleMs } = exchange;
  const sent = requestBody(req, res, idleMs);
  const format = rdfFormats.find((each) => each === sent.mediaType);
  if (!format)
    throw new LwsError('unsupported-media-type', 'A graph is sent as RDF.', {
      fields: { 'Accept-Post': rdfFormats.join(', ') },
    });
  const { record, created } = await patch(storage, {
    ...writeOf(exchange),
    body: asInsertion(storage, sent, target.iri),
  });
  return written(exchange, record, created);
}

/** The body as an update that inserts it, read when it is wanted: after the caller was found to be allowed to. */
const asInsertion = (storage: Storage, sent: RequestBody, iri: string): RequestBody => ({
  ...sent,
  mediaType: sparqlUpdate,
  contentType: sparqlUpdate,
  digests: new Map(),
  length: undefined,
  async collect(limit) {
    const bytes = await readBody(sent, limit);
    const { keys } = await storage.documents.parse(bytes, sent.mediaType as (typeof rdfFormats)[number], iri);
    const triples = await storage.documents.render(keys, 'application/n-triples', iri, {});
    return Buffer.concat([Buffer.from('INSERT DATA {\n'), triples!, Buffer.from('}')]);
  },
});
