/** The storages of a deployment over HTTP: `{prefix}/storages` of the storage of `lws.base-uri`, whose controllers are the operators. */
import { type Access, controls } from '../../lib/component/access.js';
import {
  type Deployment,
  LwsError,
  type Platform,
  type StorageChange,
  type StorageRecord,
} from '../../lib/component/basics.js';
import { isObject } from '../../lib/component/fields.js';
import {
  assertPreconditions,
  formatEntityTag,
  jsonReply,
  pageLinks,
  pageOf,
  preconditions,
  type Reply,
  type Route,
  type RouteRequest,
  readJsonObject,
  route,
  undated,
} from '../../lib/component/http.js';

const pageSize = 100;

export function storageRoutes(platform: Platform, deployment: Deployment): readonly Route[] {
  const endpoint = new StoragesEndpoint(platform, deployment);
  const path = '{prefix}/storages';
  return [
    route('authenticated', `GET HEAD ${path}`, (request) => endpoint.list(request)),
    route('controller', `POST ${path}`, (request) => endpoint.make(request)),
    route('authenticated', `GET HEAD ${path}/:name`, (request) => endpoint.read(request)),
    route('controller', `PATCH ${path}/:name`, (request) => endpoint.patch(request)),
    route('controller', `DELETE ${path}/:name`, (request) => endpoint.remove(request)),
  ];
}

class StoragesEndpoint {
  private readonly url: string;

  constructor(
    private readonly platform: Platform,
    private readonly deployment: Deployment,
  ) {
    this.url = `${platform.baseUri}${platform.systemPrefix}/storages`;
  }

  async list({ access, query }: RouteRequest): Promise<Reply> {
    const page = pageOf(query.toString()) ?? 1;
    const all = this.deployment.all().filter(await this.seenBy(access));
    const last = Math.max(1, Math.ceil(all.length / pageSize));
    if (page > last) throw new LwsError('page-not-found', `There are ${last} pages.`);
    const storages = all.slice((page - 1) * pageSize, page * pageSize).map((record) => this.shown(record));
    return jsonReply(200, { totalItems: all.length, storages }, { Link: pageLinks(this.url, page, last) });
  }

  async make(request: RouteRequest): Promise<Reply> {
    const { name, ...given } = await readJsonObject(request);
    if (typeof name !== 'string') throw new LwsError('malformed-body', 'The member name is the name of the storage.');
    const owners = [request.access.principal?.subject ?? []].flat();
    return this.reply(201, await this.deployment.change(name, { owners, ...changeOf(given), revision: null }));
  }

  async read(request: RouteRequest): Promise<Reply> {
    return this.reply(200, await this.found(request));
  }

  async patch(request: RouteRequest): Promise<Reply> {
    return this.reply(200, await this.change(request, changeOf(await readJsonObject(request))));
  }

  async remove(request: RouteRequest): Promise<Reply> {
    await this.change(request, { state: 'deleted' });
    return { status: 204, fields: {} };
  }

  /** Operators see all, others those that they own. */
  private async seenBy(access: Access): Promise<(record: StorageRecord) => boolean> {
    if (await controls(this.platform, this.platform.store, access)) return () => true;
    const subject = access.principal?.subject ?? '';
    return ({ owners, state }) => state !== 'deleted' && owners.includes(subject);
  }

  private async found({ access, parameters: { name = '' } }: RouteRequest): Promise<StorageRecord> {
    const record = this.deployment.get(name);
    if (!record || !(await this.seenBy(access))(record)) throw new LwsError('not-found', 'There is no such storage.');
    return record;
  }

  /** Changes the state that the preconditions of the request name. */
  private async change(request: RouteRequest, wanted: StorageChange): Promise<StorageRecord> {
    const record = await this.found(request);
    assertPreconditions(preconditions(request.req), undated, record.revision, true);
    return this.deployment.change(record.name, { ...wanted, revision: record.revision });
  }

  private shown({ revision: _, id: __, ...record }: StorageRecord): object {
    const { name } = record;
    return { ...record, address: this.deployment.addressOf(name), isOpen: this.deployment.isOpen(name) };
  }

  private reply(status: number, record: StorageRecord): Reply {
    return jsonReply(status, this.shown(record), {
      ETag: formatEntityTag(record.revision),
      ...(status === 201 ? { Location: `${this.url}/${record.name}` } : {}),
    });
  }
}

/** @throws LwsError `malformed-body` */
function changeOf({ owners, settings, state, ...others }: Readonly<Record<string, unknown>>): StorageChange {
  const [other] = Object.keys(others);
  if (other !== undefined)
    throw new LwsError(
      'malformed-body',
      `A storage has name, owners, settings and state, and no ${JSON.stringify(other)}.`,
    );
  if (owners !== undefined && !(Array.isArray(owners) && owners.every((owner) => typeof owner === 'string')))
    throw new LwsError('malformed-body', 'The member owners is a list of URIs.');
  if (settings !== undefined && !isObject(settings))
    throw new LwsError('malformed-body', 'The member settings is an object of settings by their names.');
  if (state !== undefined && state !== 'ready' && state !== 'suspended')
    throw new LwsError('malformed-body', 'The member state is ready or suspended; DELETE removes a storage.');
  return {
    ...(owners === undefined ? {} : { owners: owners as string[] }),
    ...(settings === undefined ? {} : { settings: settings as Record<string, unknown> }),
    ...(state === undefined ? {} : { state }),
  };
}
