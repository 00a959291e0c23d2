/**
 * Receives request bodies before any lock is taken: streams, measures, hashes and checks them. RDF and JSON are buffered up to a
 * limit. Binary bodies are streamed to the blob store.
 */
import { createHash, type Hash } from 'node:crypto';
import type { EncodedDocument, GivenDocument } from '../documents/document-tasks.js';
import { isRdfFormat, type RdfFormat } from '../rdf/formats.js';
import type { BlobWriter } from '../storage/blobs/blobs.js';
import type { GraphKeys } from '../storage/keys/graph-keys.js';
import type { ResourceKind, ResourceRecord } from '../storage/keys/records.js';
import { CommitInDoubtError } from '../storage/level/commit-in-doubt.js';
import { quotaExceeded } from '../storage/level/quota.js';
import { LwsError } from '../tools/errors.js';
import type { DigestAlgorithm } from '../tools/fields/digest.js';
import type { Storage } from './storage.js';

/** Request body, as the HTTP layer passes it. */
export interface RequestBody {
  /** Content-Length in bytes, if present. */
  readonly length: number | undefined;
  /** Media type without parameters, and the complete Content-Type field. */
  readonly mediaType: string;
  readonly contentType: string;
  /** Digests of Content-Digest to verify. */
  readonly digests: ReadonlyMap<DigestAlgorithm, Uint8Array>;
  /** Streams the bytes. Call either this or `collect`, once. */
  chunks(): AsyncIterable<Uint8Array>;
  /** Returns all bytes. @throws LwsError `too-large` as soon as the body exceeds `limit` */
  collect(limit: number, setting?: string): Promise<Buffer>;
}

export type Content =
  | {
      readonly kind: 'rdf';
      readonly document: EncodedDocument<GraphKeys>;
    }
  | {
      readonly kind: 'json' | 'binary';
      readonly blob: BlobWriter;
      readonly size: number;
      readonly sha256: string;
      readonly mediaType: string;
    };

/**
 * Reads a complete body within a limit, in bytes.
 * @param setting name of the setting with the limit, for the error message
 * @throws LwsError `too-large`, `digest-mismatch`
 */
export async function readBody(body: RequestBody, limit: number, setting?: string): Promise<Buffer> {
  if ((body.length ?? 0) > limit) throw tooLarge(limit, setting);
  const bytes = await body.collect(limit, setting);
  if (body.digests.size > 0) {
    const digests = new DigestCheck(body);
    digests.update(bytes);
    digests.assert();
  }
  return bytes;
}

/**
 * Receives the content of a data resource. The caller commits it or calls `discardBody`.
 * @param iri base IRI of RDF
 * @param replaced the resource that gets the content; `undefined` for a new one
 * @throws LwsError `malformed-body` and other parse errors, `too-large`, `quota-exceeded`, `digest-mismatch`
 */
export async function receiveContent(
  storage: Storage,
  kind: Exclude<ResourceKind, 'container'>,
  body: RequestBody,
  iri: string,
  replaced?: ResourceRecord,
): Promise<Content> {
  if (kind === 'rdf') {
    const bytes = await readRequestBody(storage, body);
    return parseContent(storage, body.mediaType, { bytes, isTaken: true, sizeOnly: !replaced }, iri);
  }
  const room = roomFor(storage, replaced?.size ?? 0);
  if (kind === 'json') {
    const bytes = await readRequestBody(storage, body);
    await storage.documents.checkJson(bytes);
    return storeBytes(storage, bytes, body.contentType, room);
  }
  return receiveBinary(storage, body, room);
}

/** Parses an RDF body. @throws LwsError `unsupported-media-type` if RDF is expected and the media type is not an RDF format */
export async function parseContent(
  storage: Storage,
  mediaType: string,
  given: GivenDocument,
  iri: string,
): Promise<Content> {
  if (!isRdfFormat(mediaType))
    throw new LwsError(
      'unsupported-media-type',
      `Media type ${mediaType} is not an RDF format. Send Turtle, JSON-LD, N-Triples, RDF/XML, TriG or N-Quads.`,
    );
  const document = await storage.documents.parseGraph(given, mediaType as RdfFormat, iri);
  return { kind: 'rdf', document };
}

/** Writes a JSON document to a blob. */
export async function storeBytes(
  storage: Storage,
  bytes: Uint8Array,
  mediaType: string,
  room: number,
): Promise<Content> {
  if (bytes.length > room) throw quotaExceeded();
  const blob = await storage.store.blobs.create();
  try {
    await blob.write(bytes);
    await blob.finish();
  } catch (error) {
    await blob.abort();
    throw error;
  }
  const sha256 = createHash('sha256').update(bytes).digest('base64');
  return { kind: 'json', blob, size: bytes.length, sha256, mediaType };
}

