/** Handles requests for earlier states of data resources (RFC 7089, pattern 1.2). */

import { attribute } from '../../lib/authorization/audit.js';
import { type Client, clientFor } from '../../lib/authorization/client.js';
import { controls, notFound, requireAccess } from '../../lib/authorization/guard.js';
import type { Access } from '../../lib/authorization/principal.js';
import type { Platform } from '../../lib/component/contract.js';
import { uncached } from '../../lib/http/json-reply.js';
import { signpostLinks } from '../../lib/http/links.js';
import { readLinksetState } from '../../lib/http/linkset-routes.js';
import type { Reply } from '../../lib/http/reply.js';
import { representData } from '../../lib/http/represent.js';
import { type EarlierStates, preconditionsOf, type ResourceExchange } from '../../lib/http/resource-exchange.js';
import { documentLinks, resourceLinks, revalidate } from '../../lib/http/state-fields.js';
import type { RdfFormat } from '../../lib/rdf/formats.js';
import type { ClientLinks } from '../../lib/resources/linkset.js';
import { linksetState } from '../../lib/resources/linkset-write.js';
import { linksetOf } from '../../lib/resources/names.js';
import { assertPreconditions, isNotModified } from '../../lib/resources/preconditions.js';
import type { Representations } from '../../lib/resources/representations.js';
import type { Storage } from '../../lib/resources/storage.js';
import { variantOf } from '../../lib/resources/variants.js';
import { isContainerIri, type ResourceRecord } from '../../lib/storage/keys/records.js';
import type { Transaction } from '../../lib/storage/transactions/transaction.js';
import { LwsError, tooBusy } from '../../lib/tools/errors.js';
import { chooseMediaType, parseAccept } from '../../lib/tools/fields/accept.js';
import { formatHttpDate, parseHttpDate } from '../../lib/tools/fields/date.js';
import { formatLink } from '../../lib/tools/fields/link.js';
import { msOfPosition, noLinks, positionOf } from './entries.js';
import { erase, eraseAll } from './erasure.js';
import { History, type HistoryState, isIn } from './history.js';
import { openPast, pastKeys } from './past-graph.js';
import { pastLinks } from './past-links.js';
import { CallerReach, everything, type Reach } from './permissions.js';
import type { Switches } from './switches.js';

/** Maximum number of states on a page of a time map, and of attempts to read the present state. */
const [pageLength, maxAttempts] = [200, 5];

const linkFormat = 'application/link-format';

/** Target of a request. A position that is not a number becomes -1, which no version has. */
type Asked = { readonly version: number } | { readonly listBefore: number } | { readonly date: string };

export interface Answering {
  readonly platform: Platform;
  readonly switches: Switches;
  /** False if only controllers can read earlier states (`areDatesWhole` of `permissions`). */
  readonly areDatesWhole: boolean;
}

export function earlierStates(answering: Answering): EarlierStates {
  const { switches } = answering;
  return {
    isUsed: (iri) => (iri === undefined ? switches.isUsed() : switches.isKept(iri)),
    reply(exchange, described) {
      if (!switches.isUsed()) return undefined;
      const url = exchange.target.iri;
      const context = Object.assign({ exchange, url, iri: described ?? url }, answering);
      const asked = askedOf(context);
      return asked && replyTo(context, asked);
    },
  };
}

/** Returns the links of a resource to its versions (RFC 7089 2.2.2). */
export const versionLinks = (iri: string): string[] => [
  formatLink(iri, 'original timegate'),
  formatLink(`${iri}?versions`, 'timemap', { type: linkFormat }),
];

interface Context extends Answering {
  readonly exchange: ResourceExchange;
  readonly iri: string;
  /** URL of the resource, or of its linkset, whose states are those of the resource. */
  readonly url: string;
}

const isRead = ({ req: { method } }: ResourceExchange): boolean => method === 'GET' || method === 'HEAD';
const positionIn = (text: string | null): number => (text && /^\d{1,16}$/.test(text) ? Number(text) : -1);

