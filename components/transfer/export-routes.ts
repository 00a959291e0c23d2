/** Exports over HTTP, for everybody: what the caller may read. It must not know how an export is made. */
import type { Platform } from '../../lib/component.js';
import { LwsError } from '../../lib/errors.js';
import type { Reply } from '../../lib/http/reply.js';
import type { Route, RouteRequest } from '../../lib/http/route.js';
import { isContainerIri } from '../../lib/storage/records.js';
import { exportStream } from './export-stream.js';
import { mediaTypeOfFormat, textExtensionOf, writeFormats } from './formats/index.js';

export const exportPath = '{prefix}/export';

/** Threads for each standing: nobody waits for those who come after it. */
const most = { controller: 2, known: 1, stranger: 1 } as const;
/** Others than controllers get so much time (ms). */
const maxMs = { controller: undefined, known: 10 * 60_000, stranger: 30_000 } as const;
/** A client that takes nothing for so long (ms) is let go, and with it the state of the store. */
const idleMs = 10 * 60_000;
export function exportRoutes(platform: Platform): readonly Route[] {
  const running = { controller: 0, known: 0, stranger: 0 };
  const answer = async ({ query, access }: RouteRequest): Promise<Reply> => {
    const of = query.get('of') ?? platform.rootIri;
    if (!of.startsWith(platform.rootIri) || !isContainerIri(of))
      throw new LwsError(
        'bad-request',
        `"of" is a container of this storage: an IRI below ${platform.rootIri} with a slash at its end.`,
      );
    const [format, isGzip] = formatOf(query);
    const fields = fieldsOf(of, format, isGzip);
    const standing = await platform.authorizer.standing(platform.store, access);
    if (running[standing] >= most[standing])
      throw new LwsError('too-busy', 'Other exports are under way. Try again in a minute.', {
        fields: { 'Retry-After': '60' },
      });
    if (standing === 'controller' && !platform.store.record(of))
      throw new LwsError('not-found', `There is no container ${of}.`);
    running[standing]++;
    const ended = (): void => void running[standing]--;
    try {
      const asked = { of, format, isGzip, access, isOperator: false, maxMs: maxMs[standing], idleMs };
      return { status: 200, fields, body: await exportStream(platform, asked, ended) };
    } catch (error) {
      ended();
      throw error;
    }
  };
  return [{ methods: ['GET'], path: exportPath, access: 'filtered', handle: answer }];
}

/** @throws LwsError `bad-request` */
function formatOf(query: URLSearchParams): [format: string, isGzip: boolean] {
  const wanted = query.get('format') ?? 'zip';
  const isGzip = wanted.endsWith('.gz');
  const format = isGzip ? wanted.slice(0, -3) : wanted;
  if (!formatsOverHttp.includes(wanted))
    throw new LwsError('bad-request', `"format" is one of ${formatsOverHttp.join(', ')}.`);
  return [format, isGzip];
}

const formatsOverHttp = writeFormats
  .filter((name) => mediaTypeOfFormat(name) !== undefined)
  .flatMap((name) => (textExtensionOf(name) === undefined ? [name] : [name, `${name}.gz`]));

function fieldsOf(of: string, format: string, isGzip: boolean): Reply['fields'] {
  const name =
    of
      .split('/')
      .at(-2)!
      .replace(/%[0-9A-F]{2}|[^A-Z0-9._-]/gi, '-')
      .slice(0, 100) || 'storage';
  const extension = (textExtensionOf(format) ?? 'zip') + (isGzip ? '.gz' : '');
  return {
    'Content-Type': isGzip ? 'application/gzip' : mediaTypeOfFormat(format)!,
    'Content-Disposition': `attachment; filename="${name}.${extension}"`,
    'Cache-Control': 'private, no-store',
    'X-Content-Type-Options': 'nosniff',
    Vary: 'Authorization',
  };
}
