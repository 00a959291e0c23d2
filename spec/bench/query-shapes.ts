/**
 * Data and queries in the shapes of BSBM, SP2Bench and WatDiv, derived from numbers only and therefore reproducible: graphs of
 * products with their offers and reviews, of publications with their citations, of vendors and of persons. The generators of
 * these benchmarks make other data of the same shape.
 */
import type { Quad, Term } from '@rdfjs/types';
import { DataFactory } from 'rdf-data-factory';

const factory = new DataFactory<Quad>();
const base = 'http://bench.example/';
const v = `${base}v#`;
const type = factory.namedNode('http://www.w3.org/1999/02/22-rdf-syntax-ns#type');
const xsd = 'http://www.w3.org/2001/XMLSchema#';

/** Returns a pseudo-random integer from 0 to below `most`, determined by the arguments. */
function pick(most: number, ...of: number[]): number {
  let hash = 2_166_136_261;
  for (const each of of) hash = Math.imul(hash ^ (each + 0x9e37), 16_777_619) ^ (hash >>> 13);
  hash = Math.imul(hash ^ (hash >>> 15), 0x2c1b3c6d);
  return ((hash ^ (hash >>> 12)) >>> 0) % most;
}

const iri = (kind: string, number: number): Term => factory.namedNode(`${base}${kind}/${number}`);
const text = (value: string): Term => factory.literal(value);
const whole = (value: number): Term => factory.literal(String(value), factory.namedNode(`${xsd}integer`));
const day = (value: number): Term =>
  factory.literal(new Date(Date.UTC(2024, 0, 1 + value)).toISOString().slice(0, 10), factory.namedNode(`${xsd}date`));

type Properties = readonly (readonly [name: string, object: Term])[];

const quadsOf = (subject: Term, of: Properties): Quad[] =>
  of.map(([name, object]) =>
    factory.quad(subject as never, name === 'a' ? type : factory.namedNode(v + name), object as never),
  );

/** Numbers of entities by kind, for a number of products. */
const sizes = (products: number) => ({
  products,
  features: Math.max(20, products >> 2),
  producers: Math.max(4, Math.round(products / 50)),
  vendors: Math.max(4, Math.round(products / 50)),
  persons: Math.max(10, products >> 1),
  publications: products,
  types: 30,
});

const words = ['light', 'river', 'stone', 'paper', 'cloud', 'engine', 'garden', 'signal'];
const phrase = (...of: number[]): string => [0, 1, 2, 3].map((at) => words[pick(words.length, at, ...of)]!).join(' ');

function product(at: number, of: ReturnType<typeof sizes>): Quad[] {
  const subject = iri('product', at);
  const quads = quadsOf(subject, [
    ['a', iri('type', pick(of.types, 1, at))],
    ['a', factory.namedNode(`${v}Product`)],
    ['label', text(`${phrase(2, at)} ${at}`)],
    ['producer', iri('producer', pick(of.producers, 3, at))],
    ['number1', whole(pick(2000, 4, at))],
    ['number2', whole(pick(2000, 5, at))],
    ['text1', text(phrase(6, at))],
    ...Array.from({ length: 12 }, (_, each) => ['feature', iri('feature', pick(of.features, 7, at, each))] as const),
  ]);
  for (let each = 0; each < 20; each++) {
    const offer = at * 20 + each;
    quads.push(
      ...quadsOf(iri('offer', offer), [
        ['a', factory.namedNode(`${v}Offer`)],
        ['product', subject],
        ['vendor', iri('vendor', pick(of.vendors, 8, offer))],
        ['price', whole(5 + pick(5000, 9, offer))],
        ['deliveryDays', whole(1 + pick(14, 10, offer))],
        ['validTo', day(pick(365, 11, offer))],
      ]),
    );
  }
  for (let each = 0; each < 10; each++) {
    const review = at * 10 + each;
    quads.push(
      ...quadsOf(iri('review', review), [
        ['a', factory.namedNode(`${v}Review`)],
        ['reviewFor', subject],
        ['reviewer', iri('person', pick(of.persons, 12, review))],
        ['title', text(phrase(13, review))],
        ['date', day(pick(700, 14, review))],
        ...(pick(3, 15, review) > 0 ? ([['rating1', whole(1 + pick(10, 16, review))]] as const) : []),
        ...(pick(3, 17, review) > 0 ? ([['rating2', whole(1 + pick(10, 18, review))]] as const) : []),
      ]),
    );
  }
  return quads;
}

