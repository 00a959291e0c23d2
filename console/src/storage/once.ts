/** Answers that are asked for once by many. */
import { onSession } from '../session/session.js';

/** Keeps the answer for so many milliseconds, until somebody else is signed in at the longest; a failure is not kept. */
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
