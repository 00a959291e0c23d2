/** Answers of reads of RDF resources: the rendered graph, or a stream of a large one. */
import type { IncomingMessage } from 'node:http';
import type { DigestAlgorithm } from '../fields/digest.js';
import { formatEntityTag } from '../fields/etag.js';
import { type RdfFormat, rdfXml } from '../rdf/formats.js';
import { hasLines, LargeGraph, lengthOf } from '../resources/large-graph.js';
import { isNotModified } from '../resources/preconditions.js';
import { rdfRepresentation } from '../resources/read.js';
import type { Representation } from '../resources/representations.js';
import type { Storage } from '../resources/storage.js';
import { variantOf } from '../resources/variants.js';
import { isLargeGraph } from '../storage/graphs/graph-lines.js';
import type { ResourceRecord } from '../storage/state/records.js';
import { digestFields, wantedDigests } from './digests.js';
import { chooseFormatButXml, chooseRdfFormat } from './negotiate.js';
import type { Reply } from './reply.js';
import { preconditions } from './request.js';
import { isConditional, keptReplies, notModified, recordFields, revalidate } from './state-fields.js';

/** The answer of a read of an RDF resource. `undefined` when it changed so that it has to be looked at again. */
export function representRdf(
  storage: Storage,
  req: IncomingMessage,
  record: ResourceRecord,
): Reply | undefined | Promise<Reply | undefined> {
  const format = chooseRdfFormat(req.headers.accept);
  // RDF/XML may have no way to write it, or only one that takes the whole of it.
  const fallback = format === rdfXml ? chooseFormatButXml(req.headers.accept) : format;
  const found = hasLines(format, record) ? undefined : rdfRepresentation(storage, record, { format, fallback });
  const replyOf = (representation: Representation | undefined) =>
    graphReply({ storage, req, record, format: fallback }, representation);
  return found instanceof Promise ? found.then(replyOf) : replyOf(found);
}

interface AskedGraph {
  readonly storage: Storage;
  readonly req: IncomingMessage;
  readonly record: ResourceRecord;
  readonly format: RdfFormat;
}

function graphReply(
  asked: AskedGraph,
  representation: Representation | undefined,
): Reply | undefined | Promise<Reply | undefined> {
  const { storage, req, record } = asked;
  if (!representation) return isLargeGraph(record.triples ?? 0) ? representLines(asked) : undefined;
  const current = representation.revision === record.revision ? record : (storage.store.record(record.iri) ?? record);
  const { whole, unchanged } = keptReplies(representation, representation.mediaType, () =>
    graphFields(storage, current, representation),
  );
  if (!isConditional(req)) return whole;
  // Most caches send the one tag that they were given.
  const isSame = req.headers['if-none-match'] === whole.fields['ETag'];
  return isSame || isNotModified(preconditions(req), representation.tag, current) ? unchanged : whole;
}

const graphFields = (
  storage: Storage,
  record: ResourceRecord,
  { mediaType, tag }: Pick<Representation, 'mediaType' | 'tag'>,
): Record<string, string> => ({
  ...recordFields(storage, record),
  'Content-Type': mediaType,
  Vary: 'Accept',
  'Cache-Control': revalidate,
  ETag: formatEntityTag(tag),
});

/** A large graph as a stream of lines. `undefined` when it is not large any more. */
async function representLines({ storage, req, record, format }: AskedGraph): Promise<Reply | undefined> {
  const tag = `${record.revision}.${variantOf(format)}`;
  const fields = lineFields(storage, record, format);
  if (isConditional(req) && isNotModified(preconditions(req), tag, record)) return notModified(fields);
  const wanted = wantedDigests(req, true);
  const isHead = req.method === 'HEAD' && lengthOf(format, record) !== undefined;
  if (isHead && !wanted.repr && !wanted.content) return { status: 200, fields };
  const graph = await LargeGraph.open(storage, record.iri, format);
  if (!graph) return undefined;
  try {
    const own = lineFields(storage, graph.record, format);
    const digests = new Map<DigestAlgorithm, Buffer>();
    for (const algorithm of Object.values(wanted))
      if (algorithm && !digests.has(algorithm)) digests.set(algorithm, await graph.digest(algorithm));
    Object.assign(
      own,
      digestFields(wanted, (algorithm) => digests.get(algorithm)!),
    );
    // What has no length yet is begun for HEAD too, and not taken.
    if (!isHead) return { status: 200, fields: own, body: graph.stream() };
    await graph.close();
    return { status: 200, fields: own };
  } catch (error) {
    await graph.close();
    throw error;
  }
}

function lineFields(storage: Storage, record: ResourceRecord, format: RdfFormat): Record<string, string> {
  const tag = `${record.revision}.${variantOf(format)}`;
  const length = lengthOf(format, record);
  const fields = graphFields(storage, record, { mediaType: format, tag });
  return length === undefined ? fields : { ...fields, 'Content-Length': String(length) };
}
