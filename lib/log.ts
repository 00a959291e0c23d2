/**
 * The log: JSON lines on standard output, written by pino. It knows nothing of requests or resources;
 * whoever logs must never hand it a token or a key.
 */
import { type DestinationStream, destination, type Logger, pino } from 'pino';

export type Log = Logger;

export const logLevels = ['silent', 'fatal', 'error', 'warn', 'info', 'debug', 'trace'] as const;
export type LogLevel = (typeof logLevels)[number];

/**
 * Makes the log. Lines are buffered for up to a second so that a log line never waits for the terminal;
 * `flushLog` empties the buffer before the process ends.
 * @param stream where lines go; standard output when absent
 */
export function createLog(level: LogLevel, stream?: DestinationStream): Log {
  const options = { level, base: null, timestamp: () => `,"time":"${now()}"` };
  return pino(options, stream ?? bufferedOutput());
}

let [lastTime, lastText] = [0, ''];

/** The time as ISO 8601, made once a millisecond. */
function now(): string {
  const time = Date.now();
  if (time !== lastTime) [lastTime, lastText] = [time, new Date(time).toISOString()];
  return lastText;
}

function bufferedOutput(): DestinationStream {
  const output = destination({ fd: 1, sync: false, minLength: 4096 });
  // A line may be a second old at most, also when nothing else is logged.
  setInterval(() => output.flush(), 1000).unref();
  process.once('exit', () => {
    try {
      output.flushSync();
    } catch {
      // Standard output is gone or was never opened: there is nowhere left to say so.
    }
  });
  return output;
}
