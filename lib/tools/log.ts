/** The log: JSON lines on standard output, written by pino. Callers must never pass a token or a key. */
import { type DestinationStream, type Logger, pino } from 'pino';
import { BufferedOutput } from './buffered-output.js';

export type Log = Logger;

export const logLevels = ['silent', 'fatal', 'error', 'warn', 'info', 'debug', 'trace'] as const;
export type LogLevel = (typeof logLevels)[number];

/**
 * Creates the log. Lines below level error are buffered for up to a second, so that logging never waits for the terminal.
 * @param stream destination; default: standard output
 */
export function createLog(level: LogLevel, stream?: DestinationStream): Log {
  const options = { level, base: null, timestamp: () => `,"time":"${now()}"` };
  return pino(options, stream ?? new BufferedOutput());
}

let [lastTime, lastText] = [0, ''];

/** Returns the current ISO 8601 time, formatted once per millisecond. */
function now(): string {
  const time = Date.now();
  if (time !== lastTime) [lastTime, lastText] = [time, new Date(time).toISOString()];
  return lastText;
}