function askedOf(context: Context): Asked | undefined {
  const { exchange, switches, iri } = context;
  const { target, req } = exchange;
  if (isContainerIri(iri)) return undefined;
  const query = target.query === undefined ? undefined : new URLSearchParams(target.query);
  if (query?.has('version') && isVersion(context, query.get('version')!))
    return { version: positionIn(query.get('version')) };
  if (query?.has('versions')) {
    const before = query.get('versions');
    return { listBefore: before === '' ? Number.MAX_SAFE_INTEGER - 1 : positionIn(before) };
  }
  const date = req.headers['accept-datetime'];
  const isDated = date !== undefined && isRead(exchange) && switches.isKept(iri);
  return isDated ? { date: String(date) } : undefined;
}

/**
 * Returns false for a read of a resource without versions, if the value is no position: sites add such values to bypass caches.
 */
const isVersion = ({ exchange, switches, platform, iri }: Context, value: string): boolean =>
  !isRead(exchange) || /^\d{14,16}$/.test(value) || switches.isKept(iri) || !platform.store.record(iri);

/** Returns the position at the end of a date's second. @throws LwsError `bad-request` for a malformed date */
export function positionAt(date: string): number {
  const time = parseHttpDate(date);
  if (time === undefined)
    throw new LwsError('bad-request', 'Accept-Datetime is not a date. Send one like "Sun, 06 Nov 1994 08:49:37 GMT".');
  return positionOf(time + 1000) - 1;
}

async function replyTo(context: Context, asked: Asked): Promise<Reply> {
  const { platform, exchange, iri, url } = context;
  const { access, req } = exchange;
  if (!isRead(exchange)) {
    const isErasure = req.method === 'DELETE' && url === iri && (await controls(platform, platform.store, access));
    if (!isErasure)
      throw new LwsError(
        'method-not-allowed',
        `Method ${req.method} is not allowed on a version. Allowed: GET, HEAD.`,
        {
          fields: { Allow: 'GET, HEAD' },
        },
      );
    return erased(context, asked);
  }
  for (let attempt = 0; attempt < maxAttempts; attempt++) {
    const found = await admitted(context);
    if ('listBefore' in asked) return timeMap(context, Object.assign(found, { before: asked.listBefore }));
    const reply = await versionReply(context, asked, found);
    if (reply) return reply;
  }
  throw tooBusy('The resource is being replaced again and again. Retry in a second.', 1);
}

/** Returns the response for a version; `undefined` if it is the present state and was replaced meanwhile. */
async function versionReply(
  context: Context,
  asked: Exclude<Asked, { listBefore: number }>,
  { record, reach, history }: Admitted,
): Promise<Reply | undefined> {
  const { platform, iri, url } = context;
  const state =
    'version' in asked
      ? await history.beganAt(asked.version, reach, record)
      : await history.at(positionAt(asked.date), reach, record);
  if (!state) throw notFound('no such version, or hidden');
  const isReplaced = (): boolean => {
    const { revision, linked } = platform.store.record(iri) ?? {};
    return state.ended === undefined && (record?.revision !== revision || record?.linked !== linked);
  };
  // `record` was read before `state`. If the resource was changed in between, the caller tries again.
  if (isReplaced()) return undefined;
  const links = await pastLinks(platform.store, state);
  const reply = await (url === iri ? represented(context, state) : describedState(context, state, links));
  if (!reply && isReplaced()) return undefined;
  if (!reply) throw notFound('the content of the version is not kept');
  const fields: Record<string, string | readonly string[]> = {
    ...reply.fields,
    ...mementoFields(context, state, links),
    ...ofVersion(asked, versionUrl(url, state)),
  };
  if ('version' in asked) delete fields['Accept-Patch'];
  if (platform.storage.acls && url === iri) Object.assign(fields, { 'WAC-Allow': await modesOf(context, state) });
  return { ...reply, fields };
}

/** Returns `WAC-Allow` for a version: `read` for the caller, and for the public if the version is publicly readable. */
async function modesOf(context: Context, state: HistoryState): Promise<string> {
  const { platform, exchange, iri } = context;
  const { origin } = exchange.access;
  const record = platform.store.record(iri);
  const caller = new CallerReach(platform, origin === undefined ? {} : { origin });
  const reach = record && (await reachIn(context, caller, record));
  return `user="read",public="${reach && isIn(reach, state) ? 'read' : ''}"`;
}

