/** The work on documents that threads do. */
export { tasks } from '../documents/document-tasks.js';
