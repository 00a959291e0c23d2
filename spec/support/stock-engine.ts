/** Comunica's stock engine, the oracle of the specs: it evaluates with its own operators what the server compiles. */
type Engine = import('@comunica/query-sparql-rdfjs').QueryEngine;
let engine: Promise<Engine> | undefined;

/** Loads it, which takes half a second. */
export function loadStockEngine(): Promise<Engine> {
  engine ??= import('@comunica/query-sparql-rdfjs').then(({ QueryEngine }) => new QueryEngine());
  return engine;
}