function publication(at: number, of: ReturnType<typeof sizes>): Quad[] {
  const cited = Array.from({ length: pick(6, 20, at) }, (_, each) => pick(of.publications, 21, at, each));
  const subject = iri('publication', at);
  const bag = iri('bag', at);
  const members = cited.map((each, member) => [`member${member}`, iri('publication', each)] as const);
  return [
    ...quadsOf(bag, members),
    ...quadsOf(subject, [
      ['a', factory.namedNode(`${v}${pick(3, 22, at) === 0 ? 'Article' : 'Inproceedings'}`)],
      ['pubTitle', text(`${phrase(23, at)} ${at}`)],
      ['year', whole(1950 + pick(70, 24, at))],
      ['creator', iri('person', pick(of.persons, 25, at))],
      ['creator', iri('person', pick(of.persons, 26, at))],
      ['journal', iri('journal', pick(100, 27, at))],
      ...(cited.length > 0 ? ([['references', bag]] as const) : []),
      ...cited.map((each) => ['cites', iri('publication', each)] as const),
    ]),
  ];
}

/** Generates the names and quads of the graphs of a dataset. */
export function* graphsOf(products: number): Generator<readonly [graph: string, quads: Quad[]]> {
  const of = sizes(products);
  for (let at = 0; at < of.products; at++) yield [`${base}g/product${at}`, product(at, of)];
  for (let at = 0; at < of.publications; at++) yield [`${base}g/publication${at}`, publication(at, of)];
  for (const kind of ['Article', 'Inproceedings'])
    yield [
      `${base}g/${kind}`,
      quadsOf(factory.namedNode(v + kind), [['subClassOf', factory.namedNode(`${v}Document`)]]),
    ];
  for (let at = 0; at < of.persons; at++)
    yield [
      `${base}g/person${at}`,
      quadsOf(iri('person', at), [
        ['a', factory.namedNode(`${v}Person`)],
        ['name', text(`${phrase(30, at)} ${at}`)],
        ['country', iri('country', pick(10, 31, at))],
        ...Array.from({ length: 5 }, (_, each) => ['follows', iri('person', pick(of.persons, 32, at, each))] as const),
        ...Array.from({ length: 4 }, (_, each) => ['likes', iri('product', pick(of.products, 33, at, each))] as const),
      ]),
    ];
  for (let at = 0; at < of.vendors; at++)
    yield [
      `${base}g/vendor${at}`,
      quadsOf(iri('vendor', at), [
        ['a', factory.namedNode(`${v}Vendor`)],
        ['vendorName', text(`${phrase(34, at)} ${at}`)],
        ['country', iri('country', pick(10, 35, at))],
      ]),
    ];
  for (let at = 0; at < of.producers; at++)
    yield [
      `${base}g/producer${at}`,
      quadsOf(iri('producer', at), [
        ['producerName', text(`${phrase(36, at)} ${at}`)],
        ['country', iri('country', pick(10, 37, at))],
      ]),
    ];
}

const prefixes = `PREFIX : <${v}> PREFIX xsd: <${xsd}> `;
const at = (kind: string, number: number): string => `<${base}${kind}/${number}>`;

