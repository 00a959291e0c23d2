/** Endpoints: validation without a write (dry run), and violations of stored resources (rules 23.9, 23.10). */

import { type Client, clientFor, priorityOf } from '../../lib/authorization/client.js';
import { inTurn } from '../../lib/authorization/decision-turns.js';
import { requireAccess, requirePut } from '../../lib/authorization/guard.js';
import type { Access } from '../../lib/authorization/principal.js';
import type { Platform } from '../../lib/component/contract.js';
import { jsonReply, uncached } from '../../lib/http/json-reply.js';
import type { Reply } from '../../lib/http/reply.js';
import { type Route, type RouteRequest, route, urlOfRoute } from '../../lib/http/route.js';
import { isRdfFormat, rdfFormats } from '../../lib/rdf/formats.js';
import { lws } from '../../lib/rdf/vocabulary.js';
import { readBody } from '../../lib/resources/body.js';
import { assertName } from '../../lib/resources/bulk.js';
import type { GraphKeys } from '../../lib/storage/keys/graph-keys.js';
import { isContainerIri, type ResourceRecord } from '../../lib/storage/keys/records.js';
import { LwsError } from '../../lib/tools/errors.js';
import { formatLink } from '../../lib/tools/fields/link.js';
import type { Admission } from './admission.js';
import type { ShapeDocuments } from './documents.js';
import type { InForce, ShapesLinks } from './links.js';
import type { ShapeMembers, Violating } from './members.js';
import type { Result } from './model.js';
import { maxListed, reportFormat, resultJson, violationsOf, writeReport } from './report.js';
import { maxTriples, tooComplex, type Validator } from './validator.js';

export interface ShapesEndpoints {
  readonly platform: Platform;
  readonly links: ShapesLinks;
  readonly documents: ShapeDocuments;
  readonly validator: Validator;
  readonly members: ShapeMembers;
  readonly admission: Admission;
}

const [validatePath, violationsPath] = ['{prefix}/validate', '{prefix}/violations'];

/** Maximum body of a dry run in bytes: for unprivileged callers, and for other callers. */
const [longestOfStrangers, longestDryRun] = [256 << 10, 8 << 20];
/** Maximum requests per minute and address, for unprivileged callers. */
export const perMinute = 60;
const json = 'application/json';

export const shapesRoutes = (endpoints: ShapesEndpoints): readonly Route[] => {
  const attempts = endpoints.platform.throttle('validate', perMinute);
  const limited =
    (work: (request: RouteRequest, client: Client) => Promise<Reply>) => async (request: RouteRequest) => {
      const client = await clientFor(endpoints.platform, request.access, request.address);
      if (client.callerClass === 'stranger') await attempts.begin(request.address);
      return work(request, client);
    };
  return [
    route(
      'filtered',
      `POST ${validatePath}`,
      limited((...asked) => validate(endpoints, ...asked)),
    ),
    route(
      'filtered',
      `GET HEAD ${violationsPath}`,
      limited((request) => inTurn(endpoints.platform, request.access, () => violations(endpoints, request))),
    ),
  ];
};

export const shapesServices = (platform: Platform) => [
  { type: `${lws.namespace}ShapeValidationService`, serviceEndpoint: urlOfRoute(platform, validatePath) },
  { type: `${lws.namespace}ShapeViolationService`, serviceEndpoint: urlOfRoute(platform, violationsPath) },
];

