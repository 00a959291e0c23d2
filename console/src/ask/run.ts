/** One query on its way: how long it takes, and what became of it. */
import { messageOf, Refusal } from '../storage/api.js';
import { type Answer, ask } from './answer.js';

export type State =
  | { readonly is: 'idle' }
  | { readonly is: 'running'; readonly since: number }
  | { readonly is: 'ended'; readonly milliseconds: number }
  | {
      readonly is: 'refused';
      readonly milliseconds: number;
      readonly message: string;
      readonly status: number;
      readonly query: string;
    }
  | { readonly is: 'answered'; readonly milliseconds: number; readonly answer: Answer; readonly query: string };

export class Run {
  state: State = { is: 'idle' };
  private controller: AbortController | undefined;

  /** @param changed called whenever the state is another one, and while time passes */
  constructor(private readonly changed: () => void) {}

  /** @param isExplained tells how the query is answered, instead of the answer */
  async start(query: string, isExplained = false): Promise<void> {
    this.end();
    const controller = new AbortController();
    this.controller = controller;
    const since = performance.now();
    this.become({ is: 'running', since });
    const ticking = setInterval(this.changed, 200);
    const after = await outcome({ query, isExplained }, controller.signal, since);
    clearInterval(ticking);
    // Ended by hand, and perhaps asked anew since.
    if (this.controller !== controller) return;
    this.controller = undefined;
    this.become(after);
  }

  end(): void {
    if (!this.controller) return;
    this.controller.abort();
    this.controller = undefined;
    if (this.state.is === 'running') this.become({ is: 'ended', milliseconds: performance.now() - this.state.since });
  }

  private become(state: State): void {
    this.state = state;
    this.changed();
  }
}

interface Asked {
  readonly query: string;
  readonly isExplained: boolean;
}

async function outcome({ query, isExplained }: Asked, signal: AbortSignal, since: number): Promise<State> {
  try {
    const answer = await ask(query, signal, isExplained);
    return { is: 'answered', milliseconds: performance.now() - since, answer, query };
  } catch (error) {
    const status = error instanceof Refusal ? error.status : 0;
    return { is: 'refused', milliseconds: performance.now() - since, message: messageOf(error), status, query };
  }
}

export const secondsText = (milliseconds: number): string =>
  milliseconds < 1000 ? `${Math.round(milliseconds)} ms` : `${(milliseconds / 1000).toFixed(1)} s`;
