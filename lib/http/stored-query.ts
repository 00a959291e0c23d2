/** `GET <resource>?run`: a query that is a resource is run. */
import { requireAccess } from '../authorization/guard.js';
import { blobBytes } from '../resources/read.js';
import type { Reply } from './reply.js';
import type { ResourceExchange } from './resource-exchange.js';

/** Whether a request wants to run what it names. */
export const isRun = ({ req, target, resourceQuery }: ResourceExchange): boolean =>
  resourceQuery !== undefined &&
  (req.method === 'GET' || req.method === 'HEAD') &&
  target.query !== undefined &&
  new URLSearchParams(target.query).has('run');

/** Runs it with the rights of who asks, who has to be able to read it. @throws LwsError whatever refuses it */
export async function runReply(exchange: ResourceExchange): Promise<Reply> {
  const { storage, resourceQuery, req, access, address, target } = exchange;
  const guard = async () => requireAccess(storage, storage.store, access, 'read', target.iri);
  const record = await guard();
  return resourceQuery!.run({
    access,
    address,
    req,
    record,
    parameters: new URLSearchParams(target.query),
    bytes: () => blobBytes(storage, record),
    guard,
  });
}
