/** Additional owners: `{prefix}/owners`, for controllers. The console adds a browser's identity here. Any URI is accepted. */

import { LwsError, type Platform } from '../../lib/plugin/component.js';
import {
  type AddedOwner,
  type AddedOwners,
  controls,
  isIdentity,
  jsonReply,
  type Reply,
  type Route,
  type RouteRequest,
  readJsonObject,
  route,
} from '../../lib/plugin/requests.js';
import type { Transaction } from '../../lib/plugin/state.js';

const maxOwners = 100;
const [longestId, longestName] = [2_000, 200];

export function ownerRoutes({
  store,
  rootIri: storage,
  authorizer,
  clock,
  administration,
}: Platform): readonly Route[] {
  /** Asserts control. Repeated within the transaction: the caller may have been removed while the body arrived (rule 2.6). */
  const assertControl = async (view: Transaction, { access }: RouteRequest): Promise<void> => {
    if (!(await controls({ rootIri: storage, authorizer }, view, access)))
      throw new LwsError('forbidden', 'This requires an owner.');
  };
  // Access control lists define the controllers: edit the list of the root instead.
  const { addedOwners } = administration;
  if (!addedOwners) return [];
  const path = '{prefix}/owners';
  return [
    route('controller', `GET HEAD ${path}`, () => jsonReply(200, { owners: addedOwners.all.map(shown) })),
    route('controller', `POST ${path}`, async (request) => {
      const owner = await ownerOf(request, clock());
      await store.transact(async (tx) => {
        await assertControl(tx, request);
        assertRoom(addedOwners, owner.id);
        tx.actor = owner.by;
        addedOwners.stage(tx, owner);
      });
      return jsonReply(201, shown(owner));
    }),
    route('controller', `DELETE ${path}`, async (request): Promise<Reply> => {
      const id = request.query.get('id') ?? '';
      await store.transact(async (tx) => {
        await assertControl(tx, request);
        if (!addedOwners.has(id))
          throw new LwsError(
            'not-found',
            'No added owner has this URI. Owners of lws.owners are removed in that setting.',
          );
        addedOwners.stageRemoval(tx, id);
      });
      return { status: 204, fields: {} };
    }),
  ];
}

const shown = ({ added, ...owner }: AddedOwner): object => ({ ...owner, added: new Date(added).toISOString() });

function assertRoom(owners: AddedOwners, id: string): void {
  if (!owners.has(id) && owners.all.length >= maxOwners)
    throw new LwsError('conflict', `The limit of ${maxOwners} added owners is reached. Remove one first.`);
}

async function ownerOf(request: RouteRequest, now: number): Promise<AddedOwner> {
  const { id, name } = await readJsonObject(request);
  if (typeof id !== 'string' || id.length > longestId || !isIdentity(id))
    throw new LwsError('bad-request', 'The member id must be the URI of the new owner, such as a complete did:key.');
  if (typeof name !== 'string' || name.trim() === '' || name.length > longestName)
    throw new LwsError('bad-request', `The member name must be a display name of at most ${longestName} characters.`);
  return { id, name: name.trim(), added: now, by: request.access.principal!.subject };
}
