/**
 * Where storages of specs are: at `/` or below a path. Where a block of tests has one of them, which one is the same in every run;
 * `QUADPOD_PLACES=all` gives it both.
 */
import { createHash } from 'node:crypto';

export const everyPlace = process.env['QUADPOD_PLACES'] === 'all';

export const isAtRoot = (title: string): boolean => createHash('sha256').update(title).digest()[0]! % 2 === 0;

/** The path of the storage of a block, or both. */
export const pathsOf = (title: string): readonly string[] =>
  everyPlace ? ['', '/some/path'] : [isAtRoot(title) ? '' : '/some/path'];
