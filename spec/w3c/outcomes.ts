/**
 * Query results from all formats of the W3C tests: solutions in SPARQL XML, JSON, CSV, TSV and the result-set vocabulary of the
 * working group, booleans, graphs. Must not depend on a server.
 */
import { createRequire } from 'node:module';
import type { Quad, Term } from '@rdfjs/types';
import { DataFactory, Parser } from 'n3';
import { readRdf } from '../support/rdf.js';

const { blankNode, literal, namedNode, quad } = DataFactory;

export type Solution = ReadonlyMap<string, Term>;

export type Outcome =
  | { readonly kind: 'boolean'; readonly value: boolean }
  | { readonly kind: 'graph'; readonly quads: readonly Quad[] }
  | {
      readonly kind: 'solutions';
      readonly variables: readonly string[];
      readonly rows: readonly Solution[];
      /** True if the format defines the order (`rs:index`). */
      readonly isNumbered: boolean;
    };

const mediaTypes: Readonly<Record<string, string>> = {
  srx: 'application/sparql-results+xml',
  srj: 'application/sparql-results+json',
  csv: 'text/csv',
  tsv: 'text/tab-separated-values',
  ttl: 'text/turtle',
  rdf: 'application/rdf+xml',
  nt: 'application/n-triples',
  trig: 'application/trig',
  nq: 'application/n-quads',
};

export const mediaTypeOf = (path: string): string => mediaTypes[path.slice(path.lastIndexOf('.') + 1)]!;

export const isNumbered = (outcome: Outcome): boolean => outcome.kind === 'solutions' && outcome.isNumbered;

/** Parses a result of a media type. @throws on other types and on an invalid result */
export async function readOutcome(text: string, type: string, base: string): Promise<Outcome> {
  if (type === mediaTypes['srx']) return fromXml(text, base);
  if (type === mediaTypes['srj']) return fromJson(text);
  if (type === mediaTypes['csv']) return fromCsv(text);
  if (type === mediaTypes['tsv']) return fromTsv(text);
  return fromGraph(await readRdf(text, type, base));
}

const solutions = (variables: readonly string[], rows: readonly Solution[], isNumbered = false): Outcome => ({
  kind: 'solutions',
  variables,
  rows,
  isNumbered,
});

interface Qualifiers {
  readonly language?: string | undefined;
  readonly direction?: string | undefined;
  readonly datatype?: string | undefined;
}

const literalOf = (value: string, { language, direction, datatype }: Qualifiers): Term =>
  literal(
    value,
    direction ? ({ language, direction } as never) : language || (datatype ? namedNode(datatype) : undefined),
  );

const tripleOf = ([subject, predicate, object]: readonly Term[]): Term =>
  quad(subject as never, predicate as never, object as never) as unknown as Term;

interface JsonTerm {
  readonly type: string;
  readonly value: string | Readonly<Record<'subject' | 'predicate' | 'object', JsonTerm>>;
  readonly datatype?: string;
  readonly 'xml:lang'?: string;
  readonly 'its:dir'?: string;
}
interface JsonResults {
  readonly head: { readonly vars?: readonly string[] };
  readonly boolean?: boolean;
  readonly results?: { readonly bindings: readonly Readonly<Record<string, JsonTerm>>[] };
}

function fromJson(text: string): Outcome {
  const { head, boolean, results } = JSON.parse(text) as JsonResults;
  if (boolean !== undefined) return { kind: 'boolean', value: boolean };
  const term = ({ type, value, datatype, 'xml:lang': language, 'its:dir': direction }: JsonTerm): Term => {
    if (typeof value === 'object') return tripleOf([value.subject, value.predicate, value.object].map(term));
    if (type === 'uri') return namedNode(value);
    return type === 'bnode' ? blankNode(value) : literalOf(value, { language, direction, datatype });
  };
  const rows = results!.bindings.map((row) => new Map(Object.entries(row).map(([name, value]) => [name, term(value)])));
  return solutions(head.vars!, rows);
}

interface XmlElement {
  readonly localName: string;
  readonly childNodes: ArrayLike<XmlElement>;
  readonly textContent: string | null;
  getAttribute(name: string): string | null;
  getElementsByTagNameNS(namespace: string, name: string): ArrayLike<XmlElement>;
}
interface Xmldom {
  readonly DOMParser: new (options: {
    errorHandler: (level: string, message: string) => never;
  }) => { parseFromString(source: string, mediaType: string): { readonly documentElement: XmlElement } };
}
// Not `import`: the types of the package would declare browser globals in the whole program.
const { DOMParser } = createRequire(import.meta.url)('@xmldom/xmldom') as Xmldom;

