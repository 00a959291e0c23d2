/** Plug-in API: servers that share a storage. */
export type { JoinServers } from '../storage/transactions/coordination.js';
