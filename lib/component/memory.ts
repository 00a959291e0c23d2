/** Caches, the index of quads in memory, and calls of other endpoints. */
export { countedCache } from '../caches.js';
export type { ServiceAnswer, ServiceCall } from '../query/access/service-call.js';
export { MemoryIndex, mostQuads, quadsInMemory } from '../query/memory/memory-index.js';
export { type GraphChanges, type MemoryAsked, type MemoryBase, MemoryLayers } from '../query/memory/memory-layers.js';
export { assertAllowed, maxServices } from '../query/parse/service-clauses.js';
