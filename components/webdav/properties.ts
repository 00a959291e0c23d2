/** Properties of resources (RFC 4918 15), and the multistatus document. */
import { setImmediate as yieldToEventLoop } from 'node:timers/promises';
import type { Platform } from '../../lib/plugin/component.js';
import { nameOf } from '../../lib/plugin/state.js';
import { escaped, type Name } from './xml.js';

type Facts = Awaited<ReturnType<Platform['facts']>>['resource'];

/** Properties of a response. `refused`: the names are answered with 403. */
export interface Properties {
  readonly kind: 'all' | 'names' | 'named' | 'refused';
  /** With `all`: in addition to the properties that exist. */
  readonly names: readonly Name[];
}

/** Values of live properties, escaped. `undefined`: the resource does not have the property. */
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
    // Not UTF-8.
    return name;
  }
}

const liveValue = ({ namespace, localName }: Name, facts: Facts): string | undefined =>
  namespace === 'DAV:' && Object.hasOwn(live, localName) ? live[localName]!(facts) : undefined;

const liveNames: readonly Name[] = Object.keys(live).map((localName) => ({ namespace: 'DAV:', localName }));

const statuses = { 200: '200 OK', 403: '403 Forbidden', 404: '404 Not Found' } as const;

const propstat = (status: keyof typeof statuses, elements: readonly string[]): string =>
  `<D:propstat><D:prop>${elements.join('')}</D:prop><D:status>HTTP/1.1 ${statuses[status]}</D:status></D:propstat>`;

/** Writes the parts of a multistatus document. */
interface Writer {
  readonly start: string;
  /** Writes the response element of a resource, on one line. */
  readonly respond: (facts: Facts) => string;
}

/** Returns a writer that declares each namespace once: responses repeat names only. */
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

/** Size of a part of the document from which it is sent, in characters. */
const chunkSize = 32 << 10;

/** Yields the multistatus document in small parts. Other requests run between them. */
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
