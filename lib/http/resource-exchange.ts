/** A request for a resource and its response. */
import type { IncomingMessage } from 'node:http';
import type { Access } from '../authorization/principal.js';
import type { RequestBody } from '../resources/body.js';
import type { Target } from '../resources/names.js';
import type { Storage } from '../resources/storage.js';
import type { InteractionModel } from '../resources/types.js';
import type { ResourceMethods, ResourceQuery } from './route.js';
import type { StorageDescription } from './storage-description.js';

export interface ResourceExchange {
  readonly storage: Storage;
  readonly description: StorageDescription;
  readonly resourceQuery: ResourceQuery | undefined;
  readonly resourceMethods?: ResourceMethods | undefined;
  readonly req: IncomingMessage;
  readonly access: Access;
  /** Client address. */
  readonly address: string;
  readonly target: Target;
  /** Required kind of the target, if the URL implies it. */
  readonly model?: InteractionModel;
  /** Returns the unread body. @throws LwsError as `requestBody` */
  readonly body: () => RequestBody;
}
