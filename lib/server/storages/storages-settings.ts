/** The settings of a deployment with many storages (`lws.storages.*`). */
import { integer, list, optional, setting, text } from '../../settings.js';

export const storagesSettings = {
  storagesAddress: setting(
    'lws.storages.address',
    optional(text('an http or https URI with {name} as its first label or its last segment')),
    null,
    'Where further storages are: https://{name}.pods.example/, or https://pods.example/{name}/; nothing: there are none.',
  ),
  storagesMax: setting(
    'lws.storages.max',
    integer(0),
    10_000,
    'Storages that there may be, besides that of lws.base-uri.',
  ),
  storagesOpen: setting(
    'lws.storages.max-open',
    integer(1),
    200,
    'Of these, open at once; who used one last keeps it.',
  ),
  storagesIdle: setting(
    'lws.storages.idle-seconds',
    integer(10),
    300,
    'Seconds after which a storage is closed that nobody asks; the next request opens it again.',
  ),
  storagesQuota: setting(
    'lws.storages.quota-bytes',
    integer(0),
    1 << 30,
    'The quota, in bytes, of a storage whose record gives none; 0: no limit.',
  ),
  storagesKept: setting(
    'lws.storages.kept-days',
    integer(0, 3650),
    30,
    'Days that a removed storage is kept, and its name is taken.',
  ),
  storagesTemplates: setting(
    'lws.storages.templates',
    optional(text('a folder')),
    null,
    'A folder with a folder for each template: files that a new storage begins with; {{name}}, {{owner}} and {{storage}} in .ttl and .acl files stand for its own.',
  ),
  storagesReserved: setting(
    'lws.storages.reserved-names',
    list,
    [] as readonly string[],
    'Names that no storage gets, besides www, api, app, admin, mail, home and callback.',
  ),
} as const;
