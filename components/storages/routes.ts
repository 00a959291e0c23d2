/** Endpoint for the storages of a deployment: `{prefix}/storages` of the home storage. Its controllers are the operators. */

import { controls } from '../../lib/authorization/guard.js';
import type { Access } from '../../lib/authorization/principal.js';
import type { Platform } from '../../lib/component/contract.js';
import type { Deployment, StorageChange, StorageRecord, Storages } from '../../lib/component/deployment.js';
import { jsonReply, readJsonObject } from '../../lib/http/json-reply.js';
import { pageLinks, pageOf } from '../../lib/http/paging.js';
import type { Reply } from '../../lib/http/reply.js';
import { preconditions } from '../../lib/http/request.js';
import { type Route, type RouteRequest, route } from '../../lib/http/route.js';
import { assertPreconditions, undated } from '../../lib/resources/preconditions.js';
import { LwsError } from '../../lib/tools/errors.js';
import { formatEntityTag } from '../../lib/tools/fields/etag.js';
import { isObject } from '../../lib/tools/json/exact-json.js';
import { SignUp, type SignUpSettings, storageNameIn } from './sign-up.js';

const pageSize = 100;
const quota = 'lws.quota.max-bytes';

export function storageRoutes(platform: Platform, deployment: Deployment, settings: SignUpSettings): readonly Route[] {
  const endpoint = new StoragesEndpoint(platform, deployment, new SignUp(platform, deployment.storages, settings));
  const path = '{prefix}/storages';
  return [
    route('authenticated', `GET HEAD ${path}`, (request) => endpoint.list(request)),
    route('authenticated', `POST ${path}`, (request) => endpoint.make(request)),
    route('controller', `POST ${path}/invitations`, (request) => endpoint.invite(request)),
    route('authenticated', `GET HEAD ${path}/:name`, (request) => endpoint.read(request)),
    route('controller', `POST ${path}/:name/sign-in`, (request) => endpoint.signIn(request)),
    route('controller', `PATCH ${path}/:name`, (request) => endpoint.patch(request)),
    route('controller', `DELETE ${path}/:name`, (request) => endpoint.remove(request)),
  ];
}

class StoragesEndpoint {
  private readonly storages: Storages;

  constructor(
    private readonly platform: Platform,
    private readonly deployment: Deployment,
    private readonly signUp: SignUp,
  ) {
    this.storages = deployment.storages;
  }

  async list({ access, query }: RouteRequest): Promise<Reply> {
    const page = pageOf(query.toString()) ?? 1;
    const isOperator = await this.controls(access);
    const known = this.storages.all();
    const text = query.get('q')?.toLowerCase() ?? '';
    const all = known.filter(seenBy(access, isOperator)).filter(({ name }) => name.includes(text));
    const last = Math.max(1, Math.ceil(all.length / pageSize));
    if (page > last) throw new LwsError('page-not-found', `The list has ${last} pages.`);
    const storages = all.slice((page - 1) * pageSize, page * pageSize).map((record) => this.shown(record));
    const templates = isOperator ? await this.storages.templates() : undefined;
    const open = query.get('open') ?? '';
    const isIt = ({ name, state }: StorageRecord): boolean =>
      state === 'ready' && this.storages.addressOf(name) === open;
    const opens = open !== '' && known.some(isIt);
    const defaults = this.platform.administration.describeSettings().filter(({ name }) => name === quota);
    const shown = {
      ...{ totalItems: all.length, opens, isOperator, signUp: this.signUp.issuers, templates, storages },
      defaults: Object.fromEntries(defaults.map(({ name, value }) => [name, value])),
    };
    const url = text === '' ? this.signUp.url : `${this.signUp.url}?q=${encodeURIComponent(text)}`;
    return jsonReply(200, shown, { Link: pageLinks(url, page, last) });
  }

  async make(request: RouteRequest): Promise<Reply> {
    const body = await readJsonObject(request);
    if (body['invitation'] !== undefined || !(await this.controls(request.access)))
      return this.reply(201, await this.signUp.make(request, body));
    const { name, template, ...given } = body;
    const owners = [request.access.principal?.subject ?? []].flat();
    const wanted = { owners, ...templateOf(template), ...changeOf(given), revision: null };
    return this.reply(201, await this.storages.change(storageNameIn(name), wanted));
  }

