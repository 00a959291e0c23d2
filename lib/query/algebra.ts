/** The algebra of SPARQL for those who write it themselves instead of parsing a string. */
import type { AlgebraFactory } from '@comunica/utils-algebra';

export type { Algebra, AlgebraFactory } from '@comunica/utils-algebra';

/** What makes operations; loaded by the first who needs it. */
export const loadAlgebraFactory = async (): Promise<AlgebraFactory> =>
  new (await import('@comunica/utils-algebra')).AlgebraFactory();
