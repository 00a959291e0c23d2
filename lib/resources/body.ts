/**
 * Receiving a body: streamed, measured, hashed and checked, before any lock is taken. RDF and JSON are read whole within a limit; binary
 * bodies go to the blob directory as they come.
 */
import { createHash, type Hash } from 'node:crypto';
import type { EncodedDocument } from '../documents/document-tasks.js';
import { LwsError } from '../errors.js';
import type { DigestAlgorithm } from '../fields/digest.js';
import { isRdfFormat, type RdfFormat } from '../rdf/formats.js';
import type { BlobWriter } from '../storage/blobs/blobs.js';
import type { GraphKeys } from '../storage/keys/graph-keys.js';
import type { ResourceKind } from '../storage/keys/records.js';
import { CommitInDoubtError } from '../storage/level/commit-in-doubt.js';
import { quotaExceeded } from '../storage/level/quota.js';
import type { Storage } from './storage.js';

/** A request's body, as the HTTP floor hands it down. */
export interface RequestBody {
  /** From Content-Length, when the client says it. */
  readonly length: number | undefined;
  /** The media type without parameters, and the whole field. */
  readonly mediaType: string;
  readonly contentType: string;
  /** The digests of Content-Digest that have to hold. */
  readonly digests: ReadonlyMap<DigestAlgorithm, Uint8Array>;
  /** The bytes as they come. Either this or `collect` may be asked for, once. */
  chunks(): AsyncIterable<Uint8Array>;
  /** All bytes. @throws LwsError `too-large` as soon as there are more than `limit` */
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
 * Reads a whole body within a limit, in bytes.
 * @param setting what the limit comes from, for the refusal
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
 * Receives the content of a data resource. The caller commits it or calls `discard`.
 * @param iri what RDF is relative to
 * @param room bytes that the quota leaves for it
 * @throws LwsError `malformed-body` and its kin, `too-large`, `quota-exceeded`, `digest-mismatch`
 */
export async function receiveContent(
  storage: Storage,
  kind: Exclude<ResourceKind, 'container'>,
  body: RequestBody,
  iri: string,
  room: number,
): Promise<Content> {
  if (kind === 'rdf')
    return parseContent(storage, body.mediaType, { bytes: await readRequestBody(storage, body), isTaken: true }, iri);
  if (kind === 'json') {
    const bytes = await readRequestBody(storage, body);
    await storage.documents.checkJson(bytes);
    return storeBytes(storage, bytes, body.contentType, room);
  }
  return receiveBinary(storage, body, room);
}

/** Parses an RDF body. @throws LwsError `unsupported-media-type` when RDF is wanted in a type that is none */
export async function parseContent(
  storage: Storage,
  mediaType: string,
  given: { readonly bytes: Buffer; readonly isTaken?: boolean },
  iri: string,
): Promise<Content> {
  if (!isRdfFormat(mediaType))
    throw new LwsError(
      'unsupported-media-type',
      `An RDF resource cannot be made of ${mediaType}. Send Turtle, JSON-LD, N-Triples, RDF/XML, TriG or N-Quads.`,
    );
  const document = await storage.documents.parseGraph(given, mediaType as RdfFormat, iri);
  return { kind: 'rdf', document };
}

/** Puts a JSON document into a blob. */
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

/** Lets go of content whose commit was refused with `error`; not while it is in doubt whether it was. */
export async function discard(content: Content | undefined, error: unknown): Promise<void> {
  if (content && content.kind !== 'rdf' && !(error instanceof CommitInDoubtError)) await content.blob.abort();
}

/** Bytes of a body that counts as none. */
const longestBlank = 1 << 10;

/**
 * @throws LwsError `body-not-allowed` when there is a body, since a container's representation is its membership; white space is none
 *   under a profile (rule 20.10); `digest-mismatch` when one was announced
 */
export async function assertNoBody({ profile }: Pick<Storage, 'profile'>, body: RequestBody): Promise<void> {
  const refusal = new LwsError('body-not-allowed', 'A container has no content of its own: create it without a body.');
  const most = profile?.takesBlankBodies ? longestBlank : 0;
  if ((body.length ?? 0) > most) throw refusal;
  let left = most;
  await assertDigests(body, (chunk) => {
    left -= chunk.length;
    if (left < 0 || !chunk.every((byte) => byte === 0x20 || (byte >= 0x09 && byte <= 0x0d))) throw refusal;
  });
}

/** Reads a body that nobody wants, for its digests. @throws LwsError `digest-mismatch`, and what `onChunk` throws */
export async function assertDigests(body: RequestBody, onChunk: (chunk: Uint8Array) => void = () => {}): Promise<void> {
  for await (const chunk of checkedChunks(body)) onChunk(chunk);
}

/** The bytes as they come. @throws LwsError `digest-mismatch` behind the last of them */
export async function* checkedChunks(body: RequestBody): AsyncGenerator<Uint8Array> {
  const digests = new DigestCheck(body);
  if (body.length !== 0)
    for await (const chunk of body.chunks()) {
      digests.update(chunk);
      yield chunk;
    }
  digests.assert();
}

/** Bytes that may still be stored, when `replaced` bytes go. */
export const roomFor = (storage: Storage, replaced: number): number =>
  storage.limits.quotaBytes === 0
    ? Number.POSITIVE_INFINITY
    : storage.limits.quotaBytes - (storage.store.bytes - replaced);

/** @param setting what the limit comes from; absent: it is fixed */
export const tooLarge = (limit: number, setting?: string): LwsError =>
  new LwsError(
    'too-large',
    `The body is larger than the ${limit} bytes that are accepted here${setting ? ` (${setting})` : ''}.`,
  );

/** Reads a whole RDF, JSON or patch body. @throws LwsError as `readBody` */
export const readRequestBody = ({ limits }: Storage, body: RequestBody): Promise<Buffer> =>
  readBody(body, limits.requestBytes, 'lws.max-request-bytes');

/** Hashes a body as it comes and compares with what the client announced (RFC 9530 section 2). */
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
        throw new LwsError('digest-mismatch', `The body does not have the ${algorithm} digest of its Content-Digest.`);
  }

  of(algorithm: DigestAlgorithm): Buffer {
    return this.results.get(algorithm)!;
  }
}
