/** Who asks: from the fields of a request to the access that every decision is about. It must not decide anything. */
import type { Access } from '../authorization/principal.js';
import type { AppContext } from './app-context.js';
import type { Step } from './exchange.js';
import { field } from './request.js';
import { addressOf } from './request-log.js';

type Mutable<T> = { -readonly [K in keyof T]: T[K] };

export const authentication =
  (appContext: AppContext): Step =>
  (ctx, next) => {
    const { req } = ctx;
    const { exchange } = ctx.state;
    const { origin, 'lws-purpose': purpose } = req.headers;
    const establish = (asked: Access): void => {
      const access: Mutable<Access> = { ...asked };
      if (exchange.trace !== undefined) access.trace = exchange.trace;
      if (origin !== undefined) access.origin = origin;
      if (purpose !== undefined) access.purpose = String(purpose);
      exchange.access = access;
    };
    const asked = appContext.authenticator.authenticate({
      authorization: req.headers.authorization,
      proof: field(req, 'dpop'),
      method: req.method ?? 'GET',
      url: appContext.origin + exchange.path,
      address: addressOf(appContext, req) ?? '',
    });
    // Most requests need no promise here.
    if (asked instanceof Promise)
      return asked.then((access) => {
        establish(access);
        return next();
      });
    establish(asked);
    return next();
  };
