/** Progress of long work, for people: a bar on a terminal, a line now and then elsewhere. */
import type { Progress } from '../component/contract.js';

const width = 30;
/** Milliseconds: shorter work shows nothing, and a log gets a line only so often. */
const quiet = 500;
const everyMs = 10_000;

/** Shows how far some work is. Nothing is shown of work that ends at once. */
export function progressOn(stream: NodeJS.WriteStream, label: string): Progress {
  const startedAt = Date.now();
  let shownAt = 0;
  return (done, total, note) => {
    const now = Date.now();
    const ends = done >= total;
    if (now - startedAt < quiet || (!ends && now - shownAt < (stream.isTTY ? 100 : everyMs))) return;
    shownAt = now;
    const share = total === 0 ? 1 : Math.min(1, done / total);
    // How much there is cannot always be said beforehand.
    const far = Number.isFinite(total) ? `${Math.floor(share * 100)} %` : '';
    const counts = Number.isFinite(total) ? `(${done} of ${total})` : `${done}`;
    const left = share > 0 && share < 1 && note ? `, ${timeOf(((now - startedAt) * (1 - share)) / share)} left` : '';
    const text = `${label}: ${[far, note ?? counts].filter(Boolean).join(' ')}${left}`;
    if (!stream.isTTY) stream.write(`${text}\n`);
    else {
      const bar = '#'.repeat(Math.round(share * width)).padEnd(width, '-');
      stream.write(`\r\u001b[K[${bar}] ${text}${ends ? '\n' : ' '}`);
    }
  };
}

function timeOf(ms: number): string {
  const seconds = Math.ceil(ms / 1000);
  return seconds < 90 ? `${seconds} s` : `${Math.ceil(seconds / 60)} min`;
}
