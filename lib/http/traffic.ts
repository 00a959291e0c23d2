/** Counts pending requests, so that a storage is closed when none is pending. */

export class Traffic {
  /** Count of pending requests of all storages of the process. */
  static pending = 0;
  /** True to reject further requests. */
  isClosed = false;
  private underWay = 0;
  private onQuiet: (() => void) | undefined;

  begin(): void {
    this.underWay++;
    Traffic.pending++;
  }

  end(): void {
    Traffic.pending--;
    if (--this.underWay === 0) this.onQuiet?.();
  }

  /** Resolves when no request is pending, or after the timeout. */
  async close(maxMs: number): Promise<void> {
    this.isClosed = true;
    if (this.underWay === 0) return;
    let timer: NodeJS.Timeout | undefined;
    await new Promise<void>((resolve) => {
      this.onQuiet = resolve;
      timer = setTimeout(resolve, maxMs);
    });
    clearTimeout(timer);
  }
}
