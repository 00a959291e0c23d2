/** Resource requests of the tools: the requests that a client would send over HTTP, for the same caller (rule 24.4). */
import type { Readable } from 'node:stream';
import { controls } from '../../lib/authorization/guard.js';
import type { Platform } from '../../lib/component/contract.js';
import type { ToolArguments, ToolCaller } from '../../lib/component/tools.js';
import { lwsJson } from '../../lib/http/negotiate.js';
import type { Reply } from '../../lib/http/reply.js';
import type { Explanation } from '../../lib/resources/explanation.js';
import { explainDecision } from '../../lib/resources/explanation.js';
import { isContainerIri, parentOf } from '../../lib/storage/keys/records.js';
import { LwsError } from '../../lib/tools/errors.js';
import { parseLinks } from '../../lib/tools/fields/link.js';

/** Maximum bytes of content in a result. A model needs about one token for four bytes. */
export const maxShown = 100_000;

/** Returns the IRI in an argument. @throws LwsError `bad-request` if it is outside of the storage */
function iriOf({ baseUri, rootIri }: Platform, given: unknown): string {
  const text = String(given);
  const found = (text.startsWith('/') ? baseUri + text : text).split('#', 1)[0]!;
  if (found.startsWith(rootIri) && !found.includes('?')) return found;
  throw new LwsError(
    'bad-request',
    `The iri must be a path that begins with a slash, or begin with ${rootIri}, without "?".`,
  );
}

/** Listing as JSON (rule 9.1), and the number of the next page, if there is one. */
interface Listed {
  readonly text: string;
  readonly next?: number;
}

/** Returns a page of the listing of a container. @throws LwsError as GET */
export async function listed(
  platform: Platform,
  caller: ToolCaller,
  { container, page = 1 }: { readonly container?: unknown; readonly page?: unknown },
): Promise<Listed> {
  const target = container === undefined ? platform.rootIri : iriOf(platform, container);
  if (!isContainerIri(target))
    throw new LwsError('bad-request', 'A container ends with a slash. Use read for other resources.');
  try {
    const asked = { method: 'GET', target: `${target}?page=${page}`, fields: { accept: lwsJson } };
    const { body, fields } = await platform.request(caller, asked);
    const hasNext = parseLinks(String(fields['Link']))?.some(({ relations }) => relations.includes('next'));
    return { text: String(body), ...(hasNext && { next: Number(page) + 1 }) };
  } catch (error) {
    const found = container === undefined && error instanceof LwsError && (await startingPoints(platform, caller));
    if (found) return found;
    throw error;
  }
}

/** Maximum count of permissions whose targets are returned. */
const maxPoints = 100;

/** Returns the targets of an agent's permissions: an agent without read access to the root starts from these targets. */
async function startingPoints(
  { authorizer, store: view, rootIri }: Platform,
  { access }: ToolCaller,
): Promise<Listed | undefined> {
  const scope = await authorizer.readScope(access);
  if (typeof scope === 'string') return undefined;
  const items: { id: string }[] = [];
  for (const { from: iri } of scope.ranges.slice(0, maxPoints))
    if (view.record(iri) && (await authorizer.allows({ view, access, mode: 'read', iri }))) items.push({ id: iri });
  if (items.length === 0) return undefined;
  return { text: JSON.stringify({ id: rootIri, totalItems: items.length, items }) };
}

interface Shown {
  readonly iri: string;
  readonly mediaType: string;
  readonly tag?: string;
  readonly text?: string;
  readonly note?: string;
}

/** Returns the beginning of a text resource. For other resources, returns media type and size only. @throws LwsError as GET */
export async function fetchResource(platform: Platform, caller: ToolCaller, given: string): Promise<Shown> {
  const target = iriOf(platform, given);
  const accept = isContainerIri(target) ? lwsJson : 'text/turtle, */*;q=0.1';
  const { fields, body } = await platform.request(caller, { method: 'GET', target, fields: { accept } });
  const mediaType = String(fields['Content-Type']);
  const facts = { iri: target, mediaType, ...tagOf(fields) };
  const size = fields['Content-Length'];
  if (!isText.test(mediaType.split(';', 1)[0]!)) {
    if (body && !Buffer.isBuffer(body)) body.destroy();
    return { ...facts, note: `The content is not text${size === undefined ? '' : `: ${size} bytes`}.` };
  }
  const { text, isCut } = await beginningOf(body);
  return {
    ...facts,
    text,
    ...(isCut && { note: `Only the first ${maxShown} bytes are shown. Use sparql for parts of RDF.` }),
  };
}

