/**
 * The client-managed links of a resource as a graph named by its linkset (rule 14.2): kept beside the links, so that
 * queries meet it like any other graph.
 */
import type { Quad } from '@rdfjs/types';
import { DataFactory } from 'rdf-data-factory';
import { isAbsoluteIri } from '../rdf/iri.js';
import { rdf } from '../rdf/vocabulary.js';
import { entryBlocks, type Level, writeBatch } from '../storage/engine/durable-level.js';
import { keptOrders } from '../storage/engine/growth.js';
import { encodeGraph } from '../storage/graphs/quad-keys.js';
import { entryRange, partsOfEntry } from '../storage/state/records.js';
import { type ClientLinks, declaredTypes, linkedValues, registered } from './linkset.js';
import { linksetOf } from './names.js';

/** The entries of client-managed links; the value is all that the graph of a linkset is made of. */
export const allLinks = entryRange('links');

const factory = new DataFactory<Quad>();

/** The GSPO keys of the graph. */
export const linksetGraph = (links: ClientLinks, iri: string): string[] =>
  encodeGraph(linksetOf(iri), linksetQuads(links, iri));

/** Declared types as `rdf:type`, targets as IRIs, literals as strings. */
export function linksetQuads(links: ClientLinks, iri: string): Quad[] {
  const subject = factory.namedNode(iri);
  const type = factory.namedNode(rdf.type);
  const quads = declaredTypes(links).map((name) => factory.quad(subject, type, factory.namedNode(name)));
  for (const [relation, { href, literal }] of linkedValues(links, iri)) {
    const predicate = relation.includes(':') ? relation : registered + relation;
    if (!isAbsoluteIri(predicate)) continue;
    const object = href === undefined ? factory.literal(literal!) : factory.namedNode(href);
    quads.push(factory.quad(subject, factory.namedNode(predicate), object));
  }
  return quads;
}

/** Writes the graphs of linksets that have none: those of servers that did not keep them. It may be broken off and begun again. */
export async function writeLinksetGraphs(level: Level): Promise<void> {
  const orders = keptOrders(level);
  for await (const entries of entryBlocks(level, allLinks))
    for (const [entry, value] of entries) {
      const keys = linksetGraph(JSON.parse(value) as ClientLinks, partsOfEntry(entry)[1]!);
      if (keys.length === 0 || (await level.hasMany(keys)).every(Boolean)) continue;
      const fill = (batch: { put(key: string, value: string): unknown }): void => {
        for (const key of keys) orders.put(batch, key);
      };
      await writeBatch(level, fill, () => [entry, value]);
    }
}
