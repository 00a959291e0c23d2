/** Steps of a third-party client, the same in Node.js and in a browser. Each step passes or reports its fault. */

export interface Setting {
  /** URI of the storage, with a trailing slash. */
  readonly root: string;
  /** Container of this journey. */
  readonly container: string;
  /** Identity of the owner. */
  readonly owner: string;
  /** Sends requests as the owner. */
  readonly fetch: typeof fetch;
  /** Sends requests as an agent without access. */
  readonly unauthorized: typeof fetch;
}

/** Steps by column name, in order. A step asserts rejections itself. */
export type Journey = Readonly<Record<string, (setting: Setting) => Promise<void>>>;

export interface Outcome {
  readonly step: string;
  /** Undefined if the step passed. */
  readonly fault?: string;
}

/** Runs all steps, also after a failed one. */
export async function take(journey: Journey, setting: Setting): Promise<Outcome[]> {
  const outcomes: Outcome[] = [];
  for (const [step, run] of Object.entries(journey))
    try {
      await run(setting);
      outcomes.push({ step });
    } catch (error) {
      outcomes.push({ step, fault: error instanceof Error ? error.message.slice(0, 300) : String(error) });
    }
  return outcomes;
}

/** Returns a fetch that overrides the client's Authorization field with a credential. */
export const fetchWith =
  (token: string): typeof fetch =>
  (target, init = {}) => {
    const headers = new Headers(init.headers);
    headers.set('Authorization', `Bearer ${token}`);
    return fetch(target, { ...init, headers });
  };

export function must(holds: boolean, what: string): void {
  if (!holds) throw new Error(`assertion failed: ${what}`);
}

/** Asserts that an operation is rejected. */
export async function mustFail(work: Promise<unknown>, what: string): Promise<void> {
  const failed = await work.then(
    () => false,
    () => true,
  );
  must(failed, `${what} is rejected`);
}
