/** What Comunica answers, for a query that is not compiled, over patterns and joins of the engine. It must not know formats. */
import { KeysQueryOperation } from '@comunica/context-entries';
import type { Quad } from '@rdfjs/types';
import { addNew } from '../../../lib/query/access/collections.js';
import { matchesOf } from '../../../lib/query/dataset.js';
import type { ReadQuery } from '../../../lib/query/parse/read-query.js';
import { loadEngine } from '../../../lib/query/parse/sparql-update.js';
import { createQuerySource } from '../../../lib/query/query-source.js';
import type { Row } from '../results/result-writers.js';
import type { AskOptions, QueryAnswers } from './answers.js';

interface BindingsLike {
  get(name: string): Row[number];
}

export function comunicaAnswers({ algebra, variables, base }: ReadQuery, options: AskOptions): QueryAnswers {
  const source = createQuerySource({ ...options, open: () => matchesOf(options, options.assertTime ?? (() => {})) });
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
