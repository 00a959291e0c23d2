/** How many files and sockets the process may have open: LevelDB and the server share this number. */
import { readFileSync } from 'node:fs';

/** The limit of open files where the system does not say it. */
const usualFiles = 1024;

/** The most files and sockets that this process may have open. */
export function maxFiles(): number {
  try {
    // Node has raised the soft limit to the hard one.
    const [, soft] = /^Max open files\s+(\d+)/m.exec(readFileSync('/proc/self/limits', 'utf8')) ?? [];
    return soft === undefined ? usualFiles : Number(soft);
  } catch {
    // Another system than Linux.
    return usualFiles;
  }
}
