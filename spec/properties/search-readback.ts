/** Model of the content of a storage, for comparison with a search. Independent of the index. */
import type { Term } from '@rdfjs/types';
import { linksetState } from '../../lib/resources/linkset-write.js';
import type { Storage } from '../../lib/resources/storage.js';
import { decodeGraph } from '../../lib/storage/keys/quad-decoding.js';
import { recordBlocks } from '../../lib/storage/level/all-records.js';
import { root } from '../support/memory-store.js';
import { Model } from './search-model.js';

/** Builds the model from the graphs and linksets of a storage. */
export async function modelOf(storage: Storage): Promise<Model> {
  const model = new Model(root);
  for await (const records of recordBlocks(storage.store))
    for (const record of records) {
      const { iri, owner } = record;
      const keys = (await storage.store.graph(iri))?.keys ?? [];
      const triples = decodeGraph(keys).map(
        ({ subject, predicate, object }) => [text(subject), text(predicate), text(object)] as const,
      );
      const [
        {
          type: [, ...types],
          ...links
        },
      ] = JSON.parse(linksetState(storage, storage.store, record).bytes.toString()).linkset;
      const targetsOf = (list: { href: string }[]): string[] => list.map(({ href }) => href);
      model.put(iri, { owner, triples });
      model.setLinks(
        iri,
        Object.entries({ ...links, type: types }).flatMap(([name, list]) =>
          Array.isArray(list) ? [[name, targetsOf(list)] as const] : [],
        ),
      );
    }
  return model;
}
const text = ({ termType, value }: Term): string =>
  termType === 'NamedNode' ? `<${value}>` : `"${termType} ${value}"`;
