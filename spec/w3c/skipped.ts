/**
 * W3C tests with deviations, by reason. The suite fails if a listed test passes or no longer needs its exception. data/README.md
 * lists the folders of the W3C suites that are left out.
 */

import { currentSuites } from './suites.js';

type Reasons = Readonly<Record<string, readonly string[]>>;

/** Tests of the bundled copies that the working group has changed or withdrawn since. */
const outdated: Reasons = {
  'withdrawn by the working group': [
    'data-r2/dataset#dawg-dataset-09',
    'data-r2/dataset#dawg-dataset-10',
    'data-r2/dataset#dawg-dataset-12',
    'data-r2/graph#dawg-graph-10',
  ],
  'SPARQL 1.1, 19.8: a number cannot end in a dot': [
    'data-r2/basic#term-6',
    'data-r2/basic#term-7',
    'data-r2/syntax-sparql1#syntax-lit-08',
  ],
  'RDF 1.1: a plain literal is an xsd:string': [
    'data-r2/distinct#distinct-2',
    'data-r2/distinct#distinct-9',
    'data-sparql11/functions#strdt03',
    'data-sparql11/functions#strlang03',
  ],
  'never approved: braces within OPTIONAL are not simplified before filters are scoped, as the approved variant requires':
    ['data-r2/optional-filter#dawg-optional-filter-005-simplified'],
};

/** Tests with outdated or optional results. */
export const otherwise: Reasons = {
  ...(currentSuites ? {} : outdated),
  ...(currentSuites ? { 'rule 14.14: a FILTER within GRAPH ?g sees ?g': ['data-r2/graph#graph-variable-scope'] } : {}),
  ...(currentSuites
    ? {
        'SPARQL 1.1, 19.2: code point escapes are valid in names, too': [
          'data-sparql12/codepoint-escapes#codepoint-esc-03-bad',
        ],
        'a blank node belongs to one resource, but the graphs of this document share one': [
          'data-sparql12/eval-triple-terms#graphs-2',
          'data-sparql12/eval-triple-terms#expr-1',
        ],
      }
    : {}),
  'SPARQL 1.1, 17.4.1.7: literals of different kinds are neither equal nor unequal without an extension (mf:requires)':
    [
      'data-r2/open-world#open-eq-08',
      'data-r2/open-world#open-eq-10',
      'data-r2/open-world#open-eq-11',
      'data-r2/open-world#open-eq-12',
      'data-r2/open-world#date-2',
    ],
  'XPath F&O 10.4: a date without a time zone has an implicit one, UTC in this server': ['data-r2/open-world#date-1'],
};

/** Defects of this server. */
export const knownFailing: Reasons = {};

/** Additional tests of the current suites. */
const alsoByValue: readonly string[] = [
  'data-r2/expr-ops#add-numbers-cast',
  'data-r2/expr-ops#subtract-numbers-cast',
  'data-r2/expr-ops#multiply-numbers-cast',
  'data-r2/expr-ops#divide-numbers-cast',
  'data-r2/expr-ops#unplus-2',
  'data-r2/expr-ops#unminus-2',
  'data-sparql11/aggregates#agg-avg-distinct',
  'data-sparql11/aggregates#agg-sum-distinct',
  'data-sparql11/cast#cast-float',
  'data-sparql11/cast#cast-double',
  'data-sparql11/cast#cast-decimal',
];

/** Tests with numbers in another lexical form than expected. XML Schema has several for the same value. */
export const comparedByValue: readonly string[] = [
  ...(currentSuites ? alsoByValue : []),
  'data-sparql11/aggregates#agg-min-02',
  'data-sparql11/csv-tsv-res#tsv03',
  'data-sparql11/functions#ceil01',
  'data-sparql11/functions#floor01',
  'data-sparql11/functions#round01',
  'data-sparql11/functions#seconds',
];

/** Tests that sort literals of different types, an order that SPARQL 1.1, 15.1 leaves open. The current suites have corrected them. */
export const comparedWithoutOrder: readonly string[] = currentSuites
  ? []
  : ['data-sparql11/functions#plus-1', 'data-sparql11/functions#plus-2'];
