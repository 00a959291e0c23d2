/** Storage description: a controlled identifier document (rule 12.1), assembled from the advertisements of the components. */
import { createHash } from 'node:crypto';
import type { IncomingMessage } from 'node:http';
import { cidContext, lwsContext } from '../rdf/contexts.js';
import { isRdfFormat, jsonLd, type RdfFormat, rdfFormats } from '../rdf/formats.js';
import { ldp, lws } from '../rdf/vocabulary.js';
import { jsonPatch, linksetJson, mergePatch, rdfPatches } from '../resources/methods.js';
import { aclOf, linksetOf } from '../resources/names.js';
import { isNotModified, undated } from '../resources/preconditions.js';
import type { Storage } from '../resources/storage.js';
import { variantOf } from '../resources/variants.js';
import { chooseMediaType } from '../tools/fields/accept.js';
import { formatEntityTag } from '../tools/fields/etag.js';
import { formatLink } from '../tools/fields/link.js';
import { type CatalogTexts, catalogNode, catalogPath } from './catalog.js';
import { addedLinks } from './links.js';
import { acceptedRanges, lwsCid } from './negotiate.js';
import type { Reply } from './reply.js';
import { preconditions } from './request.js';

/** Entry of `service`: type, endpoint and other members. */
export interface ServiceEntry {
  readonly type: string;
  readonly serviceEndpoint: string;
  readonly [member: string]: unknown;
}

export interface CapabilityEntry {
  readonly type: string;
  readonly [member: string]: unknown;
}

/** Public key of the storage, with which clients verify its signatures. */
export interface VerificationMethod {
  readonly id: string;
  readonly type: 'JsonWebKey';
  readonly controller: string;
  readonly publicKeyJwk: Readonly<Record<string, string>>;
}

export interface Advertised {
  readonly services: readonly ServiceEntry[];
  readonly capabilities: readonly CapabilityEntry[];
  readonly verificationMethods: readonly VerificationMethod[];
  /** Texts of the catalog. Absent: the storage has no catalog. */
  readonly catalog?: CatalogTexts | undefined;
}

/** Document and its entity tag. Created once, because it changes only with the configuration. */
export interface StorageDescription {
  readonly bytes: Buffer;
  readonly tag: string;
  /** RDF representations, created on demand. */
  readonly renderings: Map<RdfFormat, Promise<Buffer>>;
  /** Catalog contained in the document, as a separate document. */
  readonly catalog?: StorageDescription | undefined;
}

/** Returns the capabilities of the layers (rule 12.3). */
const ownCapabilities = (patches: readonly string[]): readonly CapabilityEntry[] => [
  { type: 'https://w3c.github.io/lws-protocol/lws10-core/' },
  {
    type: `${lws.namespace}PatchSupport`,
    format: {
      ...Object.fromEntries(rdfFormats.map((format) => [format, patches])),
      'application/json': [mergePatch, jsonPatch],
      [linksetJson]: [mergePatch, jsonPatch],
    },
  },
  ...rdfFormats.map((source) => ({
    type: `${lws.namespace}ContentNegotiation`,
    source,
    target: rdfFormats.filter((target) => target !== source),
  })),
  { type: 'https://www.rfc-editor.org/info/rfc9530', algorithm: ['sha-256', 'sha-512'] },
];

export function describeStorage(
  storage: Pick<Storage, 'rootIri' | 'systemPrefix' | 'profile'>,
  { services, capabilities, verificationMethods, catalog: texts }: Advertised,
): StorageDescription {
  const { rootIri: root, systemPrefix } = storage;
  const node = texts && catalogNode({ root, at: `${root.slice(0, -1)}${systemPrefix}${catalogPath}` }, services, texts);
  const document = {
    '@context': [cidContext, lwsContext],
    id: storage.rootIri,
    type: 'Storage',
    verificationMethod: verificationMethods,
    authentication: verificationMethods.map(({ id }) => id),
    capability: [...ownCapabilities(rdfPatches(storage)), ...capabilities],
    service: [{ type: 'StorageRoot', serviceEndpoint: storage.rootIri }, ...services],
    ...(node ? { '@included': [node] } : {}),
  };
  return { ...documentOf(document), catalog: node && documentOf(node) };
}

