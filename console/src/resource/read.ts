/** Loads a resource for display. */
import { essenceOf, linkTarget, succeed } from '../storage/api.js';
import { rightsOn } from '../storage/controller.js';

type Kind = 'rdf' | 'json' | 'text' | 'image' | 'pdf' | 'other';

export interface Opened {
  readonly iri: string;
  readonly kind: Kind;
  /** Media type as sent by the server, with parameters. */
  readonly mediaType: string;
  readonly etag: string;
  readonly modified: string | undefined;
  /** Size in bytes, if known. */
  readonly size: number | undefined;
  /** Content of kinds that are edited as text. */
  readonly text?: string;
  /** Content of kinds that are displayed. */
  readonly blob?: Blob;
  /** Reason why the content is not shown. */
  readonly reason?: string;
  readonly linkset: string | undefined;
  readonly acl: string | undefined;
  /** URL of the list of versions, if versions are kept. */
  readonly versions: string | undefined;
  /** True if the user may save a new version. */
  readonly isWritable: boolean;
  readonly canShare: boolean;
}

export const turtleType = 'text/turtle';
/** Accepts Turtle for RDF, and other content as stored. */
const accept = `${turtleType}, */*;q=0.1`;

function kindOf(type: string, isRdf: boolean): Kind {
  if (isRdf || type === turtleType) return 'rdf';
  if (type === 'application/json' || type.endsWith('+json')) return 'json';
  if (type.startsWith('image/')) return 'image';
  if (type === 'application/pdf') return 'pdf';
  if (/^text\/|^application\/(?:xml|javascript|sparql-(?:query|update)|yaml|toml)$|\+xml$/.test(type)) return 'text';
  return 'other';
}

function textOf(bytes: Uint8Array, mediaType: string): { text: string } | { reason: string } {
  const charset = /;\s*charset="?([^";\s]+)/i.exec(mediaType)?.[1]?.toLowerCase() ?? 'utf-8';
  if (!['utf-8', 'utf8', 'us-ascii'].includes(charset))
    return { reason: `The text is encoded as ${charset}. Only UTF-8 can be edited here.` };
  try {
    // Invalid UTF-8 is rejected: saving the decoded text would change it.
    return { text: new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(bytes) };
  } catch {
    return { reason: 'The content is not UTF-8 text.' };
  }
}

/** Reads a resource for display. @throws Refusal */
export async function readResource(iri: string): Promise<Opened> {
  const response = await succeed('GET', iri, { headers: { Accept: accept } });
  const { write = false, share = false } = await rightsOn(iri);
  const mediaType = response.headers.get('Content-Type') ?? 'application/octet-stream';
  const isRdf = /<http:\/\/www\.w3\.org\/ns\/ldp#RDFSource>/.test(response.headers.get('Link') ?? '');
  const type = essenceOf(response);
  const kind = kindOf(type, isRdf);
  const length = response.headers.get('Content-Length');
  const allowed = response.headers.get('Allow');
  const about = {
    iri,
    mediaType,
    etag: response.headers.get('ETag') ?? '',
    modified: response.headers.get('Last-Modified') ?? undefined,
    size: length === null ? undefined : Number(length),
    linkset: linkTarget(response, 'linkset', iri),
    acl: linkTarget(response, 'acl', iri),
    versions: linkTarget(response, 'timemap', iri),
    isWritable: write && (allowed === null || /\bPUT\b/.test(allowed)),
    canShare: share,
  };
  if (kind === 'other') {
    await response.body?.cancel();
    return { ...about, kind };
  }
  const bytes = await takeUpTo(response, downloadLimit);
  if (bytes === undefined) return { ...about, kind: isRdf ? 'rdf' : 'other', reason: 'It is larger than 5 MB.' };
  const known = { ...about, kind, size: bytes.byteLength };
  if (kind === 'image' || kind === 'pdf') return { ...known, blob: new Blob([bytes], { type }) };
  const read = textOf(bytes, mediaType);
  return 'text' in read ? { ...known, text: read.text } : { ...known, kind: 'other', reason: read.reason };
}

/** Maximum size of content that is shown, in bytes. Larger resources are offered as downloads. */
export const downloadLimit = 5_000_000;

/** Reads a complete body, or returns `undefined` if the body exceeds `most` bytes. */
export async function takeUpTo(response: Response, most: number): Promise<Uint8Array<ArrayBuffer> | undefined> {
  if (Number(response.headers.get('Content-Length') ?? 0) > most) {
    await response.body?.cancel();
    return undefined;
  }
  const parts: Uint8Array<ArrayBuffer>[] = [];
  let length = 0;
  for (const reader = response.body?.getReader(); reader; ) {
    const { done, value } = await reader.read();
    if (done) break;
    length += value.byteLength;
    if (length > most) {
      await reader.cancel();
      return undefined;
    }
    parts.push(value);
  }
  return new Uint8Array(await new Blob(parts).arrayBuffer());
}