/** Returns shapes and data IRI for a dry run. @throws LwsError as a write to this IRI, or a read of the shapes */
async function wanted(
  { platform, links }: ShapesEndpoints,
  { access, query }: Pick<RouteRequest, 'access' | 'query'>,
): Promise<{ readonly base: string; readonly inForce: InForce }> {
  const [targets, named] = [query.getAll('as'), query.getAll('shapes')];
  const { store: view } = platform;
  const [target] = targets;
  if (targets.length > 1 || (target === undefined) === (named.length === 0))
    throw new LwsError('bad-request', 'Name documents of shapes (?shapes=IRI) or the resource to write (?as=IRI).');
  let inForce: InForce = { shapes: [...new Set(named)], of: named[0] ?? '' };
  if (target !== undefined) {
    assertName(platform, target);
    if (isContainerIri(target)) throw new LwsError('bad-request', 'Containers are not validated. Name a resource.');
    await requirePut(platform, view, access, target);
    const found = links.inForce(target);
    inForce = found && !found.shapes.includes(target) ? found : { shapes: [], of: target };
  }
  for (const iri of inForce.shapes) await requireAccess(platform, view, access, 'read', iri);
  return { base: target ?? urlOfRoute(platform, validatePath), inForce };
}

/** Data of a dry run. */
interface Sent {
  readonly client: Client;
  readonly mediaType: string;
  /** Returns the data. @param longest maximum bytes @throws LwsError `too-large` */
  bytes(longest: number): Promise<Uint8Array>;
}

async function validate(endpoints: ShapesEndpoints, request: RouteRequest, client: Client): Promise<Reply> {
  const body = request.body();
  const sent = { client, mediaType: body.mediaType, bytes: (longest: number) => readBody(body, longest) };
  const report = await dryRun(endpoints, request, sent);
  const { results } = report;
  const format = reportFormat(request.req.headers.accept, [json]);
  if (format)
    return {
      ...{ status: 200, fields: { ...uncached, 'Content-Type': format, Vary: 'Accept, Authorization' } },
      ...{ body: writeReport(results, format, true), isCodable: true },
    };
  return jsonReply(200, reportJson(report));
}

/** Returns a report as JSON (rule 23.9). */
export const reportJson = ({ results, shapes, warnings }: DryRun): object => ({
  isAccepted: violationsOf(results).length === 0,
  conforms: results.length === 0,
  shapes,
  results: results.map((each) => resultJson(each, true)),
  ...(warnings.length > 0 && { warnings }),
});

interface DryRun {
  readonly results: readonly Result[];
  /** IRIs of the shapes documents. */
  readonly shapes: readonly string[];
  /** Warnings about ignored properties in the documents. */
  readonly warnings: readonly string[];
}

/** Validates data without writing it. @throws LwsError as a write, or a read of the shapes */
export async function dryRun(
  endpoints: ShapesEndpoints,
  request: Pick<RouteRequest, 'access' | 'query'>,
  { client, mediaType, bytes }: Sent,
): Promise<DryRun> {
  const { base, inForce } = await wanted(endpoints, request);
  if (!isRdfFormat(mediaType))
    throw new LwsError('unsupported-media-type', `Send the data as RDF, not as ${mediaType}.`, {
      fields: { 'Accept-Post': rdfFormats.join(', ') },
    });
  const data = await bytes(client.callerClass === 'stranger' ? longestOfStrangers : longestDryRun);
  const documents = endpoints.platform.documents.sentBy(async () => ({
    ...client,
    rank: priorityOf(client.callerClass),
  }));
  const { keys } = await documents.parseGraph({ bytes: data }, mediaType, base);
  if (keys.length > maxTriples) throw tooComplex(`The limit of a validation is ${maxTriples} triples.`);
  return { ...(await resultsOf(endpoints, request.access, { keys, inForce })), shapes: inForce.shapes };
}

async function resultsOf(
  { documents, validator, admission }: ShapesEndpoints,
  access: Access,
  { keys, inForce }: { readonly keys: GraphKeys; readonly inForce: InForce },
): Promise<Pick<DryRun, 'results' | 'warnings'>> {
  try {
    if (inForce.shapes.length === 0) return { results: [], warnings: [] };
    const { results, warnings } = await validator.report(access, documents.committed(inForce.shapes), [keys]);
    return { results: results[0]!, warnings };
  } catch (error) {
    throw await admission.refusalOf(error, access, inForce);
  }
}

