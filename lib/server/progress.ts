/** Progress of long work, for people: a bar on a terminal, a line now and then elsewhere. */

export type Progress = (done: number, total: number) => void;

const width = 30;
/** Milliseconds: shorter work shows nothing, and a log gets a line only so often. */
const quiet = 500;
const everyMs = 10_000;

/** Shows how far some work is. Nothing is shown of work that ends at once. */
export function progressOn(stream: NodeJS.WriteStream, label: string): Progress {
  const startedAt = Date.now();
  let shownAt = 0;
  return (done, total) => {
    const now = Date.now();
    const ends = done >= total;
    if (now - startedAt < quiet || (!ends && now - shownAt < (stream.isTTY ? 100 : everyMs))) return;
    shownAt = now;
    const share = total === 0 ? 1 : Math.min(1, done / total);
    // How much there is cannot always be said beforehand.
    const text = Number.isFinite(total)
      ? `${label}: ${Math.floor(share * 100)} % (${done} of ${total})`
      : `${label}: ${done}`;
    if (!stream.isTTY) stream.write(`${text}\n`);
    else {
      const bar = '#'.repeat(Math.round(share * width)).padEnd(width, '-');
      stream.write(`\r[${bar}] ${text}${ends ? '\n' : ' '}`);
    }
  };
}
