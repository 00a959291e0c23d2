/** The second door, `quadpod/component/store`: for components that read and write keys, such as an index or a format. It changes with the store. */
export * from './blobs.js';
export * from './entries.js';
export * from './graphs.js';
export * from './level.js';
export * from './store.js';
