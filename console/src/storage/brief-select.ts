/** Queries that the console sends without a user action. Their time limit is short, to limit the load on a large storage. */
import { select } from './api.js';

/** Time limits in seconds. Within the longer limit, the server can start a query thread and build the index. */
const [usual, patient] = [2, 20];
let seconds = patient;

/**
 * Returns the rows of a SELECT within a short time limit. The limit is longer for the first query of a page, and after a query
 * that failed: at the time limit, the server ends the thread, and the next query starts a new thread.
 * @throws Refusal with the server's message
 */
export async function selectBriefly(query: string): ReturnType<typeof select> {
  const limit = seconds;
  try {
    const rows = await select(query, undefined, limit);
    seconds = usual;
    return rows;
  } catch (error) {
    // If a query with the longer limit fails, the storage is too large: the short limit is used.
    seconds = limit === usual ? patient : usual;
    throw error;
  }
}
