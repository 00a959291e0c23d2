/** SPARQL 1.1 Graph Store HTTP Protocol: RDF resources at `{prefix}/graphs?graph=IRI`, with their usual rules (rule 14.10). */
import { refusalOfAbsent } from '../authorization/guard.js';
import { isRdfFormat, type RdfFormat, rdfFormats } from '../rdf/formats.js';
import { type RequestBody, readBody } from '../resources/body.js';
import { freeName } from '../resources/create.js';
import { sparqlUpdate } from '../resources/methods.js';
import { candidateNames, isReserved, readTarget } from '../resources/names.js';
import { patch } from '../resources/patch.js';
import type { Storage } from '../resources/storage.js';
import { assertUnreserved } from '../resources/write.js';
import { sortKeys } from '../storage/keys/key-order.js';
import { isContainerIri } from '../storage/keys/records.js';
import { LwsError } from '../tools/errors.js';
import { parseMediaType } from '../tools/fields/media-type.js';
import type { AppContext } from './app-context.js';
import type { Step } from './exchange.js';
import { multipartParts } from './multipart.js';
import type { Reply } from './reply.js';
import type { ResourceExchange } from './resource-exchange.js';
import { resourceReply, writeOf, written } from './resource-routes.js';
import { exchangeOf } from './resources.js';
import { creationHints } from './state-fields.js';

const methods = ['GET', 'HEAD', 'PUT', 'POST', 'DELETE', 'OPTIONS'];

export const graphStorePath = '/graphs';

export function graphStore(appContext: AppContext): Step {
  const { rootIri: storage, systemPrefix } = appContext.storage;
  const path = new URL(storage).pathname.slice(0, -1) + systemPrefix + graphStorePath;
  const handle = async (ctx: Parameters<Step>[0]): Promise<void> => {
    const { exchange } = ctx.state;
    exchange.route = 'graphs';
    if (!methods.includes(ctx.req.method ?? ''))
      throw new LwsError(
        'method-not-allowed',
        'This method is not allowed on the graph store. Allowed: GET, HEAD, PUT, POST, DELETE.',
        {
          fields: { Allow: methods.join(', ') },
        },
      );
    const query = new URL(ctx.req.url ?? '', storage).searchParams;
    // Section 5.5: for a POST without parameters, the server chooses the name of the graph.
    const isNameless = ctx.req.method === 'POST' && query.size === 0;
    const isForm = isNameless && parseMediaType(ctx.req.headers['content-type'] ?? '')?.essence === formData;
    // Several documents are added to one graph, so its name is chosen before they are read.
    const unnamed = isForm ? freeName(appContext.storage, storage, candidateNames(undefined, false)) : storage;
    const iri = isNameless ? unnamed : graphOf(query, storage, appContext.resourceQuery?.defaultGraph);
    const asked = { ...exchangeOf(appContext, ctx, { iri, query: undefined }), model: 'rdf' } as const;
    exchange.reply = isForm ? await merge(asked) : isNameless ? await resourceReply(asked) : await answer(asked);
  };
  return (ctx, next) => (ctx.state.exchange.path === path ? handle(ctx) : next());
}

/** Returns the IRI of the named graph. @throws LwsError `bad-request` unless exactly one graph of this storage is named */
function graphOf(query: URLSearchParams, storage: string, defaultGraph: string | undefined): string {
  if (query.has('default') && !query.has('graph') && defaultGraph !== undefined) return defaultGraph;
  if (query.has('default'))
    throw new LwsError(
      'bad-request',
      'The default graph is the union of all graphs that you may read. Query it by SPARQL, or name one graph: ?graph=IRI.',
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
  if (method === 'PUT' && isContainer)
    throw new LwsError('bad-request', 'Containers have no named graph. Use the IRI of an RDF resource.');
  const kind = storage.store.record(iri)?.kind;
  const isNoGraph = isContainer || isReserved(iri, storage.rootIri, storage.systemPrefix);
  if (isNoGraph || (kind !== undefined && kind !== 'rdf' && method !== 'PUT')) {
    const refusal = await refusalOfAbsent(storage, storage.store, access, iri);
    // The response has the same fields as for a nonexistent graph.
    if (/^(?:GET|HEAD|OPTIONS)$/.test(method ?? '')) return creationHints(exchange, refusal);
    throw refusal;
  }
  const reply = method === 'POST' ? await merge(exchange) : await resourceReply(exchange);
  return { ...reply, fields: { ...reply.fields, 'Content-Location': iri, ...(method === 'OPTIONS' ? allow : {}) } };
}

const formData = 'multipart/form-data';
const acceptPost = { 'Accept-Post': [...rdfFormats, formData].join(', ') };
const allow = { Allow: methods.join(', '), ...acceptPost };

/** Handles POST: adds the body to the graph, and creates the graph if necessary (section 5.5). */
async function merge(exchange: ResourceExchange): Promise<Reply> {
  const { storage, target } = exchange;
  const sent = exchange.body();
  if (sent.mediaType !== formData) assertRdf(sent.mediaType);
  const { record, created } = await patch(storage, {
    ...writeOf(exchange),
    body: asInsertion(storage, sent, target.iri),
  });
  return written(exchange, record, created);
}

/** @throws LwsError `unsupported-media-type` if the type is not RDF, `malformed-body` for a part without a type */
function assertRdf(mediaType: string | undefined): asserts mediaType is RdfFormat {
  if (mediaType === undefined) throw new LwsError('malformed-body', 'A part of the body has no Content-Type.');
  if (!isRdfFormat(mediaType))
    throw new LwsError('unsupported-media-type', `Send the graph as RDF, not as ${mediaType}.`, {
      fields: acceptPost,
    });
}

/** Returns an update that inserts the body. The body is read after authorization. */
const asInsertion = (storage: Storage, sent: RequestBody, iri: string): RequestBody => ({
  ...sent,
  mediaType: sparqlUpdate,
  contentType: sparqlUpdate,
  digests: new Map(),
  length: undefined,
  async collect(limit) {
    const bytes = await readBody(sent, limit);
    const parts = sent.mediaType === formData ? multipartParts(bytes, sent.contentType) : [{ ...sent, bytes }];
    const keys = new Set<string>();
    // Section 5.5: each part is a document with separate blank nodes.
    for (const { mediaType, bytes } of parts) {
      assertRdf(mediaType);
      const parsed = await storage.documents.parse(bytes, mediaType, iri);
      for (const key of parsed.keys) keys.add(key);
    }
    const sorted = parts.length === 1 ? [...keys] : sortKeys([...keys]);
    const triples = await storage.documents.render(sorted, 'application/n-triples', iri, {});
    return Buffer.concat([Buffer.from('INSERT DATA {\n'), triples!, Buffer.from('}')]);
  },
});
