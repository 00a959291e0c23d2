/** Routes of exports: the response contains the resources that the caller may read. */
import { once } from 'node:events';
import { clientFor } from '../../../lib/authorization/client.js';
import type { Platform } from '../../../lib/component/contract.js';
import { Slots } from '../../../lib/component/slots.js';
import type { Format } from '../../../lib/exchange/format.js';
import { uncached } from '../../../lib/http/json-reply.js';
import type { Reply } from '../../../lib/http/reply.js';
import { type Route, type RouteRequest, route } from '../../../lib/http/route.js';
import { isContainerIri } from '../../../lib/storage/keys/records.js';
import { LwsError } from '../../../lib/tools/errors.js';
import { exportStream } from './export-stream.js';
import { Formats } from './formats/index.js';
import { exportName } from './formats/open-writer.js';

const exportPath = '{prefix}/export';
const parameters = ['of', 'format'];

/** Maximum number of concurrent exports per subject (per address for anonymous callers). Each export has a thread. */
const perClient = { controller: 2, known: 1, stranger: 1 } as const;
/** Maximum number of concurrent exports of a caller class, because new identities cost nothing. */
const inAll = { controller: 8, known: 4, stranger: 2 } as const;
/** Maximum time between reads by the client (`ReadingTime`, ms): an export holds a snapshot of the store. */
const idleMs = 10 * 60_000;

/** Returns the routes of exports. @param strangersMs maximum duration of an export by unprivileged callers (ms) */
export function exportRoutes(platform: Platform, strangersMs = 30_000): readonly Route[] {
  /** Maximum duration of an export (ms). Controllers have no limit. */
  const maxMs = { controller: undefined, known: 10 * 60_000, stranger: strangersMs } as const;
  const slots = new Slots(inAll, 'Too many exports are running. Try again in a minute.', perClient);
  const answer = async ({ query, access, address }: RouteRequest): Promise<Reply> => {
    // Reject unknown parameters: with a misspelled `of`, the whole storage would be exported.
    const unknown = [...query.keys()].find((name, at, all) => !parameters.includes(name) || all.indexOf(name) !== at);
    if (unknown !== undefined)
      throw new LwsError(
        'bad-request',
        `The parameter "${unknown}" is unknown or repeated. Use ${parameters.join(' and ')}.`,
      );
    const of = query.get('of') ?? platform.rootIri;
    if (!of.startsWith(platform.rootIri) || !isContainerIri(of))
      throw new LwsError(
        'bad-request',
        `"of" must be a container of this storage: an IRI below ${platform.rootIri} with a trailing slash.`,
      );
    const [name, isGzip, format] = formatOf(query, await Formats.of(platform.formats));
    const fields = fieldsOf(of, format, isGzip);
    const client = await clientFor(platform, access, address);
    const release = slots.take(client);
    if (client.callerClass === 'controller' && !platform.store.record(of)) {
      release();
      throw new LwsError('not-found', `The container ${of} does not exist.`);
    }
    const asked = { of, format: name, isGzip, access, isOperator: false, maxMs: maxMs[client.callerClass], idleMs };
    const body = await exportStream(platform, asked, release).catch((error: unknown) => {
      release();
      throw error;
    });
    // Ignore errors here: the code that sends the body handles them, but may not listen yet.
    body.on('error', () => {}).once('end', release);
    // A failure before the first bytes becomes an error response.
    if (body.readableLength === 0) await Promise.race([once(body, 'readable'), once(body, 'end')]);
    return { status: 200, fields, body: body.readableEnded ? Buffer.alloc(0) : body };
  };
  return [route('filtered', `GET ${exportPath}`, answer)];
}

/** Returns the requested format. @throws LwsError `bad-request` */
function formatOf(query: URLSearchParams, formats: Formats): [name: string, isGzip: boolean, format: Format] {
  const wanted = query.get('format') ?? 'zip';
  const isGzip = wanted.endsWith('.gz');
  const name = isGzip ? wanted.slice(0, -3) : wanted;
  const sent = formats.written.filter((each) => formats.find(each)!.mediaType !== undefined);
  const all = sent.flatMap((each) => (formats.find(each)!.endings ? [each, `${each}.gz`] : [each]));
  if (!all.includes(wanted)) throw new LwsError('bad-request', `"format" must be one of ${all.join(', ')}.`);
  return [name, isGzip, formats.find(name)!];
}

function fieldsOf(of: string, { endings, mediaType }: Format, isGzip: boolean): Reply['fields'] {
  const extension = (endings?.[0] ?? 'zip') + (isGzip ? '.gz' : '');
  return {
    'Content-Type': isGzip ? 'application/gzip' : mediaType!,
    'Content-Disposition': `attachment; filename="${exportName(of)}.${extension}"`,
    ...uncached,
    Vary: 'Authorization',
  };
}
