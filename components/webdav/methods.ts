/** Implements PROPFIND, PROPPATCH and MKCOL. Other methods (PUT, DELETE, MOVE, COPY) are the same as without WebDAV. */
import { Readable } from 'node:stream';
import { LwsError, type Platform } from '../../lib/plugin/component.js';
import { type Reply, type RouteRequest, readBody } from '../../lib/plugin/requests.js';
import type { XmlElement } from '../../lib/plugin/xml.js';
import { type Properties, wholeOf, writerOf } from './properties.js';
import { checkedElements, escaped, type Name, parseXml } from './xml.js';

/** Maximum size of a request body, in bytes. */
const maxBytes = 8 << 10;
/** Maximum properties in a body, and maximum bytes of their names and namespaces, because each response repeats the names. */
const [maxProperties, maxNameBytes] = [64, 2 << 10];

const conditionFields = ['if-match', 'if-none-match', 'if-unmodified-since', 'if-modified-since'];

const xmlFields = { 'Content-Type': 'application/xml; charset=utf-8', 'Cache-Control': 'private, no-store' };

export class WebDav {
  private readonly origin: string;

  constructor(private readonly platform: Platform) {
    this.origin = new URL(platform.rootIri).origin;
  }

  /** Handles PROPFIND (RFC 4918 9.1). @throws LwsError as GET; `malformed-body`, `too-large`, `too-complex` */
  async propfind(request: RouteRequest): Promise<Reply> {
    const { resource, members } = await this.target(request);
    const depth = request.req.headers['depth']?.toString().trim().toLowerCase() ?? 'infinity';
    if (depth === 'infinity') return finiteDepthReply;
    if (depth !== '0' && depth !== '1') throw new LwsError('bad-request', 'Depth must be 0 or 1.');
    const bytes = await readBody(request.body(), maxBytes);
    const wanted: Properties = bytes.length === 0 ? { kind: 'all', names: [] } : wantedIn(parseXml(bytes));
    const blocks = depth === '1' ? await members() : [];
    const body = Readable.from(wholeOf(writerOf(wanted, this.origin), resource, blocks), { highWaterMark: 1 });
    return { status: 207, fields: { ...xmlFields, ...this.place(request, resource.iri) }, body };
  }

  /**
   * Handles PROPPATCH (RFC 4918 9.2): rejects every property, because live properties are computed, and other properties are
   * not stored. Returns the rejections as 207: clients ignore them, but would treat an error status as a failed write.
   */
  async proppatch(request: RouteRequest): Promise<Reply> {
    const { resource } = await this.target(request);
    const root = parseXml(await readBody(request.body(), maxBytes));
    if (!isDav(root, 'propertyupdate')) throw malformed('Send a propertyupdate element of DAV:.');
    const names = limited(checkedElements(root).flatMap((step) => checkedElements(step).flatMap(checkedElements)));
    const body = Readable.from(wholeOf(writerOf({ kind: 'refused', names }, this.origin), resource, []));
    return { status: 207, fields: { ...xmlFields, ...this.place(request, resource.iri) }, body };
  }

  /** Handles MKCOL (RFC 4918 9.3): like PUT of a container, with other statuses. @throws LwsError */
  async mkcol(request: RouteRequest): Promise<Reply> {
    const { iri } = request.parameters as { iri: string };
    if (request.body().length !== 0)
      throw new LwsError('unsupported-media-type', 'MKCOL has no body. Create the container, then its members.');
    const { url = '', headers } = request.req;
    const query = url.includes('?') ? url.slice(url.indexOf('?')) : '';
    const target = `${iri.endsWith('/') ? iri : `${iri}/`}${query}`;
    const conditions = conditionFields.flatMap((name) => (headers[name] === undefined ? [] : [[name, headers[name]]]));
    try {
      return await this.platform.request(request, { method: 'PUT', target, fields: Object.fromEntries(conditions) });
    } catch (error) {
      if (!(error instanceof LwsError)) throw error;
      const { code, message } = error;
      if (code === 'parent-not-found') throw new LwsError('conflict', message);
      if (code !== 'container-exists' && code !== 'already-exists') throw error;
      throw new LwsError('method-not-allowed', 'The name is already in use.', {
        fields: { Allow: await this.allowed(request) },
      });
    }
  }

  /** Returns the methods of the resource with this name, with or without a final slash, as far as the caller may know. */
  private async allowed(request: RouteRequest): Promise<string> {
    const name = request.parameters['iri']!.replace(/\/$/, '');
    const target = this.platform.store.record(name) ? name : `${name}/`;
    try {
      return String((await this.platform.request(request, { method: 'OPTIONS', target, fields: {} })).fields['Allow']);
    } catch (error) {
      if (error instanceof LwsError) return 'OPTIONS';
      throw error;
    }
  }

  /** Returns the facts about the target or, if it does not exist, the container with a final slash (RFC 4918 5.2). */
  private target({ access, parameters }: RouteRequest): ReturnType<Platform['facts']> {
    const iri = parameters['iri']!;
    const { store, facts } = this.platform;
    return facts(access, iri.endsWith('/') || store.record(iri) ? iri : `${iri}/`);
  }

  private place({ parameters }: RouteRequest, iri: string): Record<string, string> {
    return iri === parameters['iri'] ? {} : { 'Content-Location': iri };
  }
}

const finiteDepthReply: Reply = {
  status: 403,
  fields: xmlFields,
  body: Buffer.from(
    '<?xml version="1.0" encoding="utf-8"?>\n<D:error xmlns:D="DAV:"><D:propfind-finite-depth/></D:error>\n',
  ),
};

const malformed = (message: string): LwsError => new LwsError('malformed-body', message);

const isDav = ({ namespace, localName }: Name, wanted: string): boolean => namespace === 'DAV:' && localName === wanted;

/** Returns the requested properties of a PROPFIND. Ignores unknown elements (RFC 4918 17). @throws LwsError `malformed-body` */
function wantedIn(root: XmlElement): Properties {
  if (!isDav(root, 'propfind')) throw malformed('Send a propfind element of DAV:.');
  const children = checkedElements(root);
  const names = (element: string): readonly Name[] =>
    limited(children.filter((child) => isDav(child, element)).flatMap(checkedElements));
  const kinds = ['prop', 'propname', 'allprop'].filter((kind) => children.some((child) => isDav(child, kind)));
  if (kinds.length !== 1) throw malformed('A propfind contains one of prop, propname and allprop.');
  if (kinds[0] === 'prop') return { kind: 'named', names: names('prop') };
  return kinds[0] === 'propname' ? { kind: 'names', names: [] } : { kind: 'all', names: names('include') };
}

/** Returns distinct names. @throws LwsError `too-complex` if there are too many */
function limited(names: readonly Name[]): readonly Name[] {
  const texts = [
    ...names.map(({ localName }) => localName),
    ...[...new Set(names.map(({ namespace }) => namespace))].map(escaped),
  ];
  if (names.length > maxProperties || Buffer.byteLength(texts.join('')) > maxNameBytes)
    throw new LwsError(
      'too-complex',
      `A request names at most ${maxProperties} properties, with ${maxNameBytes} bytes of names and namespaces. The limits are fixed.`,
    );
  return [...new Map(names.map((name) => [`${name.localName} ${name.namespace}`, name])).values()];
}