async function receiveBinary(storage: Storage, body: RequestBody, room: number): Promise<Content> {
  const most = storage.limits.binaryBytes || Number.POSITIVE_INFINITY;
  const check = (size: number): void => {
    if (size > most) throw tooLarge(most, 'lws.max-binary-bytes');
    if (size > room) throw quotaExceeded();
  };
  check(body.length ?? 0);
  const blob = await storage.store.blobs.create();
  const digests = new DigestCheck(body, 'sha-256');
  let size = 0;
  try {
    for await (const chunk of body.chunks()) {
      size += chunk.length;
      check(size);
      digests.update(chunk);
      await blob.write(chunk);
    }
    digests.assert();
    await blob.finish();
  } catch (error) {
    await blob.abort();
    throw error;
  }
  return { kind: 'binary', blob, size, sha256: digests.of('sha-256').toString('base64'), mediaType: body.contentType };
}

/** Discards content after its commit failed with `error`, unless the outcome of the commit is unknown. */
export async function discardBody(content: Content | undefined, error: unknown): Promise<void> {
  if (content && content.kind !== 'rdf' && !(error instanceof CommitInDoubtError)) await content.blob.abort();
}

/** Maximum size of a body of white space that is treated as empty, in bytes. */
const longestBlank = 1 << 10;

/**
 * Asserts that a container is created without a body, because the representation of a container is its membership. A profile
 * allows white space (rule 20.10).
 * @throws LwsError `body-not-allowed`; `digest-mismatch` if the request has a digest of other bytes
 */
export async function assertNoBody({ profile }: Pick<Storage, 'profile'>, body: RequestBody): Promise<void> {
  const refusal = new LwsError('body-not-allowed', 'A container has no content of its own. Create it without a body.');
  const most = profile?.takesBlankBodies ? longestBlank : 0;
  if ((body.length ?? 0) > most) throw refusal;
  let left = most;
  await assertDigests(body, (chunk) => {
    left -= chunk.length;
    if (left < 0 || !chunk.every((byte) => byte === 0x20 || (byte >= 0x09 && byte <= 0x0d))) throw refusal;
  });
}

/** Reads and discards a body to verify its digests. @throws LwsError `digest-mismatch`, and errors of `onChunk` */
export async function assertDigests(body: RequestBody, onChunk: (chunk: Uint8Array) => void = () => {}): Promise<void> {
  for await (const chunk of checkedChunks(body)) onChunk(chunk);
}

/** Yields the bytes of a body. @throws LwsError `digest-mismatch` after the last chunk */
export async function* checkedChunks(body: RequestBody): AsyncGenerator<Uint8Array> {
  const digests = new DigestCheck(body);
  if (body.length !== 0)
    for await (const chunk of body.chunks()) {
      digests.update(chunk);
      yield chunk;
    }
  digests.assert();
}

/** Returns the remaining bytes of the quota if `replaced` bytes of an existing resource are freed. */
export const roomFor = (storage: Storage, replaced: number): number =>
  storage.limits.quotaBytes === 0
    ? Number.POSITIVE_INFINITY
    : storage.limits.quotaBytes - (storage.store.bytes - replaced);

/** Returns the error for too large a body. @param setting name of the setting with the limit, absent if the limit is fixed */
export const tooLarge = (limit: number, setting?: string): LwsError =>
  new LwsError('too-large', `The body exceeds the limit of ${limit} bytes${setting ? ` (${setting})` : ''}.`);

/** Reads a whole RDF, JSON or patch body. @throws LwsError as `readBody` */
export const readRequestBody = ({ limits }: Storage, body: RequestBody): Promise<Buffer> =>
  readBody(body, limits.requestBytes, 'lws.max-request-bytes');

/** Hashes a body while it is read and compares the digests with the announced digests (RFC 9530 section 2). */
class DigestCheck {
  private readonly hashes = new Map<DigestAlgorithm, Hash>();
  private readonly results = new Map<DigestAlgorithm, Buffer>();

  constructor(
    private readonly body: RequestBody,
    ...always: DigestAlgorithm[]
  ) {
    for (const algorithm of [...always, ...body.digests.keys()])
      this.hashes.set(algorithm, createHash(algorithm.replace('-', '')));
  }

  update(chunk: Uint8Array): void {
    for (const hash of this.hashes.values()) hash.update(chunk);
  }

  assert(): void {
    for (const [algorithm, hash] of this.hashes) this.results.set(algorithm, hash.digest());
    for (const [algorithm, expected] of this.body.digests)
      if (!this.of(algorithm).equals(expected))
        throw new LwsError('digest-mismatch', `The ${algorithm} digest of the body does not match Content-Digest.`);
  }

  of(algorithm: DigestAlgorithm): Buffer {
    return this.results.get(algorithm)!;
  }
}
