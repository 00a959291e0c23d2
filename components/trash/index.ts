/** Trash: the console moves deleted resources to the trash, and controllers can restore them (rule 26.1). */
import { defineComponent } from '../../lib/component/component.js';
import type { Installation, Platform } from '../../lib/component/contract.js';
import { hourly } from '../../lib/component/hourly.js';
import { jsonReply, readJsonObject } from '../../lib/http/json-reply.js';
import { preconditions } from '../../lib/http/request.js';
import { type Route, route, urlOfRoute } from '../../lib/http/route.js';
import { lws } from '../../lib/rdf/vocabulary.js';
import { Trash, type TrashItem } from '../../lib/resources/trash.js';
import { integer, setting } from '../../lib/settings/settings.js';
import { LwsError } from '../../lib/tools/errors.js';

const settings = {
  days: setting(
    'lws.trash.days',
    integer(0, 3650),
    30,
    'Time after which resources in the trash are deleted permanently, in days. 0: the console deletes permanently.',
    'storage',
  ),
};

const dayMs = 86_400_000;
const pageLength = 200;
const path = '{prefix}/trash';

export default defineComponent({
  name: 'trash',
  settings,
  // True even with 0 days, to delete the remains of interrupted deletions.
  isEnabled: () => true,
  install(platform, { days }) {
    const trash = new Trash(platform.storage);
    // Deletes expired items. With 0 days, deletes only empty items.
    const expire = () => trash.expire(days > 0 ? platform.clock() - days * dayMs : 0);
    return {
      ...(days > 0 ? offered(platform, trash, days) : {}),
      ...hourly(platform, expire, 'expired resources of the trash could not be deleted'),
    };
  },
});

const offered = (platform: Platform, trash: Trash, days: number): Installation => ({
  routes: routesOf(trash, days * dayMs),
  services: [{ type: `${lws.namespace}TrashService`, serviceEndpoint: urlOfRoute(platform, path), days }],
});

function routesOf(trash: Trash, keptMs: number): readonly Route[] {
  const shown = ({ id, from, at, by, record }: TrashItem): object => ({
    ...{ id, from, by },
    deleted: new Date(at).toISOString(),
    expires: new Date(at + keptMs).toISOString(),
    ...(record.kind === 'container' ? { members: record.members } : { mediaType: record.mediaType, size: record.size }),
  });
  return [
    route('controller', `GET HEAD ${path}`, async ({ query }) => {
      const items = await trash.list(query.get('before') ?? undefined, pageLength);
      const next = items.length === pageLength ? { next: items.at(-1)!.id } : {};
      return jsonReply(200, { days: keptMs / dayMs, items: items.map(shown), ...next });
    }),
    route('controller', `POST ${path}`, async (request) => {
      const { iri } = await readJsonObject(request);
      if (typeof iri !== 'string') throw new LwsError('bad-request', 'The member iri must be the IRI of a resource.');
      return jsonReply(201, { id: await trash.put(request.access, iri, preconditions(request.req)) });
    }),
    route('controller', `POST ${path}/:id`, async ({ access, parameters }) =>
      jsonReply(200, { iri: (await trash.restore(access, parameters['id']!)).iri }),
    ),
    route('controller', `DELETE ${path}/:id`, async ({ access, parameters }) => {
      await trash.delete(access, parameters['id']!);
      return { status: 204, fields: {} };
    }),
  ];
}
