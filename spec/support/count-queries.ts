/**
 * Preloaded into a server process and its worker threads. Writes a line to stderr for each call of Comunica's QueryEngine,
 * without changing its results.
 */
import { writeSync } from 'node:fs';
import { QueryEngineBase } from '@comunica/actor-init-query';

for (const method of ['queryBindings', 'queryQuads', 'queryBoolean', 'queryVoid'] as const) {
  const original = QueryEngineBase.prototype[method] as (...args: unknown[]) => unknown;
  Object.assign(QueryEngineBase.prototype, {
    [method](this: unknown, ...args: unknown[]) {
      const { type } = args[0] as { type: string };
      writeSync(2, `QueryEngine.${method} ${type}\n`);
      return original.apply(this, args);
    },
  });
}
