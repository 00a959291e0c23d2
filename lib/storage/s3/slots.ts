/** A bounded number of things at once. It must not know what they are. */
import { LwsError } from '../../errors.js';

export class Slots {
  private readonly waiting: ((isFree: boolean) => void)[] = [];

  /** @param maxWaitMs milliseconds that one waits for a slot */
  constructor(
    private free: number,
    private readonly maxWaitMs: number,
  ) {}

  /** Waits for a slot, in turn. @returns what gives it back @throws LwsError `too-busy` after too long a wait */
  async take(): Promise<() => void> {
    if (this.free > 0) this.free--;
    else if (!(await this.turn()))
      throw new LwsError('too-busy', 'Too many large uploads are under way. Try again in a moment.', {
        fields: { 'Retry-After': '10' },
      });
    let isTaken = true;
    return () => {
      if (!isTaken) return;
      isTaken = false;
      const next = this.waiting.shift();
      if (next) next(true);
      else this.free++;
    };
  }

  private turn(): Promise<boolean> {
    return new Promise((resolve) => {
      const timer = setTimeout(() => {
        this.waiting.splice(this.waiting.indexOf(settle), 1);
        resolve(false);
      }, this.maxWaitMs);
      const settle = (isFree: boolean): void => {
        clearTimeout(timer);
        resolve(isFree);
      };
      this.waiting.push(settle);
    });
  }
}