function fromXml(text: string, base: string): Outcome {
  const errorHandler = (_: string, message: string): never => {
    throw new Error(message);
  };
  const root = new DOMParser({ errorHandler }).parseFromString(text, 'text/xml').documentElement;
  const within = (element: XmlElement, name: string): XmlElement[] =>
    Array.from(element.getElementsByTagNameNS('http://www.w3.org/2005/sparql-results#', name));
  const term = (binding: XmlElement): Term => {
    const [triple] = within(binding, 'triple');
    if (triple) {
      const members = Array.from(triple.childNodes).filter(({ localName }) => localName);
      return tripleOf(members.map(term));
    }
    const [found] = ['uri', 'bnode', 'literal'].flatMap((name) => within(binding, name));
    const value = found!.textContent ?? '';
    if (found!.localName === 'uri') return namedNode(resolve(value, base));
    if (found!.localName === 'bnode') return blankNode(value);
    const attribute = (name: string): string | undefined => found!.getAttribute(name) ?? undefined;
    return literalOf(value, {
      language: attribute('xml:lang'),
      direction: attribute('its:dir'),
      datatype: attribute('datatype'),
    });
  };
  const [truth] = within(root, 'boolean');
  if (truth) return { kind: 'boolean', value: truth.textContent!.trim() === 'true' };
  const variables = within(root, 'variable').map((element) => element.getAttribute('name')!);
  const rows = within(root, 'result').map(
    (result) =>
      new Map(within(result, 'binding').map((binding) => [binding.getAttribute('name')!, term(binding)] as const)),
  );
  return solutions(variables, rows);
}

/** Resolves a relative IRI, and leaves an absolute one unchanged. */
const resolve = (iri: string, base: string): string =>
  /^[a-z][a-z0-9+.-]*:/i.test(iri) ? iri : new URL(iri, base).href;

/** CSV distinguishes blank nodes only, so all other values become plain literals. */
function fromCsv(text: string): Outcome {
  const lines: string[][] = [[]];
  for (const [, quoted, plain, end] of text.matchAll(/(?:"((?:[^"]|"")*)"|([^",\r\n]*))(,|\r?\n|$)/g)) {
    if (end === '' && quoted === undefined && plain === '' && lines.at(-1)!.length === 0) break;
    lines.at(-1)!.push(quoted?.replaceAll('""', '"') ?? plain!);
    if (end !== ',') lines.push([]);
  }
  const [names, ...rows] = lines.filter((line) => line.length > 0);
  return table(names!, rows, (cell) => (cell.startsWith('_:') ? blankNode(cell.slice(2)) : literal(cell)));
}

function fromTsv(text: string): Outcome {
  const [head, ...rows] = text.replace(/\r?\n$/, '').split(/\r?\n/);
  const names = head!.split('\t').map((name) => name.replace(/^\?/, ''));
  const term = (cell: string): Term => {
    if (cell.startsWith('_:')) return blankNode(cell.slice(2));
    return new Parser().parse(`<urn:s> <urn:p> ${cell} .`)[0]!.object;
  };
  return table(
    names,
    rows.map((row) => row.split('\t')),
    term,
  );
}

function table(names: readonly string[], rows: readonly string[][], term: (cell: string) => Term): Outcome {
  const bound = (row: readonly string[]): Solution =>
    new Map(names.flatMap((name, index) => (row[index] ? [[name, term(row[index])] as const] : [])));
  return solutions(names, rows.map(bound));
}

const rs = 'http://www.w3.org/2001/sw/DataAccess/tests/result-set#';

/** Returns the result that the graph describes, or the graph itself. */
function fromGraph(quads: readonly Quad[]): Outcome {
  const objects = (subject: Term, name: string): Term[] =>
    quads.filter((q) => q.subject.equals(subject) && q.predicate.value === rs + name).map(({ object }) => object);
  const set = quads.find(({ object }) => object.value === `${rs}ResultSet`)?.subject;
  if (!set) return { kind: 'graph', quads };
  const [truth] = objects(set, 'boolean');
  if (truth) return { kind: 'boolean', value: truth.value === 'true' };
  const found = objects(set, 'solution').map((solution) => ({
    index: objects(solution, 'index')[0],
    row: new Map(
      objects(solution, 'binding').map((binding) => [
        objects(binding, 'variable')[0]!.value,
        objects(binding, 'value')[0]!,
      ]),
    ),
  }));
  const isNumbered = found.length > 0 && found.every(({ index }) => index !== undefined);
  if (isNumbered) found.sort((a, b) => Number(a.index!.value) - Number(b.index!.value));
  return solutions(
    objects(set, 'resultVariable').map(({ value }) => value),
    found.map(({ row }) => row),
    isNumbered,
  );
}
