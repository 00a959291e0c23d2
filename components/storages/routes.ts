/** The storages of a deployment over HTTP: `{prefix}/storages` of the storage of `lws.base-uri`, whose controllers are the operators. */
import { type Access, controls } from '../../lib/component/access.js';
import { LwsError, type Platform } from '../../lib/component/basics.js';
import type { Deployment, StorageChange, StorageRecord } from '../../lib/component/deployment.js';
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
} from '../../lib/component/http.js';

const pageSize = 100;

export function storageRoutes(platform: Platform, deployment: Deployment): readonly Route[] {
  const { baseUri, systemPrefix, store } = platform;
  const url = `${baseUri}${systemPrefix}/storages`;
  const path = '{prefix}/storages';
  const member = `${path}/:name`;
  /** Operators see all, others those that they own. */
  const seen = async (access: Access): Promise<(record: StorageRecord) => boolean> => {
    if (await controls(platform, store, access)) return () => true;
    const subject = access.principal?.subject ?? '';
    return ({ owners, state }) => state !== 'deleted' && owners.includes(subject);
  };
  const found = async ({ access, parameters: { name = '' } }: RouteRequest): Promise<StorageRecord> => {
    const record = deployment.get(name);
    if (!record || !(await seen(access))(record)) throw new LwsError('not-found', 'There is no such storage.');
    return record;
  };
  const shown = ({ revision: _, id: __, ...record }: StorageRecord): object => ({
    ...record,
    address: deployment.addressOf(record.name),
    isOpen: deployment.isOpen(record.name),
  });
  const reply = (status: number, record: StorageRecord): Reply =>
    jsonReply(status, shown(record), {
      ETag: formatEntityTag(record.revision),
      ...(status === 201 ? { Location: `${url}/${record.name}` } : {}),
    });
  /** What a change has to find: the state that its preconditions name. */
  const change = async (request: RouteRequest, wanted: StorageChange): Promise<StorageRecord> => {
    const record = await found(request);
    assertPreconditions(preconditions(request.req), { modified: Number.POSITIVE_INFINITY }, record.revision, true);
    return deployment.change(record.name, { ...wanted, revision: record.revision });
  };
  return [
    {
      methods: ['GET', 'HEAD'],
      path,
      access: 'authenticated',
      async handle({ access, query }) {
        const page = pageOf(query.toString()) ?? 1;
        const all = deployment.all().filter(await seen(access));
        const last = Math.max(1, Math.ceil(all.length / pageSize));
        if (page > last) throw new LwsError('page-not-found', `There are ${last} pages.`);
        const storages = all.slice((page - 1) * pageSize, page * pageSize).map(shown);
        return jsonReply(200, { totalItems: all.length, storages }, { Link: pageLinks(url, page, last) });
      },
    },
    {
      methods: ['POST'],
      path,
      access: 'controller',
      async handle(request) {
        const { name, ...given } = await readJsonObject(request);
        if (typeof name !== 'string')
          throw new LwsError('malformed-body', 'The member name is the name of the storage.');
        const owners = [request.access.principal?.subject ?? []].flat();
        return reply(201, await deployment.change(name, { owners, ...changeOf(given), revision: null }));
      },
    },
    {
      methods: ['GET', 'HEAD'],
      path: member,
      access: 'authenticated',
      handle: async (request) => reply(200, await found(request)),
    },
    {
      methods: ['PATCH'],
      path: member,
      access: 'controller',
      handle: async (request) => reply(200, await change(request, changeOf(await readJsonObject(request)))),
    },
    {
      methods: ['DELETE'],
      path: member,
      access: 'controller',
      async handle(request) {
        await change(request, { state: 'deleted' });
        return { status: 204, fields: {} };
      },
    },
  ];
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
