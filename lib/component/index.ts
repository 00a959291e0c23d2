/** The kit, `quadpod/component`: what a component of anybody's is written with. */
export * from './access.js';
export * from './basics.js';
export { askServer, CommandError } from './commands.js';
export * from './entries.js';
export * from './exchange.js';
export * from './fields.js';
export * from './http.js';
export type { Store, Transaction } from './store.js';
export * from './vocabulary.js';

/** Raised where something that the kit exports goes, or means another thing. */
export const kitVersion = 1;