/** Returns fields of a version, which has its own URL, or of a time gate (the resource), which names the version. */
function ofVersion(asked: Asked, url: string): Record<string, string> {
  return 'version' in asked ? { Allow: 'GET, HEAD' } : { 'Content-Location': url };
}

const versionUrl = (url: string, { began }: HistoryState): string => `${url}?version=${began}`;

/** Returns the header fields of a version. @param links undefined if the links were not kept */
function mementoFields(
  { platform: { storage }, iri, url }: Context,
  state: HistoryState,
  links: string | undefined,
): Record<string, string> {
  const { began, record } = state;
  const ofState = (): string[] => [
    resourceLinks(record, storage, links === undefined ? linksetOf(iri) : versionUrl(linksetOf(iri), state)),
    ...signpostLinks(storage, record, () => JSON.parse(links ?? noLinks) as ClientLinks),
  ];
  const own = url === iri ? ofState() : [documentLinks(iri, storage)];
  return {
    'Memento-Datetime': formatHttpDate(msOfPosition(began)),
    Link: [...own, ...versionLinks(url), formatLink(versionUrl(url, state), 'cite-as')].join(', '),
    'Cache-Control': revalidate,
  };
}

/** Returns the response of GET on the linkset in the earlier state. */
async function describedState(
  { platform: { storage }, exchange }: Context,
  { record }: HistoryState,
  links: string | undefined,
): Promise<Reply | undefined> {
  return links === undefined
    ? undefined
    : readLinksetState(exchange, linksetState(storage, { entry: () => links }, record));
}

interface Admitted {
  /** Record of the resource. Undefined if the resource was deleted and the caller is a controller. */
  readonly record: ResourceRecord | undefined;
  readonly reach: Reach;
  readonly history: History;
}

/** Returns the part of a history that a caller with read access may read. */
export function reachIn(
  { platform, areDatesWhole }: Pick<Answering, 'platform' | 'areDatesWhole'>,
  caller: CallerReach,
  record: ResourceRecord,
): Promise<Reach> {
  const first = areDatesWhole ? new History(platform.store, record.iri).head(record)?.first : undefined;
  return caller.of(record, first ?? Number.MAX_SAFE_INTEGER - 1);
}

/** Returns the readable part of a history. @throws LwsError as GET of the resource */
async function admitted(context: Context): Promise<Admitted> {
  const { platform, switches, exchange, iri } = context;
  const { store } = platform;
  const { access } = exchange;
  const history = new History(store, iri, switches.isKept(iri));
  if (!store.record(iri) && (await controls(platform, store, access)))
    return { record: undefined, reach: everything, history };
  const record = await requireAccess(platform, store, access, 'read', iri);
  return { record, reach: await reachIn(context, new CallerReach(platform, access), record), history };
}

/** Returns the response of GET on the resource, from a storage object that contains the earlier state. */
async function represented({ platform, exchange }: Context, state: HistoryState): Promise<Reply | undefined> {
  const { record } = state;
  // Preconditions apply to reads too (RFC 9110 13.2.2), here on the selected state.
  assertPreconditions({ ...preconditionsOf(exchange), ifNoneMatch: undefined }, record, record.revision);
  if (state.ended === undefined) return representData(platform.storage, exchange.req, record);
  if (record.kind === 'rdf' && !state.graph) return undefined;
  const { storage } = platform;
  const { access, address, req } = exchange;
  const reader = (): Promise<Client> => clientFor(platform, access, address);
  // Returns the graph. Called for small graphs, and for RDF/XML of large graphs, unless the representation is cached.
  const graph = async () => {
    const keys = await pastKeys(storage.store, state, await reader());
    return keys && { record, keys };
  };
  const store = Object.create(storage.store, {
    record: { value: (iri: string) => (iri === record.iri ? record : storage.store.record(iri)) },
    graph: { value: graph },
    openGraph: { value: async () => openPast(storage.store, state, await reader()) },
  }) as Storage['store'];
  // The cache has one state for each name and syntax. A version never changes, so its name identifies it.
  const name = `${record.iri}?version=${state.began}`;
  const obtain: Representations['obtain'] = (_iri, variant, revision, build) => {
    const tag = variant === 'blob' ? revision : `${revision}.${variantOf(variant as RdfFormat)}`;
    // The client has the representation already (304).
    const isKnown = req.headers['if-none-match'] !== undefined && isNotModified(preconditionsOf(exchange), tag, record);
    if (isKnown) return { revision, tag, mediaType: variant, bytes: Buffer.alloc(0) };
    return storage.representations.obtain(name, variant, revision, build);
  };
  const earlier = Object.create(storage, {
    store: { value: store },
    representations: { value: { obtain } },
    // Browsers must download an earlier state of a page instead of showing it.
    authorizer: { value: { allows: () => false } },
  }) as Storage;
  return representData(earlier, exchange.req, Object.assign({}, record));
}

