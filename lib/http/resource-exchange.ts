/** A request for a resource and its response. */
import type { IncomingMessage } from 'node:http';
import type { Access } from '../authorization/principal.js';
import type { RequestBody } from '../resources/body.js';
import type { Target } from '../resources/names.js';
import type { Preconditions } from '../resources/preconditions.js';
import type { Storage } from '../resources/storage.js';
import type { InteractionModel } from '../resources/types.js';
import type { StateCondition } from '../tools/fields/if-states.js';
import type { Reply } from './reply.js';
import { preconditions } from './request.js';
import type { ResourceMethods, ResourceQuery } from './route.js';
import type { StorageDescription } from './storage-description.js';

/** Earlier states of resources, which a component stores. */
export interface EarlierStates {
  /**
   * True if the resource has earlier states, or its present state will be kept. Without an IRI: if any resource has. Responses
   * then have `Vary: Accept-Datetime`.
   */
  isUsed(iri?: string): boolean;
  /**
   * Responds to a request for earlier states of a resource, or of the linkset of `described`.
   * @returns `undefined` for the present state
   * @throws LwsError
   */
  reply(exchange: ResourceExchange, described?: string): Promise<Reply> | undefined;
}

export interface ResourceExchange {
  readonly storage: Storage;
  readonly description: StorageDescription;
  readonly resourceQuery: ResourceQuery | undefined;
  readonly resourceMethods?: ResourceMethods | undefined;
  readonly earlierStates?: EarlierStates | undefined;
  readonly req: IncomingMessage;
  readonly access: Access;
  /** Set if DELETE, MOVE, COPY and `If` follow WebDAV (rules 25.8 to 25.11). */
  readonly webDav?: { readonly stateLists: readonly (readonly StateCondition[])[] | undefined };
  /** Client address. */
  readonly address: string;
  readonly target: Target;
  /** Required kind of the target, if the URL implies a kind. */
  readonly model?: InteractionModel;
  /** Returns the unread body. @throws LwsError as `requestBody` */
  readonly body: () => RequestBody;
}

/** Returns the preconditions of a request. @throws LwsError `bad-request` */
export function preconditionsOf({ req, webDav }: Pick<ResourceExchange, 'req' | 'webDav'>): Preconditions {
  const found = preconditions(req);
  return webDav?.stateLists ? { ...found, stateLists: webDav.stateLists } : found;
}
