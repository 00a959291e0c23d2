/** A request for a resource, and what it is answered with and from. */
import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Access } from '../authorization/principal.js';
import type { Target } from '../resources/names.js';
import type { Storage } from '../resources/storage.js';
import type { InteractionModel } from '../resources/types.js';
import type { ResourceQuery } from './route.js';
import type { StorageDescription } from './storage-description.js';

export interface ResourceExchange {
  readonly storage: Storage;
  readonly description: StorageDescription;
  readonly resourceQuery: ResourceQuery | undefined;
  readonly req: IncomingMessage;
  readonly res: ServerResponse;
  readonly access: Access;
  /** The client's address. */
  readonly address: string;
  readonly target: Target;
  /** What the target must be, when the address says so. */
  readonly model?: InteractionModel;
  /** Milliseconds that a client may pause within a body. */
  readonly idleMs: number;
}
