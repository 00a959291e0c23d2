/** The algebra of SPARQL for those who write it themselves instead of parsing a string. */
import type { AlgebraFactory } from '@comunica/utils-algebra';

export type { IQuerySource } from '@comunica/types';
export type { Algebra, AlgebraFactory } from '@comunica/utils-algebra';

let factory: Promise<AlgebraFactory> | undefined;

/** What makes operations; loaded by the first who needs it. */
export function loadAlgebraFactory(): Promise<AlgebraFactory> {
  factory ??= import('@comunica/utils-algebra').then((algebra) => new algebra.AlgebraFactory());
  return factory;
}
