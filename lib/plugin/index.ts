/** `quadpod/plugin`: everything that components outside the core import. Each name is documented in docs/component.md. */

export { askServer } from '../component/commands.js';
export * from './blobs.js';
export * from './certificates.js';
export * from './component.js';
export * from './coordination.js';
export * from './credentials.js';
export * from './formats.js';
export * from './requests.js';
export * from './state.js';
export * from './xml.js';