/** Limits of a page: violating resources, validated resources, and duration in milliseconds. */
const [pageSize, maxValidated, maxMs] = [50, 5_000, 2_000];
/** Maximum duration of a page in milliseconds, as long as it has no resource that the caller can read. */
const longestMs = 10_000;

interface Page {
  readonly items: object[];
  /** Reasons why shapes cannot be applied. */
  readonly problems: Set<string>;
}

async function violations(endpoints: ShapesEndpoints, { query, access }: RouteRequest): Promise<Reply> {
  const { platform, members } = endpoints;
  const [of, after] = [query.get('of'), query.get('after') ?? undefined];
  if (of === null) throw new LwsError('bad-request', 'Name a container or a resource: ?of=IRI.');
  await requireAccess(platform, platform.store, access, 'read', of);
  if (after !== undefined && !after.startsWith(of))
    throw new LwsError('bad-request', '"after" is no page of this list.');
  const page: Page = { items: [], problems: new Set() };
  const began = performance.now();
  let [count, last, isPartial] = [0, '', false];
  for await (const records of members.resources(of, after)) {
    const subjects = await subjectsAmong(endpoints, access, records);
    await addViolations(endpoints, access, { subjects, page });
    count += subjects.length;
    // The name of an unreadable resource must not appear in the URL of the next page.
    last = subjects.at(-1)?.record.iri ?? last;
    const ms = performance.now() - began;
    isPartial = last !== '' && (page.items.length >= pageSize || count >= maxValidated || ms > maxMs);
    if (isPartial) break;
    if (ms > longestMs) throw tooComplex('The container has too many resources. Name a smaller one.');
  }
  const url = `${urlOfRoute(platform, violationsPath)}?${new URLSearchParams({ of, after: last })}`;
  const link = isPartial ? { Link: formatLink(url, 'next') } : {};
  const { items, problems } = page;
  return jsonReply(200, { of, items, problems: [...problems], ...(isPartial && { next: url }) }, link);
}

/** Resource that the caller can read, and the links that apply to it. */
interface Subject {
  readonly record: ResourceRecord;
  readonly inForce: InForce;
}

async function subjectsAmong(
  { links, admission }: ShapesEndpoints,
  access: Access,
  records: readonly ResourceRecord[],
): Promise<Subject[]> {
  const found: Subject[] = [];
  for (const record of records) {
    const inForce = record.kind === 'rdf' ? links.inForce(record.iri) : undefined;
    if (inForce && !inForce.shapes.includes(record.iri) && (await admission.mayReadAll(access, [record.iri])))
      found.push({ record, inForce });
  }
  return found;
}

async function addViolations(
  { members, admission }: ShapesEndpoints,
  access: Access,
  { subjects, page }: { readonly subjects: readonly Subject[]; readonly page: Page },
): Promise<void> {
  for (const of of new Set(subjects.map(({ inForce }) => inForce.of))) {
    const own = subjects.filter(({ inForce }) => inForce.of === of);
    const [{ inForce }] = own as [Subject];
    const showsShapes = await admission.mayReadAll(access, inForce.shapes);
    const itemOf = ({ iri: id, results }: Violating): object => ({
      id,
      ...(showsShapes && { shapes: inForce.shapes }),
      ...(results
        ? { violations: results.slice(0, maxListed).map((each) => resultJson(each, showsShapes)) }
        : { isTooLarge: true }),
    });
    try {
      const records = own.map(({ record }) => record);
      page.items.push(...(await members.violating(access, inForce.shapes, records)).map(itemOf));
    } catch (error) {
      const refusal = await admission.refusalOf(error, access, inForce);
      if (!(refusal instanceof LwsError) || !/^(?:unusable-shapes|too-complex)$/.test(refusal.code)) throw refusal;
      page.problems.add(refusal.message);
    }
  }
}
