/** Keys for round robin between clients. */

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
  /** Aborts when the client disconnects. Must be released. */
  whenGone(): { readonly signal: AbortSignal; readonly release: () => void };
}

/** Not a field of `Access`, which is cached, copied and logged. */
const connections = new HiddenField<Access, Connection>();

export const noteConnection = (access: Access, connection: Connection): void =>
  void connections.set(access, connection);

/** Returns the connection that a caller sent its request by. `undefined` for requests of the server itself. */
export const connectionOf = (access: Access): Connection | undefined => connections.get(access);

/** Returns the subject, or the address of an anonymous or unprivileged caller: identities are free, addresses less so. */
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
