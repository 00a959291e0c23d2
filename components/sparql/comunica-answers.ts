/** What Comunica answers, for a query that is not compiled, over patterns and joins of the engine. It must not know formats. */
import { KeysQueryOperation } from '@comunica/context-entries';
import type { Quad } from '@rdfjs/types';
import { loadEngine } from '../../lib/storage/sparql-update.js';
import type { QueryAnswers } from './answers.js';
import { addNew } from './engine/collections.js';
import { createQuerySource } from './engine/query-source.js';
import type { RunOptions } from './engine/run.js';
import type { ReadQuery } from './read-query.js';
import type { Row } from './result-writers.js';

interface BindingsLike {
  get(name: string): Row[number];
}

export function comunicaAnswers({ algebra, variables, base }: ReadQuery, options: RunOptions): QueryAnswers {
  const source = createQuerySource(options);
  const context = { [KeysQueryOperation.querySources.name]: [{ source }], baseIRI: base, readOnly: true } as never;
  return {
    async *rows() {
      const bindings = await (await loadEngine()).queryBindings(algebra as never, context);
      for await (const binding of bindings as unknown as AsyncIterable<BindingsLike>)
        yield [variables.map((name) => binding.get(name))];
    },
    truth: async () => (await loadEngine()).queryBoolean(algebra as never, context),
    async *quads() {
      const quads = await (await loadEngine()).queryQuads(algebra as never, context);
      const seen = new Set<string>();
      for await (const quad of quads as unknown as AsyncIterable<Quad>) {
        const { subject, predicate, object } = quad;
        const key = [subject, predicate, object].map((term) => JSON.stringify(term)).join();
        if (addNew(seen, key)) yield [quad];
      }
    },
    close: () => source.close(),
  };
}
