/** All quads of a store with terms of RDF 1.2 as an RDF/JS Source: every pattern, no open iterators, all errors reported. */
import { featuresKey, newTerms } from '../../../../lib/storage/keys/features.js';
import { quadsOf } from '../../../../lib/storage/transactions/quads.js';
import { f, n, testSource } from './quad-source.js';

describe('storage/quads of RDF 1.2', () => {
  testSource({
    objects: [
      f.literal('x', { language: 'en', direction: 'rtl' }),
      f.quad(n('s1'), n('p0'), f.blankNode('b1')),
      f.quad(n('s1'), n('p0'), f.literal('b1')),
    ],
    method: 'keys',
    entry: [featuresKey, newTerms],
    sourceOf: (of) => quadsOf(of),
  });
});
