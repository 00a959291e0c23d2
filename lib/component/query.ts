/** The query engine, for threads. */
export { type GraphScope, readableGraphs } from '../query/access/readable-graphs.js';
export { type Algebra, type AlgebraFactory, loadAlgebraFactory } from '../query/algebra.js';
export { type AskOptions, answersOf, type QueryAnswers } from '../query/answers.js';
export { BlockStream } from '../query/block-stream.js';
export { type GraphUpdate, graphUpdates } from '../query/change-set.js';
export { keysFor, NeedsIndexError } from '../query/dataset.js';
export { computeUpdate, type UpdateOptions } from '../query/graphs-update.js';
export { checkOf } from '../query/limits.js';
export { type ExplainedPart, Observed } from '../query/operators/explain.js';
export type { Parameters, ParameterTerm } from '../query/parse/parameters.js';
export { parseQuery, type ReadQuery } from '../query/parse/parse-query.js';
export { nodesOf } from '../query/parse/query-scopes.js';
export { readGraphsUpdate } from '../query/parse/read-update.js';
export { loadParser } from '../query/parse/sparql-parser.js';
export { unknownFunctions } from '../query/plan/compile-expression.js';
export { contextOf, loadQueryEngine, loadStockEngine } from '../query/query-engine.js';
export { makeBindings, querySource } from '../query/query-source.js';
export { snapshotState } from '../query/state-before.js';
