/** Properties of resources (RFC 4918 15), and multistatus documents. */
import { setImmediate as yieldToEventLoop } from 'node:timers/promises';
import type { Platform } from '../../lib/plugin/component.js';
import { nameOf } from '../../lib/plugin/state.js';
import { escaped, type Name } from './xml.js';

type Facts = Awaited<ReturnType<Platform['facts']>>['resource'];

/** Properties that a response contains. `refused`: each name is returned with status 403. */
export interface Properties {
  readonly kind: 'all' | 'names' | 'named' | 'refused';
  /** Requested names. For `all`, they are returned in addition to existing properties. */
  readonly names: readonly Name[];
}

/** Functions that return the escaped value of a live property, or `undefined` if the resource does not have it. */
const live: Readonly<Record<string, (facts: Facts) => string | undefined>> = {
  displayname: ({ iri }) => escaped(decoded(nameOf(iri).replace(/\/$/, ''))),
  resourcetype: ({ isContainer }) => (isContainer ? '<D:collection/>' : ''),
  getcontentlength: ({ isContainer, size }) => (isContainer ? undefined : String(size)),
  getcontenttype: ({ isContainer, mediaType }) => (isContainer ? undefined : escaped(mediaType)),
  getetag: ({ etag }) => etag && escaped(etag),
  getlastmodified: ({ modified }) => new Date(modified).toUTCString(),
  creationdate: ({ created }) => new Date(created).toISOString(),
};

function decoded(name: string): string {
  try {
    return decodeURIComponent(name);
  } catch {
    // The name is not valid UTF-8: return it without decoding.
    return name;
  }
}

const liveValue = ({ namespace, localName }: Name, facts: Facts): string | undefined =>
  namespace === 'DAV:' && Object.hasOwn(live, localName) ? live[localName]!(facts) : undefined;

const liveNames: readonly Name[] = Object.keys(live).map((localName) => ({ namespace: 'DAV:', localName }));

const statuses = { 200: '200 OK', 403: '403 Forbidden', 404: '404 Not Found' } as const;

const propstat = (status: keyof typeof statuses, elements: readonly string[]): string =>
  `<D:propstat><D:prop>${elements.join('')}</D:prop><D:status>HTTP/1.1 ${statuses[status]}</D:status></D:propstat>`;

/** Writer of a multistatus document. */
interface Writer {
  readonly start: string;
  /** Returns the response element for a resource, on one line. */
  readonly respond: (facts: Facts) => string;
}

/** Returns a writer that declares each namespace only once, at the start. */
export function writerOf({ kind, names }: Properties, origin: string): Writer {
  const prefixes = new Map([
    ['', ''],
    ['DAV:', 'D:'],
  ]);
  for (const { namespace } of names) if (!prefixes.has(namespace)) prefixes.set(namespace, `ns${prefixes.size - 1}:`);
  const declared = [...prefixes]
    .slice(1)
    .map(([namespace, prefix]) => ` xmlns:${prefix.slice(0, -1)}="${escaped(namespace)}"`);
  const emptyElement = ({ namespace, localName }: Name): string => `<${prefixes.get(namespace)}${localName}/>`;
  const asked = kind === 'all' || kind === 'names' ? [...liveNames, ...names.filter(isNew)] : names;
  const respond = (facts: Facts): string => {
    const [found, missing]: [string[], string[]] = [[], []];
    for (const name of kind === 'refused' ? [] : asked) {
      const value = liveValue(name, facts);
      if (value !== undefined)
        found.push(
          kind === 'names' || value === '' ? emptyElement(name) : `<D:${name.localName}>${value}</D:${name.localName}>`,
        );
      else if (kind === 'named' || isNew(name)) missing.push(emptyElement(name));
    }
    const stats = [
      ...(kind === 'refused' ? [propstat(403, names.map(emptyElement))] : []),
      ...(found.length > 0 || (kind !== 'refused' && missing.length === 0) ? [propstat(200, found)] : []),
      ...(missing.length > 0 ? [propstat(404, missing)] : []),
    ];
    return `<D:response><D:href>${escaped(facts.iri.slice(origin.length))}</D:href>${stats.join('')}</D:response>\n`;
  };
  return { start: `<?xml version="1.0" encoding="utf-8"?>\n<D:multistatus${declared.join('')}>\n`, respond };
}

const isNew = ({ namespace, localName }: Name): boolean => namespace !== 'DAV:' || !Object.hasOwn(live, localName);

/** Characters after which a part of the document is sent. */
const chunkSize = 32 << 10;

/** Yields a multistatus document in small parts, between which other requests run. */
export async function* wholeOf(
  { start, respond }: Writer,
  first: Facts,
  blocks: AsyncIterable<readonly Facts[]> | readonly (readonly Facts[])[],
): AsyncGenerator<string> {
  let text = start + respond(first);
  for await (const block of blocks)
    for (const facts of block) {
      text += respond(facts);
      if (text.length < chunkSize) continue;
      yield text;
      text = '';
      await yieldToEventLoop();
    }
  yield `${text}</D:multistatus>\n`;
}
