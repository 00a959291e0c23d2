/** Paths of the storages of specs: `/` or a base path. Each block has the same one in every run. `QUADPOD_PLACES=all` runs a block at both. */
import { createHash } from 'node:crypto';

export const everyPlace = process.env['QUADPOD_PLACES'] === 'all';

export const isAtRoot = (title: string): boolean => createHash('sha256').update(title).digest()[0]! % 2 === 0;

/** Returns the base path of the storage of a block, or both. */
export const pathsOf = (title: string): readonly string[] =>
  everyPlace ? ['', '/some/path'] : [isAtRoot(title) ? '' : '/some/path'];
