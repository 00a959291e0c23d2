/**
 * Serializes large graphs with one triple per line in GSPO key order, as N-Triples, which is also valid Turtle, TriG and
 * N-Quads. A line depends only on its key, so that a change of a few triples can adjust the size without reading other lines.
 */
import type { Quad } from '@rdfjs/types';
import { bracketed, shortString, tripleTerm } from '../../rdf/turtle-terms.js';
import { plainTurtleSize, writeTurtle } from '../../rdf/turtle-writer.js';
import { keyOfTriple, type TermSpan } from '../keys/key-layout.js';
import { decodeGraph, directionalLanguage, spansOfKey } from '../keys/quad-decoding.js';

/**
 * Count of triples above which a graph is large: its default Turtle has one line per triple, and code does not keep the whole
 * graph in memory.
 */
export const largeGraph = 20_000;

/** Returns true if a graph with this count of triples is large. */
export const isLargeGraph = (triples: number): boolean => triples > largeGraph;

/**
 * Returns a function that converts a GSPO key to a line. Blank nodes keep their stored labels.
 * @param end end of each line: a full stop, or for N-Quads the graph name before it
 */
export function lineWriter(end = ' .\n'): (key: string) => string {
  // Last subject and predicate, and their texts: successive keys mostly share them.
  let [subject, subjectText, predicate, predicateText] = ['', '', '', ''];
  return (key) => {
    const [, s, p, o] = spansOfKey(key) as unknown as readonly [TermSpan, TermSpan, TermSpan, TermSpan];
    const ownSubject = key.slice(s.from, s.end);
    if (ownSubject !== subject || s.type !== '0') {
      subject = s.type === '0' ? ownSubject : '';
      subjectText = termText(key, s);
    }
    const ownPredicate = key.slice(p.from, p.end);
    if (ownPredicate !== predicate) {
      predicate = ownPredicate;
      predicateText = termText(key, p);
    }
    return `${subjectText} ${predicateText} ${termText(key, o)}${end}`;
  };
}

function termText(key: string, { type, textAt, end, qualifierAt, qualifierEnd }: TermSpan): string {
  const value = key.slice(textAt, end);
  if (type === '0') return bracketed(value);
  if (type === '1') return `_:${value}`;
  if (type === '3') return shortString(value);
  if (type === '8') {
    const inner = keyOfTriple(value);
    const [, subject, predicate, object] = spansOfKey(inner) as readonly [TermSpan, TermSpan, TermSpan, TermSpan];
    return tripleTerm({ subject, predicate, object }, (span) => termText(inner, span));
  }
  const qualifier = key.slice(qualifierAt, qualifierEnd);
  return type === '4' || type === '9'
    ? `${shortString(value)}@${qualifier}`
    : `${shortString(value)}^^${bracketed(qualifier)}`;
}

/** Returns a function that converts a GSPO key without triple terms to a node object (expanded JSON-LD). A subject gets one object per triple. */
export function jsonWriter(): (key: string) => string {
  return (key) => {
    const [, s, p, o] = spansOfKey(key) as unknown as readonly [TermSpan, TermSpan, TermSpan, TermSpan];
    const predicate = JSON.stringify(key.slice(p.textAt, p.end));
    return `{"@id":${nodeJson(key, s)},${predicate}:[${objectJson(key, o)}]}`;
  };
}

const nodeJson = (key: string, { type, textAt, end }: TermSpan): string =>
  JSON.stringify((type === '1' ? '_:' : '') + key.slice(textAt, end));

function objectJson(key: string, span: TermSpan): string {
  const { type, textAt, end, qualifierAt, qualifierEnd } = span;
  if (type === '0' || type === '1') return `{"@id":${nodeJson(key, span)}}`;
  const value = `"@value":${JSON.stringify(key.slice(textAt, end))}`;
  if (type === '3') return `{${value}}`;
  const qualifier = key.slice(qualifierAt, qualifierEnd);
  if (type === '9') {
    const { language, direction } = directionalLanguage(qualifier);
    return `{${value},"@language":${JSON.stringify(language)},"@direction":"${direction}"}`;
  }
  return `{${value},${type === '4' ? '"@language"' : '"@type"'}:${JSON.stringify(qualifier)}}`;
}

/** Returns the total length of the lines of GSPO keys, in bytes. */
export function sizeOfLines(keys: Iterable<string>): number {
  const count = lineCounter();
  let size = 0;
  for (const key of keys) size += count(key);
  return size;
}

/** Returns a function that returns the length of a key's line, in bytes. */
export function lineCounter(): (key: string) => number {
  const line = lineWriter();
  return (key) => Buffer.byteLength(line(key));
}

/** Default Turtle of a graph: its size for the record, and its bytes unless the graph is large. */
export interface DefaultTurtle {
  readonly size: number;
  /** Bytes of the Turtle document. Absent for a large graph. */
  readonly turtle?: Uint8Array<ArrayBuffer>;
}

/**
 * Returns the default Turtle of a graph in memory.
 * @param given sorted GSPO keys of the graph, and its triples if available
 * @param graph IRI of the resource
 */
export function defaultTurtle(
  { keys, quads }: { readonly keys: readonly string[]; readonly quads?: readonly Quad[] },
  graph: string,
  prefixes: Readonly<Record<string, string>>,
): DefaultTurtle {
  if (isLargeGraph(keys.length)) return { size: sizeOfLines(keys) };
  const turtle = Buffer.from(writeTurtle(quads ?? decodeGraph(keys), { base: graph, prefixes }));
  return { size: turtle.length, turtle };
}

/** Returns the size of the default Turtle in bytes. @param given see `defaultTurtle` */
export function sizeOfTurtle(...[given, graph, prefixes]: Parameters<typeof defaultTurtle>): number {
  const plain =
    !isLargeGraph(given.keys.length) && given.quads && plainTurtleSize(given.quads, { base: graph, prefixes });
  return plain || defaultTurtle(given, graph, prefixes).size;
}
