/** Reads the limit of open files and sockets, which LevelDB and the server share. */
import { readFileSync } from 'node:fs';

/** Limit of open files if the system does not report a limit. */
const usualFiles = 1024;

/** Returns the maximum number of open files and sockets of this process. */
export function maxFiles(): number {
  try {
    // At startup, Node has raised the soft limit to the hard limit.
    const [, soft] = /^Max open files\s+(\d+)/m.exec(readFileSync('/proc/self/limits', 'utf8')) ?? [];
    return soft === undefined ? usualFiles : Number(soft);
  } catch {
    // The file does not exist: the system is not Linux.
    return usualFiles;
  }
}
