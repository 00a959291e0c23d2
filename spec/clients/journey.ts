/** What a client of others is taken through, in Node and in a browser alike: each step works, or says why not. */

export interface Setting {
  /** The storage's URI, with a slash at its end. */
  readonly root: string;
  /** A container of the journey's own. */
  readonly container: string;
  /** The identity of the owner. */
  readonly owner: string;
  /** Asks as the owner. */
  readonly fetch: typeof fetch;
  /** Asks as somebody who owns nothing. */
  readonly strangers: typeof fetch;
}

/** Steps by the name of their column, in their order. A step that must fail asserts that itself. */
export type Journey = Readonly<Record<string, (setting: Setting) => Promise<void>>>;

export interface Outcome {
  readonly step: string;
  /** Absent: it worked. */
  readonly fault?: string;
}

/** Takes all steps, also after one that fails. */
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

/** A fetch that carries a credential, whatever the client hands over. */
export const fetchWith =
  (token: string): typeof fetch =>
  (target, init = {}) => {
    const headers = new Headers(init.headers);
    headers.set('Authorization', `Bearer ${token}`);
    return fetch(target, { ...init, headers });
  };

export function must(holds: boolean, what: string): void {
  if (!holds) throw new Error(`not so: ${what}`);
}

/** Asserts that something is refused. */
export async function mustFail(work: Promise<unknown>, what: string): Promise<void> {
  const failed = await work.then(
    () => false,
    () => true,
  );
  must(failed, `${what} is refused`);
}