const shapes: Readonly<Record<string, string>> = {
  'Q1 products by type and features': `SELECT DISTINCT ?p ?l { ?p :label ?l ; a ${at('type', 3)} ; :feature ${at('feature', 5)} ; :feature ?f ; :number1 ?n FILTER(?n > 200) } ORDER BY ?l LIMIT 10`,
  'Q2 a product': `SELECT ?l ?prod ?f ?t { ${at('product', 7)} :label ?l ; :producer ?pr ; :feature ?f ; :text1 ?t . ?pr :producerName ?prod }`,
  'Q4 union of two': `SELECT DISTINCT ?p ?l { { ?p :label ?l ; a ${at('type', 4)} ; :feature ${at('feature', 6)} } UNION { ?p :label ?l ; a ${at('type', 4)} ; :feature ${at('feature', 9)} } } ORDER BY ?l LIMIT 10`,
  'Q5 alike': `SELECT DISTINCT ?p ?l { ?p :label ?l . FILTER(${at('product', 7)} != ?p) ${at('product', 7)} :feature ?f . ?p :feature ?f . ${at('product', 7)} :number1 ?a . ?p :number1 ?b FILTER(?b < ?a + 120 && ?b > ?a - 120) } ORDER BY ?l LIMIT 5`,
  'Q7 product, offers, reviews': `SELECT * { ${at('product', 7)} :label ?l OPTIONAL { ?o :product ${at('product', 7)} ; :price ?price ; :vendor ?ve . ?ve :vendorName ?vn ; :country ${at('country', 2)} } OPTIONAL { ?r :reviewFor ${at('product', 7)} ; :reviewer ?who ; :title ?t . ?who :name ?wn OPTIONAL { ?r :rating1 ?r1 } OPTIONAL { ?r :rating2 ?r2 } } }`,
  'Q8 reviews of a product': `SELECT ?t ?d ?wn ?r1 { ?r :reviewFor ${at('product', 7)} ; :title ?t ; :date ?d ; :reviewer ?who . ?who :name ?wn OPTIONAL { ?r :rating1 ?r1 } } ORDER BY DESC(?d) LIMIT 20`,
  'Q9 a reviewer': `SELECT ?p ?o { ${at('review', 5)} :reviewer ?who . ?who ?p ?o }`,
  'Q10 cheap offers': `SELECT DISTINCT ?o ?price { ?o :product ${at('product', 7)} ; :vendor ?ve ; :deliveryDays ?d ; :price ?price . ?ve :country ${at('country', 2)} FILTER(?d <= 5) } ORDER BY xsd:integer(?price) LIMIT 10`,
  'Q11 an offer': `SELECT ?p ?o ?s { { ${at('offer', 9)} ?p ?o } UNION { ?s ?p ${at('offer', 9)} } }`,
  'Q12 offer with vendor': `SELECT ?l ?vn ?price { ${at('offer', 9)} :product ?p ; :vendor ?ve ; :price ?price . ?p :label ?l . ?ve :vendorName ?vn }`,
  'BI2 most alike': `SELECT ?o (COUNT(?f) AS ?n) { ${at('product', 7)} :feature ?f . ?o :feature ?f FILTER(?o != ${at('product', 7)}) } GROUP BY ?o ORDER BY DESC(?n) ?o LIMIT 10`,
  'BI3 reviews by month': `SELECT ?p (COUNT(?r) AS ?n) { ?r :reviewFor ?p ; :date ?d FILTER(?d >= "2024-03-01"^^xsd:date && ?d < "2024-04-01"^^xsd:date) } GROUP BY ?p ORDER BY DESC(?n) ?p LIMIT 10`,
  'BI4 price by feature': `SELECT ?f (AVG(?price) AS ?m) { ?p a ${at('type', 3)} ; :feature ?f . ?o :product ?p ; :price ?price } GROUP BY ?f ORDER BY DESC(?m) ?f LIMIT 10`,
  'BI5 product by country': `SELECT ?c ?p (COUNT(?r) AS ?n) { ?p a ${at('type', 3)} . ?r :reviewFor ?p ; :reviewer ?w . ?w :country ?c } GROUP BY ?c ?p ORDER BY DESC(?n) ?c ?p LIMIT 10`,
  'BI8 cheaper vendors': `SELECT ?ve (COUNT(?o) AS ?n) { ?p a ${at('type', 3)} . ?o :product ?p ; :vendor ?ve ; :price ?x { SELECT ?p (AVG(?y) AS ?m) { ?p a ${at('type', 3)} . ?o2 :product ?p ; :price ?y } GROUP BY ?p } FILTER(?x < ?m) } GROUP BY ?ve ORDER BY DESC(?n) ?ve LIMIT 10`,
  'group and having': `SELECT ?ve (COUNT(?o) AS ?n) (AVG(?x) AS ?m) { ?o :vendor ?ve ; :price ?x } GROUP BY ?ve HAVING(AVG(?x) > 2500) ORDER BY ?ve`,
  'joined in the order of the text': `SELECT ?o2 { ?o :product ?p ; :vendor ?ve . ?o2 :vendor ?ve ; :deliveryDays 1 ; :product ?p . ?p a ${at('type', 3)} ; :feature ${at('feature', 5)} }`,
  'joined the other way': `SELECT ?o2 { ?p a ${at('type', 3)} ; :feature ${at('feature', 5)} . ?o2 :product ?p ; :deliveryDays 1 ; :vendor ?ve . ?o :vendor ?ve ; :product ?p }`,
  'SP2 Q2 articles': `SELECT ?a ?t ?y { ?a a :Article ; :pubTitle ?t ; :year ?y ; :journal ${at('journal', 3)} OPTIONAL { ?a :cites ?c } } ORDER BY ?y ?a`,
  'SP2 Q4 names in a journal': `SELECT DISTINCT ?n1 ?n2 { ?a1 a :Article ; :creator ?w1 ; :journal ?j . ?w1 :name ?n1 . ?a2 a :Article ; :creator ?w2 ; :journal ?j . ?w2 :name ?n2 FILTER(?n1 < ?n2 && ?j = ${at('journal', 3)}) }`,
  'SP2 Q5 authors of both': `SELECT DISTINCT ?w ?n { ?a a :Article ; :creator ?w . ?i a :Inproceedings ; :creator ?w . ?w :name ?n }`,
  'SP2 Q6 first of the year': `SELECT ?y ?n ?d { ?d a :Article ; :year ?y ; :creator ?w . ?w :name ?n OPTIONAL { ?d2 a :Article ; :year ?y2 ; :creator ?w FILTER(?y2 < ?y) } FILTER(!bound(?y2)) }`,
  'SP2 Q7 double negation': `SELECT DISTINCT ?t { ?d :pubTitle ?t . ?b :cites ?d FILTER NOT EXISTS { ?d3 :cites ?d FILTER NOT EXISTS { ?d4 :cites ?d3 } } }`,
  'SP2 Q7 as it is written': `SELECT DISTINCT ?t { ?c :subClassOf :Document . ?d a ?c ; :pubTitle ?t . ?b ?m ?d . ?d2 :references ?b FILTER NOT EXISTS { ?c3 :subClassOf :Document . ?d3 a ?c3 ; :references ?b3 . ?b3 ?m3 ?d FILTER NOT EXISTS { ?c4 :subClassOf :Document . ?d4 a ?c4 ; :references ?b4 . ?b4 ?m4 ?d3 } } }`,
  'SP2 Q9 predicates of persons':
    'SELECT DISTINCT ?p { { ?w a :Person . ?s ?p ?w } UNION { ?w a :Person . ?w ?p ?o } }',
  'SP2 Q12 is there': 'ASK { ?a a :Article ; :creator ?w . ?i a :Inproceedings ; :creator ?w }',
  'WatDiv linear': `SELECT ?p ?f ?n { ?w :follows ${at('person', 3)} ; :likes ?p . ?p :producer ?f . ?f :producerName ?n }`,
  'WatDiv star': `SELECT ?o ?x ?d { ?o :vendor ${at('vendor', 1)} ; :deliveryDays 3 ; :price ?x ; :validTo ?d ; :product ?p }`,
  'WatDiv snowflake': `SELECT ?r ?t ?n { ?p :feature ${at('feature', 5)} ; :label ?l . ?r :reviewFor ?p ; :title ?t ; :rating1 10 ; :reviewer ?w . ?w :country ${at('country', 2)} ; :name ?n }`,
  'WatDiv complex':
    'SELECT ?w ?p ?x { ?w :follows ?w2 ; :likes ?p . ?w2 :likes ?p . ?r :reviewFor ?p ; :reviewer ?w ; :rating1 ?x }',
  'one graph': `SELECT * { GRAPH <${base}g/product7> { ?s ?p ?o } }`,
  'two hops': `SELECT ?n { ${at('person', 3)} :follows ?a . ?a :follows ?b . ?b :name ?n }`,
};

/** Queries with their prefixes. */
export const shapeQueries = Object.entries(shapes).map(([name, query]) => [name, prefixes + query] as const);
