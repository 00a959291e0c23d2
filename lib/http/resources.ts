/** Last middleware: requests that match no fixed route are for resources. */
import type { IncomingMessage } from 'node:http';
import { clientFor, priorityOf } from '../authorization/client.js';
import type { Access } from '../authorization/principal.js';
import { readTarget, type Target } from '../resources/names.js';
import type { Storage } from '../resources/storage.js';
import type { AppContext } from './app-context.js';
import type { Step } from './exchange.js';
import { addressOf } from './request-log.js';
import type { ResourceExchange } from './resource-exchange.js';
import { resourceReply } from './resource-routes.js';

export const resources =
  (appContext: AppContext): Step =>
  async (ctx) => {
    const { exchange } = ctx.state;
    exchange.route = routeOf(exchange.path);
    exchange.reply = await resourceReply(
      exchangeOf(appContext, ctx, readTarget(ctx.req.url ?? '/', appContext.storage.rootIri)),
    );
  };

/** A request for a resource. */
export function exchangeOf(
  appContext: AppContext,
  { req, res, state }: Parameters<Step>[0],
  target: Target,
): ResourceExchange {
  const { idleMs, description, resourceQuery } = appContext;
  const { access } = state.exchange;
  const address = addressOf(appContext, req) ?? '';
  const storage = isWrite(req) ? sentBy(appContext.storage, access, address) : appContext.storage;
  return { storage, description, resourceQuery, req, res, access, address, target, idleMs };
}

const routeOf = (path: string): string =>
  path.endsWith('.meta') ? 'linkset' : path.endsWith('.acl') ? 'acl' : 'resource';

const isWrite = ({ method }: IncomingMessage): boolean => method === 'PUT' || method === 'POST' || method === 'PATCH';

/** Storage for a received body. Large bodies are queued by client. */
function sentBy(storage: Storage, access: Access, address: string): Storage {
  const sender = async () => {
    const { client, standing } = await clientFor(storage, access, address);
    return { client, rank: priorityOf(standing) };
  };
  // Copying all fields costs as much as looking up the resource, and so does a property descriptor.
  const sent = Object.create(storage) as { -readonly [Name in keyof Storage]: Storage[Name] };
  sent.documents = storage.documents.sentBy(sender);
  return sent;
}