  /** Creates an invitation for one storage. */
  async invite(request: RouteRequest): Promise<Reply> {
    const { template, settings, days = 7, ...others } = await readJsonObject(request);
    const given = { ...templateOf(template), ...changeOf({ settings, ...others }) };
    if (given.owners || given.state)
      throw new LwsError('malformed-body', 'An invitation can only have template, settings and days.');
    await this.storages.assertCanBegin(given);
    return jsonReply(201, await this.signUp.invite(given, days));
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

  /** Returns a credential with which an operator signs in to a storage, if this server has the key of the caller. */
  async signIn(request: RouteRequest): Promise<Reply> {
    const { name } = await this.found(request);
    return jsonReply(200, { credential: await this.deployment.signIn(name, request.access.principal?.subject) });
  }

  private controls(access: Access): Promise<boolean> {
    return controls(this.platform, this.platform.store, access);
  }

  private async found({ access, parameters: { name = '' } }: RouteRequest): Promise<StorageRecord> {
    const record = this.storages.get(name);
    if (!record || !seenBy(access, await this.controls(access))(record))
      throw new LwsError('not-found', 'The storage does not exist.');
    return record;
  }

  /** Changes a configuration record, if it is in the state that the preconditions of the request require. */
  private async change(request: RouteRequest, wanted: StorageChange): Promise<StorageRecord> {
    const record = await this.found(request);
    assertPreconditions(preconditions(request.req), undated, record.revision, true);
    return this.storages.change(record.name, { ...wanted, revision: record.revision });
  }

  private shown({ revision: _, id: __, invitation: ___, ownersChange: ____, ...record }: StorageRecord): object {
    const { name } = record;
    const usedBytes = this.deployment.usedBytes(name);
    return { ...record, address: this.storages.addressOf(name), isOpen: this.deployment.isOpen(name), usedBytes };
  }

  private reply(status: number, record: StorageRecord): Reply {
    return jsonReply(status, this.shown(record), {
      ETag: formatEntityTag(record.revision),
      ...(status === 201 ? { Location: `${this.signUp.url}/${record.name}` } : {}),
    });
  }
}

/** Returns a function that tests if the caller can see a record: operators see all records, other callers their own. */
function seenBy({ principal }: Access, isOperator: boolean): (record: StorageRecord) => boolean {
  if (isOperator) return () => true;
  const subject = principal?.subject ?? '';
  return ({ owners, state }) => state !== 'deleted' && owners.includes(subject);
}

/** Reads the member `template`. @throws LwsError `malformed-body` */
function templateOf(template: unknown): StorageChange {
  if (template === undefined) return {};
  if (typeof template !== 'string')
    throw new LwsError('malformed-body', 'The member template must be the name of a template.');
  return { template };
}

/** Reads the changes of a record. @throws LwsError `malformed-body` */
function changeOf({ owners, settings, state, ...others }: Readonly<Record<string, unknown>>): StorageChange {
  const [other] = Object.keys(others);
  if (other !== undefined)
    throw new LwsError(
      'malformed-body',
      `A storage has the members name, owners, settings and state. Remove ${JSON.stringify(other)}.`,
    );
  if (owners !== undefined && !(Array.isArray(owners) && owners.every((owner) => typeof owner === 'string')))
    throw new LwsError('malformed-body', 'The member owners must be a list of URIs.');
  if (settings !== undefined && !isObject(settings))
    throw new LwsError('malformed-body', 'The member settings must be an object with settings by name.');
  if (state !== undefined && state !== 'ready' && state !== 'suspended')
    throw new LwsError(
      'malformed-body',
      'The member state must be ready or suspended. To remove a storage, use DELETE.',
    );
  return {
    ...(owners === undefined ? {} : { owners: owners as string[] }),
    ...(settings === undefined ? {} : { settings: settings as Record<string, unknown> }),
    ...(state === undefined ? {} : { state }),
  };
}
