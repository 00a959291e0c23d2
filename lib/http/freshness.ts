/** Where several servers serve a storage, every request is answered with what any of them acknowledged before it came. */
import type { AppContext } from './app-context.js';
import type { Step } from './exchange.js';

export function freshness({ storage: { store, rootIri, systemPrefix } }: AppContext): Step {
  const { shared } = store;
  if (!shared) return (_ctx, next) => next();
  // A server lives without its database, and has to be left alone then.
  const live = `${new URL(rootIri).pathname.slice(0, -1)}${systemPrefix}/health/live`;
  return ({ state }, next) => (state.exchange.path === live ? next() : shared.freshen().then(next));
}