const isText =
  /^text\/|^application\/(?:sparql-(?:query|update)|n-quads|n-triples|trig|xml|json|javascript|yaml|x-ndjson)$|\+(?:json|xml)$/i;

const tagOf = ({ ETag }: Reply['fields']): { tag?: string } =>
  ETag === undefined ? {} : { tag: String(ETag).replace(/^"|"$/g, '') };

async function beginningOf(body: Buffer | Readable | undefined): Promise<{ text: string; isCut: boolean }> {
  const chunks: Uint8Array[] = [];
  let size = 0;
  // Leaving the loop destroys the stream, so that the rest is not read.
  for await (const chunk of body === undefined || Buffer.isBuffer(body) ? [body ?? Buffer.alloc(0)] : body) {
    chunks.push(chunk);
    size += chunk.length;
    if (size > maxShown) break;
  }
  // Omit a character that is cut in two.
  const text = new TextDecoder().decode(Buffer.concat(chunks).subarray(0, maxShown), { stream: true });
  return { text, isCut: size > maxShown };
}

export async function write(platform: Platform, caller: ToolCaller, given: ToolArguments): Promise<readonly string[]> {
  const { iri: target, content, media_type: type = 'text/turtle', tag: seen } = given;
  const isContainer = isContainerIri(String(target));
  if (isContainer !== (content === undefined))
    throw new LwsError(
      'bad-request',
      isContainer ? 'A container has no content.' : 'The argument content is required.',
    );
  return change(platform, caller, { method: 'PUT', target, content, type, seen });
}

interface Change {
  readonly method: 'PUT' | 'PATCH';
  readonly target: unknown;
  readonly content: unknown;
  readonly type: unknown;
  readonly seen: unknown;
}

/** Sends a write request. @throws LwsError the error of the request */
export async function change(
  platform: Platform,
  caller: ToolCaller,
  { method, target: given, content, type, seen }: Change,
): Promise<readonly string[]> {
  const target = iriOf(platform, given);
  const condition =
    seen === undefined ? { 'if-none-match': '*' } : { 'if-match': `"${String(seen).replaceAll('"', '')}"` };
  const body = content === undefined ? {} : { content: Buffer.from(String(content)) };
  const typed = content === undefined ? condition : { ...condition, 'content-type': String(type) };
  const { status, fields } = await platform
    .request(caller, { method, target, fields: typed, ...body })
    .catch((error: unknown) => {
      const isOutdated = error instanceof LwsError && error.code === 'precondition-failed';
      throw isOutdated ? error.with({ hint: ' Call read, and send the tag that it returns.' }) : error;
    });
  return [JSON.stringify({ iri: target, result: status === 201 ? 'created' : 'changed', ...tagOf(fields) })];
}

const hidden = {
  allowed: false,
  reason: 'The resource does not exist, or you are not allowed to see it. Access can be requested with request_access.',
};

/** Explains an access decision to the caller. Only controllers see the rule. Treats unreadable resources as nonexistent. */
export async function explainForCaller(
  platform: Platform,
  { access }: ToolCaller,
  { iri, method }: ToolArguments,
): Promise<object> {
  const request = { method: String(method), iri: iriOf(platform, iri) };
  const { authorizer, store: view, storage } = platform;
  const canRead = async (iri: string): Promise<boolean> =>
    view.record(iri) !== undefined && authorizer.allows({ view, access, mode: 'read', iri });
  let found = await explainDecision(storage, { ...request, access });
  if (await controls(platform, view, access)) return found;
  // The result of a POST to a data resource would reveal if the resource exists.
  if (request.method === 'POST' && !isContainerIri(request.iri) && !(await canRead(request.iri))) return hidden;
  if (request.method === 'PUT' && !found.allowed && !(await canRead(found.needs.iri))) {
    // A PUT to a nonexistent resource depends on the permissions for its parent.
    found = await explainDecision(storage, { access, method: 'POST', iri: parentOf(request.iri) });
    if (found.allowed) return hidden;
  }
  return shownTo(found, await canRead(found.needs.iri));
}

function shownTo({ allowed, exists, needs }: Explanation, isReadable: boolean): object {
  if (allowed && exists) return { allowed, needs };
  if (!exists || !isReadable) return hidden;
  return { allowed, needs, reason: `You lack ${needs.mode}. Access can be requested with request_access.` };
}
