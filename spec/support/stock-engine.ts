/** Comunica's stock engine with its own operators, the oracle of specs. */
type Engine = import('@comunica/query-sparql-rdfjs').QueryEngine;
let engine: Promise<Engine> | undefined;

/** Loads the engine, which takes half a second. */
export function loadStockEngine(): Promise<Engine> {
  engine ??= import('@comunica/query-sparql-rdfjs').then(({ QueryEngine }) => new QueryEngine());
  return engine;
}
