/** Graphs as ordered keys. */
export { subjectRange } from '../storage/graphs/committed-graphs.js';
export { type GraphChange, laidOver } from '../storage/graphs/graph-changes.js';
export { GraphCursor } from '../storage/graphs/graph-cursor.js';
export { PackedKeys } from '../storage/graphs/graph-keys.js';
export { defaultTurtle, isLargeGraph, lineWriter } from '../storage/graphs/graph-lines.js';
export { hiddenGraphs } from '../storage/graphs/hidden-keys.js';
export { sortKeys } from '../storage/graphs/key-order.js';
export {
  type IriStatement,
  type KeySource,
  ofShortGraph,
  ownStatements,
  statementReader,
} from '../storage/graphs/own-statements.js';
export { decodeGraph } from '../storage/graphs/quad-decoding.js';
export { encodeGraph, encodeQuads, graphPrefix, indexNames, layoutOf, separator } from '../storage/graphs/quad-keys.js';
export { quadsOf } from '../storage/graphs/quads.js';
export { RememberedHidden } from '../storage/graphs/remembered-hidden.js';
