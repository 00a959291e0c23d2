/** Graphs as ordered keys. */
export { subjectRange } from '../storage/graphs/committed-graphs.js';
export { type GraphChange, laidOver } from '../storage/keys/graph-changes.js';
export { GraphCursor } from '../storage/graphs/graph-cursor.js';
export { PackedKeys } from '../storage/keys/graph-keys.js';
export { defaultTurtle, isLargeGraph, lineWriter } from '../storage/graphs/graph-lines.js';
export { hiddenGraphs } from '../storage/graphs/hidden-keys.js';
export { sortKeys } from '../storage/keys/key-order.js';
export {
  type IriStatement,
  type KeySource,
  ofShortGraph,
  ownStatements,
  statementReader,
} from '../storage/keys/own-statements.js';
export { decodeGraph } from '../storage/keys/quad-decoding.js';
export { encodeGraph, encodeQuads, graphPrefix, indexNames, layoutOf, separator } from '../storage/keys/quad-keys.js';
export { quadsOf } from '../storage/transactions/quads.js';
export { RememberedHidden } from '../storage/transactions/remembered-hidden.js';
