/** Queries that the console sends by itself, with a short time limit: a large storage must not work long for them. */
import { select } from './api.js';

/** Time limits in seconds. Within the longer one, the server can start a query thread and build its index. */
const [usual, patient] = [2, 20];
let seconds = patient;

/**
 * Rows of a SELECT within a short time. The first query of a page has a longer limit, and so has the query after one that failed: at
 * its limit, the server ends the thread that was starting, and the next query begins with a new one.
 * @throws Refusal with the server's message
 */
export async function selectBriefly(query: string): ReturnType<typeof select> {
  const limit = seconds;
  try {
    const rows = await select(query, undefined, limit);
    seconds = usual;
    return rows;
  } catch (error) {
    // After a long query that failed, the storage is too large.
    seconds = limit === usual ? patient : usual;
    throw error;
  }
}
