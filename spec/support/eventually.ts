import { patience } from './patience.js';

/** Polls until a condition holds. @throws Error after the given time */
export async function eventually(look: () => Promise<boolean>, what: string, milliseconds = 10_000): Promise<void> {
  for (const limit = performance.now() + milliseconds * patience; !(await look()); ) {
    if (performance.now() > limit) throw new Error(`timed out waiting until ${what}`);
    await new Promise((resolve) => setTimeout(resolve, 20));
  }
}
