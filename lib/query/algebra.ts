/** SPARQL algebra, for code that builds operations instead of parsing a string. */
import type { AlgebraFactory } from '@comunica/utils-algebra';

export type { Algebra, AlgebraFactory } from '@comunica/utils-algebra';

/** Returns the factory of operations. Loads it at the first use. */
export const loadAlgebraFactory = async (): Promise<AlgebraFactory> =>
  new (await import('@comunica/utils-algebra')).AlgebraFactory();
