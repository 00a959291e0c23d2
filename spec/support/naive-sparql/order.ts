/** Order of ORDER BY, MIN and MAX (SPARQL 1.1, 15.1). Terms without a defined order are ordered by their text. */
import type { Term } from '@rdfjs/types';
import { compareCodepoints, compareValues } from './operators.js';
import { ExpressionError, termKey, termsIn } from './terms.js';

const kinds = [undefined, 'BlankNode', 'NamedNode', 'Literal', 'Quad'];

export function compareForOrder(a: Term | undefined, b: Term | undefined): number {
  const kind = kinds.indexOf(a?.termType) - kinds.indexOf(b?.termType);
  if (kind !== 0 || a === undefined || b === undefined) return kind;
  if (a.termType === 'Quad') {
    const others = termsIn(b);
    const orders = termsIn(a).map((term, at) => compareForOrder(term, others[at]));
    return orders.find((order) => order !== 0) ?? 0;
  }
  // Characters that a key adds must not be compared.
  if (a.termType === 'NamedNode') return compareCodepoints(a.value, b.value);
  if (a.termType === 'Literal') {
    try {
      const order = compareValues(a, b);
      if (!Number.isNaN(order)) return order;
    } catch (error) {
      if (!(error instanceof ExpressionError)) throw error;
    }
  }
  return termKey(a) < termKey(b) ? -1 : termKey(a) > termKey(b) ? 1 : 0;
}
