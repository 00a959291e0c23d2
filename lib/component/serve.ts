/** What the script of a thread is made with. */
export { assertWanted, type Caller, hold, isEnding, release, serve, threadData } from '../threads/serve.js';
