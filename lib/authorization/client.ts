/** Identifies clients, for round robin and rate limits. */

import { clientOf } from '../tools/fields/client-address.js';
import { HiddenField } from '../tools/hidden-field.js';
import type { Authorizer, CallerClass, View } from './authorizer.js';
import type { Access } from './principal.js';

export interface Client {
  readonly callerClass: CallerClass;
  readonly client: string;
}

/** Caller classes by priority. */
const order: readonly CallerClass[] = ['controller', 'known', 'stranger'];
export const priorityOf = (callerClass: CallerClass): number => order.indexOf(callerClass);

/** Connection of a request. */
interface Connection {
  readonly address: string;
  /** Returns a signal that aborts when the client disconnects. The caller must call `release` afterwards. */
  whenGone(): { readonly signal: AbortSignal; readonly release: () => void };
}

/** Connections of requests. They are not a field of `Access`, because `Access` objects are cached, copied and logged. */
const connections = new HiddenField<Access, Connection>();

export const noteConnection = (access: Access, connection: Connection): void =>
  void connections.set(access, connection);

/** Returns the connection of a caller's request, or `undefined` for requests of the server itself. */
export const connectionOf = (access: Access): Connection | undefined => connections.get(access);

/** Returns the client of a caller: the subject, or the address of an anonymous or unprivileged caller. */
export async function clientFor(
  { authorizer, store }: { readonly authorizer: Authorizer; readonly store: View },
  access: Access,
  address: string,
): Promise<Client> {
  const callerClass = await authorizer.callerClass(store, access);
  return {
    callerClass,
    client: (callerClass === 'stranger' ? undefined : access.principal?.subject) ?? clientOf(address),
  };
}
