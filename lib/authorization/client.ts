/** Whose work something is, where clients take turns. */
import { clientOf } from '../fields/client-address.js';
import type { Authorizer, CallerClass, View } from './authorizer.js';
import type { Access } from './principal.js';

export interface Client {
  readonly standing: CallerClass;
  readonly client: string;
}

/** Who comes first. */
const order: readonly CallerClass[] = ['controller', 'known', 'stranger'];
export const priorityOf = (standing: CallerClass): number => order.indexOf(standing);

/** The subject, or the address of a stranger: identities are free, and addresses less so. */
export async function clientFor(
  { authorizer, store }: { readonly authorizer: Authorizer; readonly store: View },
  access: Access,
  address: string,
): Promise<Client> {
  const standing = await authorizer.standing(store, access);
  return { standing, client: (standing === 'stranger' ? undefined : access.principal?.subject) ?? clientOf(address) };
}