interface Listed extends Admitted {
  readonly before: number;
}

/** Returns the list of the states that the caller may read, latest first (RFC 7089 5). */
async function timeMap({ exchange, url, iri }: Context, { record, reach, history, before }: Listed): Promise<Reply> {
  const found = await history.before(before, reach, { record, limit: pageLength + 1 });
  const states = found.slice(0, pageLength);
  if (states.length === 0 && before > Number.MAX_SAFE_INTEGER - 2) throw notFound('no history');
  const next = found.length > pageLength ? `${url}?versions=${states.at(-1)!.began}` : undefined;
  const { accept } = exchange.req.headers;
  const offers = ['application/json', linkFormat];
  const type = (accept !== undefined && chooseMediaType(parseAccept(accept) ?? [], offers)) || offers[0]!;
  const body =
    type === linkFormat
      ? linksOf(url, states, next)
      : JSON.stringify(documentOf(url, states, { reach, next, hasContent: url === iri }));
  const fields = { ...uncached, 'Content-Type': type, Vary: 'Accept', Link: formatLink(url, 'original timegate') };
  return { status: 200, fields, body: Buffer.from(body), isCodable: true };
}

function documentOf(
  iri: string,
  states: readonly HistoryState[],
  {
    reach,
    next,
    hasContent,
  }: { readonly reach: Reach; readonly next: string | undefined; readonly hasContent: boolean },
): object {
  const dateOf = (position: number): string => new Date(msOfPosition(position)).toISOString();
  const versions = states.map(({ began, ended, record: { mediaType, size }, actor }) => ({
    ...{ id: String(began), url: `${iri}?version=${began}`, from: dateOf(began) },
    ...(ended === undefined ? { isPresent: true } : { until: dateOf(ended) }),
    ...(hasContent ? { mediaType, size } : {}),
    // Only controllers learn who has written a version.
    ...(reach.isController && actor !== undefined ? { actor } : {}),
  }));
  return { resource: iri, versions, ...(next === undefined ? {} : { next }) };
}

function linksOf(iri: string, states: readonly HistoryState[], next: string | undefined): string {
  const links = [formatLink(iri, 'original timegate'), formatLink(`${iri}?versions`, 'self', { type: linkFormat })];
  if (next !== undefined) links.push(formatLink(next, 'timemap', { type: linkFormat }));
  for (const { began } of [...states].reverse())
    links.push(formatLink(`${iri}?version=${began}`, 'memento', { datetime: formatHttpDate(msOfPosition(began)) }));
  return `${links.join(',\n')}\n`;
}

/** Erases one version or all. @throws LwsError `not-found`; `conflict` for the present state */
async function erased({ platform, exchange, iri }: Context, asked: Asked): Promise<Reply> {
  const { store } = platform;
  const { access } = exchange;
  const admit = (tx: Transaction): Promise<void> => admitErasure(platform, tx, access);
  if ('listBefore' in asked) await eraseAll(store, iri, admit);
  else if ('version' in asked) {
    const history = new History(store, iri);
    const state = await history.beganAt(asked.version, everything, store.record(iri));
    if (!state) throw notFound('no such version');
    if (state.ended === undefined)
      throw new LwsError('conflict', 'This is the present state. Replace or delete the resource first.');
    await erase({ store, iri }, { ended: state.ended, admit });
  }
  return { status: 204, fields: {} };
}

async function admitErasure(platform: Platform, tx: Transaction, access: Access): Promise<void> {
  attribute(tx, access);
  if (!(await controls(platform, tx, access))) throw notFound('no control any more');
}
