/** Exports over HTTP: any caller gets the resources that it may read. */
import { once } from 'node:events';
import { type Client, clientFor } from '../../lib/authorization/client.js';
import type { Platform } from '../../lib/component/contract.js';
import { LwsError, tooBusy } from '../../lib/errors.js';
import type { Format } from '../../lib/exchange/format.js';
import { uncached } from '../../lib/http/json-reply.js';
import type { Reply } from '../../lib/http/reply.js';
import { type Route, type RouteRequest, route } from '../../lib/http/route.js';
import { isContainerIri } from '../../lib/storage/keys/records.js';
import { exportStream } from './export-stream.js';
import { Formats } from './formats/index.js';

export const exportPath = '{prefix}/export';

/** The most threads for one subject (for strangers: one address), and for all clients of a standing, since new identities cost nothing. */
const perClient = { controller: 2, known: 1, stranger: 1 } as const;
const inAll = { controller: 8, known: 4, stranger: 2 } as const;
/** An export whose client reads nothing for so long (ms) is ended, since it keeps a snapshot of the store open. */
const idleMs = 10 * 60_000;

/** @param strangersMs the time that strangers get */
export function exportRoutes(platform: Platform, strangersMs = 30_000): readonly Route[] {
  /** The longest time of an export (ms); controllers have no limit. */
  const maxMs = { controller: undefined, known: 10 * 60_000, stranger: strangersMs } as const;
  const running = new Set<Client>();
  const answer = async ({ query, access, address }: RouteRequest): Promise<Reply> => {
    const of = query.get('of') ?? platform.rootIri;
    if (!of.startsWith(platform.rootIri) || !isContainerIri(of))
      throw new LwsError(
        'bad-request',
        `"of" is a container of this storage: an IRI below ${platform.rootIri} with a slash at its end.`,
      );
    const [name, isGzip, format] = formatOf(query, await Formats.of(platform.formats));
    const fields = fieldsOf(of, format, isGzip);
    const place = await clientFor(platform, access, address);
    const { standing, client } = place;
    const others = [...running].filter((each) => each.standing === standing);
    const own = others.filter((each) => each.client === client);
    if (others.length >= inAll[standing] || own.length >= perClient[standing])
      throw tooBusy('Other exports are under way. Try again in a minute.', 60);
    if (standing === 'controller' && !platform.store.record(of))
      throw new LwsError('not-found', `There is no container ${of}.`);
    running.add(place);
    const ended = (): void => void running.delete(place);
    const asked = { of, format: name, isGzip, access, isOperator: false, maxMs: maxMs[standing], idleMs };
    const body = await exportStream(platform, asked, ended).catch((error: unknown) => {
      ended();
      throw error;
    });
    // The code that sends the body handles errors, and may not listen yet.
    body.on('error', () => {}).once('end', ended);
    // Waits for the first bytes: a failure before them can still become an error response.
    if (body.readableLength === 0) await once(body, 'readable');
    return { status: 200, fields, body };
  };
  return [route('filtered', `GET ${exportPath}`, answer)];
}

/** @throws LwsError `bad-request` */
function formatOf(query: URLSearchParams, formats: Formats): [name: string, isGzip: boolean, format: Format] {
  const wanted = query.get('format') ?? 'zip';
  const isGzip = wanted.endsWith('.gz');
  const name = isGzip ? wanted.slice(0, -3) : wanted;
  const sent = formats.written.filter((each) => formats.find(each)!.mediaType !== undefined);
  const all = sent.flatMap((each) => (formats.find(each)!.endings ? [each, `${each}.gz`] : [each]));
  if (!all.includes(wanted)) throw new LwsError('bad-request', `"format" is one of ${all.join(', ')}.`);
  return [name, isGzip, formats.find(name)!];
}

function fieldsOf(of: string, { endings, mediaType }: Format, isGzip: boolean): Reply['fields'] {
  const last = of.split('/').at(-2)!;
  const name = last.replace(/%[0-9A-F]{2}|[^A-Z0-9._-]/gi, '-').slice(0, 100) || 'storage';
  const extension = (endings?.[0] ?? 'zip') + (isGzip ? '.gz' : '');
  return {
    'Content-Type': isGzip ? 'application/gzip' : mediaType!,
    'Content-Disposition': `attachment; filename="${name}.${extension}"`,
    ...uncached,
    Vary: 'Authorization',
  };
}
