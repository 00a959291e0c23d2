/** Limit of open files and sockets, shared by LevelDB and the server. */
import { readFileSync } from 'node:fs';

/** Limit if the system does not report one. */
const usualFiles = 1024;

/** Maximum number of open files and sockets of this process. */
export function maxFiles(): number {
  try {
    // Node has raised the soft limit to the hard limit.
    const [, soft] = /^Max open files\s+(\d+)/m.exec(readFileSync('/proc/self/limits', 'utf8')) ?? [];
    return soft === undefined ? usualFiles : Number(soft);
  } catch {
    // Not Linux.
    return usualFiles;
  }
}