function documentOf(content: object): StorageDescription {
  const bytes = Buffer.from(JSON.stringify(content));
  const tag = createHash('sha256').update(bytes).digest('base64url').slice(0, 16);
  return { bytes, tag, renderings: new Map() };
}

const prefixes = {
  ...{ dcat: 'http://www.w3.org/ns/dcat#', dct: 'http://purl.org/dc/terms/', foaf: 'http://xmlns.com/foaf/0.1/' },
  lws: lws.namespace,
  did: 'https://www.w3.org/ns/did#',
  sec: 'https://w3id.org/security#',
};

async function render(
  { documents, rootIri: storage, systemPrefix }: Storage,
  { bytes }: StorageDescription,
  format: RdfFormat,
): Promise<Buffer> {
  const { keys } = await documents.parse(bytes, jsonLd, storage);
  // The document's own URL is the base of relative IRIs. The document at the root is JSON for all clients.
  const place = `${storage.slice(0, -1)}${systemPrefix}/storage-description`;
  const rendered = await documents.render(keys, format, place, prefixes);
  if (!rendered) throw new Error(`The storage description cannot be written as ${format}.`);
  return Buffer.from(rendered.buffer, rendered.byteOffset, rendered.byteLength);
}

/** Returns the document in a media type. All JSON types have the same bytes. */
function bytesOf(storage: Storage, description: StorageDescription, mediaType: string): Promise<Buffer> | Buffer {
  if (!isRdfFormat(mediaType) || mediaType === jsonLd) return description.bytes;
  let rendering = description.renderings.get(mediaType);
  if (!rendering) {
    rendering = render(storage, description, mediaType);
    description.renderings.set(mediaType, rendering);
    rendering.catch(() => description.renderings.delete(mediaType));
  }
  return rendering;
}

const offered = [lwsCid, jsonLd, 'application/json', ...rdfFormats.filter((format) => format !== jsonLd)];

/** Returns the media type of the description for a request, or `application/lws+cid` if nothing matches. */
export function chooseDescriptionType(accept: string | undefined): string {
  const ranges = accept === undefined ? undefined : acceptedRanges(accept);
  return (ranges && chooseMediaType(ranges, offered)) ?? lwsCid;
}

/** Returns the RDF syntax of the catalog for a request, or Turtle if nothing matches. */
export function chooseCatalog(accept: string | undefined): RdfFormat {
  const ranges = accept === undefined ? undefined : acceptedRanges(accept);
  return ((ranges && chooseMediaType(ranges, rdfFormats)) ?? rdfFormats[0]!) as RdfFormat;
}

/** Returns the response with the description, which is public. */
export async function descriptionReply(
  req: IncomingMessage,
  storage: Storage,
  description: StorageDescription,
  mediaType: string = lwsCid,
): Promise<Reply> {
  const variant = isRdfFormat(mediaType) ? variantOf(mediaType) : 'json';
  // The entity tag must differ from the tag of the root container, which has the same URL.
  const opaque = `description.${description.tag}${mediaType === lwsCid ? '' : `.${variant}`}`;
  const fields = {
    'Content-Type': mediaType,
    ETag: formatEntityTag(opaque),
    Vary: 'Accept',
    'Cache-Control': 'public, no-cache',
    Link: links(storage),
  };
  if (isNotModified({ ifNoneMatch: preconditions(req).ifNoneMatch }, opaque, undated))
    return { status: 304, fields, isCodable: true };
  return { status: 200, fields, body: await bytesOf(storage, description, mediaType), isCodable: true };
}

function links(whole: Storage): string {
  const { rootIri: storage, acls, profile } = whole;
  return [
    formatLink(ldp.Resource, 'type'),
    formatLink(ldp.BasicContainer, 'type'),
    formatLink(lws.Container, 'type'),
    formatLink(storage, lws.storage),
    formatLink(linksetOf(storage), 'linkset', { type: linksetJson }),
    ...(acls ? [formatLink(aclOf(storage), 'acl')] : []),
    ...(profile ? addedLinks(storage, whole) : []),
  ].join(', ');
}
