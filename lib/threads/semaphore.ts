/** Places for work that takes much of the process, of which all its storages together have so many. */
import { tooBusy } from '../errors.js';

export class Semaphore {
  private taken = 0;

  /** @param what is under way, for people: `imports` */
  constructor(
    private readonly most: number,
    private readonly what: string,
  ) {}

  /**
   * Takes a place.
   * @returns what gives it back
   * @throws LwsError `too-busy`
   */
  take(): () => void {
    if (this.taken >= this.most)
      throw tooBusy(`The server has ${this.most} ${this.what} under way. Try again later.`, 60);
    this.taken++;
    let isTaken = true;
    return () => {
      if (isTaken) this.taken--;
      isTaken = false;
    };
  }
}
