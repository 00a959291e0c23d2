/**
 * Small data, a query, and its rows by SPARQL 1.1 Query Language, with the section: cases in which engines differ, found by
 * random queries. Rows are terms without `http://example.org/`, in the order of the variables, `-` if unbound, sorted.
 */
export interface Case {
  readonly section: string;
  /** One graph each, as Turtle. */
  readonly data: readonly string[];
  readonly query: string;
  readonly rows: readonly string[];
}

const chain = ':a :p :b . :b :r :c .';
const two = [chain, ':p :q 1 . :d :r :e .'];
const mixed = [':a :q :b . :c :t 1 .'];
const loops = [':a :p :b ; :q :c . :b :p :b ; :q :a .', ':b :r :c .'];
const nothing: readonly string[] = [''];
const aggregates = '(SUM(1/?y) AS ?s) (AVG(1/?y) AS ?a) (MIN(1/?y) AS ?m) (MAX(1/?y) AS ?x) (COUNT(1/?y) AS ?c)';

const many = Array.from({ length: 200 }, (_, at) => at).join(' ');

export const cases: readonly Case[] = [
  // xsd:float has 32 bits, and an integer has one zero.
  {
    section: '17.1',
    data: nothing,
    query: 'SELECT ?x { VALUES ?x { "0.1"^^xsd:float } FILTER(xsd:double(?x) = 0.10000000149011612e0) }',
    rows: ['0.1'],
  },
  { section: '17.4.1', data: nothing, query: 'SELECT (1e0 / (- 0) AS ?x) {}', rows: ['INF'] },
  { section: '17.4.1', data: nothing, query: 'SELECT (1e0 / (- 0e0) AS ?x) {}', rows: ['-INF'] },
  ...(
    [
      ['SELECT ?e { { ?a :q ?c } UNION { ?f :p ?c } MINUS { ?a (:q)* 0 } }', ['-', '-', '-', '-'], loops],
      [
        'CONSTRUCT { ?w :k :a } { ?w :r ?u OPTIONAL { MINUS { ?u :s ?f } FILTER(NOT EXISTS { ?e :p ?e }) } }',
        ['b k a'],
        loops,
      ],
      [
        'SELECT ?u { FILTER(NOT EXISTS { OPTIONAL { ?u :l ?a } }) OPTIONAL { BIND(?f AS ?y) FILTER(?c) :e :p ?u } }',
        [],
        loops,
      ],
    ] as const
  ).map(([query, rows, data]) => ({ section: '18.5', data, query, rows })),
  ...(
    [
      ['SELECT ?d { GRAPH ?b { ?b (:r)* ?b . _:b1 :p _:b1 } }', [], loops],
      ['SELECT ?a { ?c ?a ?d . ?a (:q)? ?u }', [], [chain]],
      ['SELECT ?a ?u { ?c ?a ?d . ?a :q* ?u }', ['p 1', 'p p'], two],
      ['ASK { ?u ?w ?u . ?w (:p)* ?e }', ['false'], [':a :z :a .']],
      ['SELECT (COUNT(*) AS ?n) { GRAPH ?u { _:b :p ?f . ?u ((:m)?)* ?d } }', ['0'], loops],
      ['SELECT ?x ?o { VALUES ?x { :none :a } ?x :q* ?o }', ['a a'], [chain]],
      ['SELECT ?x { ?x (:q?)+ :none }', ['none'], [chain]],
      ['SELECT ?x { VALUES ?x { :none :a } FILTER EXISTS { ?x :q* ?o } }', ['a', 'none'], [chain]],
      ['SELECT ?x { VALUES ?x { :none } OPTIONAL { ?x :q* ?o } FILTER(!BOUND(?o)) }', ['none'], [chain]],
      ['SELECT ?g { VALUES ?e { :d } GRAPH ?g { ?c ((:q)?)+ ?e } }', ['graphs/b'], two],
      ['SELECT ?o { GRAPH :nowhere { :none :q* ?o } }', [], [chain]],
      ['SELECT ?g ?o { GRAPH ?g { :none :q* ?o } }', ['graphs/a none', 'graphs/b none'], two],
      [
        'SELECT (COUNT(?x) AS ?n) (MIN(COALESCE(STR(?f), "-")) AS ?m) { ?e ((:p)+)? ?b OPTIONAL { ?b :k ?d . ?b :p ?c BIND(?d AS ?x) } VALUES (?e ?f) { (:d :f) (2 :e) (3 :a) } FILTER(COALESCE((?d < 1.5), true)) }',
        ['0 -'],
        [chain],
      ],
    ] as const
  ).map(([query, rows, data]) => ({ section: '18.4', data, query, rows })),
  ...(
    [
      ['SELECT ?f { ?f :q ?b FILTER EXISTS { OPTIONAL { ?f :t ?w } ?f :q ?d } }', ['a'], mixed],
      ['SELECT ?f { ?f :q ?b FILTER NOT EXISTS { OPTIONAL { ?f :t ?w } ?f :q ?d } }', [], mixed],
      ['SELECT ?f { ?f :q ?b FILTER(EXISTS { OPTIONAL { ?f :t ?w } ?f :q ?d } || false) }', ['a'], mixed],
      ['CONSTRUCT { ?b :p "k" } { FILTER(NOT EXISTS { OPTIONAL { ?f :t ?w } ?f !(:r) ?d }) ?f :q ?b }', [], mixed],
      ['SELECT ?s { ?s :p ?o FILTER EXISTS { { FILTER(?s = :a) } ?s :p ?y } }', ['a'], [chain]],
      [
        'SELECT ?s { ?s :p ?o FILTER EXISTS { { ?z :r ?y BIND(?s AS ?x) FILTER(BOUND(?x)) } ?s :p ?v } }',
        ['a'],
        [chain],
      ],
    ] as const
  ).map(([query, rows, data]) => ({ section: '18.6', data, query, rows })),
  ...(
    [
      [`SELECT ${aggregates} { :a :p ?y }`, ['- - - - 1'], [':a :p 0, 1 .']],
      [
        'SELECT (SUM(?y) AS ?s) (COUNT(?y) AS ?c) { ?x :k 1 OPTIONAL { ?x :p ?y } }',
        ['- 1'],
        [':a :p 3 ; :k 1 . :b :k 1 .'],
      ],
      ['SELECT (GROUP_CONCAT(?y) AS ?t) { ?x :k 1 OPTIONAL { ?x :p ?y } }', ['-'], [':a :p 3 ; :k 1 . :b :k 1 .']],
      ['SELECT (SUM(?y) AS ?s) (AVG(?y) AS ?a) (GROUP_CONCAT(?y) AS ?t) { ?x :p ?y }', ['0 0 '], [':a :k 3 .']],
      ['SELECT (SUM(?y) AS ?s) { ?x :p ?y }', ['7'], [':a :p "007"^^xsd:byte .']],
      // Two empty solutions are equal.
      ['SELECT (COUNT(DISTINCT *) AS ?n) { _:c :p _:b }', ['1'], loops],
      ['SELECT (COUNT(DISTINCT *) AS ?n) { ?s :p _:b . _:b :q ?o }', ['2'], loops],
    ] as const
  ).map(([query, rows, data]) => ({ section: '18.5.1', data, query, rows })),
  ...(
    [
      ['isNumeric("1200"^^xsd:byte)', 'false'],
      ['isNumeric("12"^^xsd:byte)', 'true'],
      ['"300"^^xsd:unsignedByte + 1', '-'],
      ['isNumeric("18446744073709551616"^^xsd:unsignedLong)', 'false'],
      ['isNumeric("18446744073709551615"^^xsd:unsignedLong)', 'true'],
      // SPARQL 1.2: an ill-typed literal has no effective boolean value.
      ['!("abc"^^xsd:integer)', '-'],
      ['!("maybe"^^xsd:boolean)', '-'],
      ['!("abc"^^xsd:dateTime)', '-'],
      ['90071992547409.93 + 0.00', '90071992547409.93'],
      ['12345678901234567890.5 * 2', '24691357802469135781.0'],
      ['0.1 + 0.2', '0.3'],
      ['1 / 3', '0.333333333333333333'],
      ['11.1 / 5', '2.22'],
      ['2.0 / 0.0', '-'],
      ['-(90071992547409.931)', '-90071992547409.931'],
      ['ROUND(90071992547409931.5)', '90071992547409932.0'],
      ['ROUND(-2.5)', '-2.0'],
      ['CEIL(-90071992547409931.5)', '-90071992547409931.0'],
      ['FLOOR(-90071992547409931.5)', '-90071992547409932.0'],
      ['90071992547409.93 = 90071992547409.931', 'false'],
      ['90071992547409.931 > 90071992547409.93', 'true'],
      ['10.50 = 10.5', 'true'],
      [`${'9'.repeat(1200)} = ${'9'.repeat(1199)}8`, 'false'],
      [`-${'9'.repeat(1200)}.5 < -${'9'.repeat(1200)}.25`, 'true'],
      [`${'9'.repeat(1200)} + 1`, '-'],
    ] as const
  ).map(([expression, value]) => ({
    section: '17',
    data: nothing,
    query: `SELECT (${expression} AS ?v) {}`,
    rows: [value],
  })),
  ...(
    [
      ['SELECT ?n ?k0 { { SELECT (COUNT(?o) AS ?n) { ?s :p ?o } GROUP BY (STR(?s) AS ?k0) } }', ['1 -', '1 -'], loops],
      ['SELECT ?g ?x { GRAPH ?g { VALUES ?x { 1 } } }', ['graphs/a 1', 'graphs/b 1'], two],
      ['SELECT ?g { GRAPH ?g { ?s :p ?o BIND(?s AS ?g) } }', [], two],
      ['SELECT ?g { GRAPH ?g { ?s :p ?o BIND(:graphs\\/a AS ?g) } }', ['graphs/a'], two],
      ['SELECT ?g { GRAPH ?g { BIND(:graphs\\/a AS ?g) } }', ['graphs/a'], two],
      ['SELECT ?g ?x { GRAPH ?g { BIND(?y AS ?g) VALUES ?x { 1 } } }', ['graphs/a 1', 'graphs/b 1'], two],
      ['SELECT ?g { GRAPH ?g { BIND(1 AS ?g) } }', [], two],
      ['SELECT ?g { GRAPH ?g {} }', ['graphs/a', 'graphs/b', 'graphs/c'], [...two, '']],
      ['SELECT ?x { GRAPH :graphs\\/c { VALUES ?x { 1 } } }', ['1'], [...two, '']],
      ['SELECT ?x { GRAPH :graphs\\/d { VALUES ?x { 1 } } }', [], [...two, '']],
      ['SELECT ?g { VALUES ?g { :graphs\\/c :graphs\\/d } GRAPH ?g {} }', ['graphs/c'], [...two, '']],
      ['SELECT ?g { GRAPH ?g { OPTIONAL { ?s :p ?o } } FILTER(!BOUND(?s)) }', ['graphs/b', 'graphs/c'], [...two, '']],
      ['SELECT ?g FROM NAMED :graphs\\/c FROM NAMED :graphs\\/d { GRAPH ?g {} }', ['graphs/c'], [...two, '']],
      ['SELECT ?g { GRAPH ?g { :a :p* :a } }', ['graphs/a', 'graphs/b', 'graphs/c'], [...two, '']],
      ['BASE <http://other.example/x/> SELECT (IRI("ab") AS ?i) {}', ['http://other.example/x/ab'], nothing],
    ] as const
  ).map(([query, rows, data]) => ({ section: '18.2', data, query, rows })),
  ...(
    [
      ['SELECT ?a { ?a :n ?b FILTER NOT EXISTS { ?c :n ?d FILTER(?d > ?b) } }', ['c']],
      ['SELECT ?a { ?a :n ?b FILTER EXISTS { ?c :n ?d FILTER(?d > ?b) FILTER(?c != ?a) } }', ['a', 'b']],
      ['SELECT ?a { ?a :n ?b FILTER EXISTS { ?a :n ?d FILTER(?d > ?b) } }', []],
      // More rows than are held for comparison.
      [
        `SELECT ?a { ?a :n ?b FILTER NOT EXISTS { ?c :n ?d VALUES ?x { ${many} } VALUES ?y { ${many} } FILTER(?d > ?b) } }`,
        ['c'],
      ],
      ['SELECT ?a { ?a :n ?b FILTER NOT EXISTS { ?a :k ?d FILTER(?d > ?b) } }', ['b', 'c']],
      ['SELECT ?a { ?a :n ?b OPTIONAL { ?a :k ?k } FILTER EXISTS { ?c :n ?d FILTER(?d > ?b && ?d < ?k) } }', ['a']],
      ['SELECT ?a { ?a :n ?b FILTER(EXISTS { ?c :n ?d FILTER(?d > ?b + 1) } || ?b = 3) }', ['a', 'c']],
      [
        'SELECT ?a { ?a :n ?b FILTER EXISTS { ?c :n ?d FILTER(?d > ?b) FILTER NOT EXISTS { ?e :n ?f FILTER(?f > ?d) } } }',
        ['a', 'b'],
      ],
      ['SELECT ?a { ?a :n ?b FILTER EXISTS { ?c :n ?d FILTER NOT EXISTS { ?e :n ?f FILTER(?f > ?b) } } }', ['c']],
      ['SELECT ?a { ?a :n ?b FILTER EXISTS { ?c :n ?d OPTIONAL { ?c :k ?k } FILTER(?k > ?b) } }', ['a', 'b', 'c']],
      ['SELECT ?a { ?a :n ?b FILTER EXISTS { ?c :n ?d BIND(?d - ?b AS ?e) FILTER(?e > 1) } }', ['a']],
    ] as const
  ).map(([query, rows]) => ({ section: '18.6', data: [':a :n 1 ; :k 5 . :b :n 2 . :c :n 3 .'], query, rows })),
];

/** Assignments of variables that are already bound (18.2.1, 19.8 note 12 and 13). */
export const assignedTwice: readonly string[] = [
  'SELECT * { GRAPH ?g { ?s :p ?o } BIND(1 AS ?g) }',
  'SELECT (1 AS ?g) { GRAPH ?g { ?s :p ?o } }',
  'SELECT * { GRAPH ?g { ?s :p ?o BIND(1 AS ?s) } }',
  'SELECT (1 AS ?s) { ?s :p ?o }',
];
