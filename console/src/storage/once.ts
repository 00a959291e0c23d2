/** Caches responses that several callers use. */
import { onSession } from '../session/session.js';

/** Returns a function that caches a response for a time, at most until another user signs in. Errors are not cached. */
export function once<T>(ask: () => Promise<T>, keepMs = Number.POSITIVE_INFINITY): () => Promise<T> {
  let answer: Promise<T> | undefined;
  let until = 0;
  onSession(() => {
    answer = undefined;
  });
  return () => {
    if (answer && Date.now() < until) return answer;
    const asked = ask();
    answer = asked;
    until = Date.now() + keepMs;
    asked.catch(() => {
      if (answer === asked) answer = undefined;
    });
    return asked;
  };
}
