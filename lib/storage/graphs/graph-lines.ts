/**
 * Large graphs as text: one triple per line, in the order of the GSPO keys, as N-Triples, which are Turtle, TriG and N-Quads as well. A line
 * depends on its own key alone, so a change of some triples can adjust the length of the text without reading the others.
 */
import type { Quad } from '@rdfjs/types';
import { bracketed, shortString } from '../../rdf/turtle-terms.js';
import { writeTurtle } from '../../rdf/turtle-writer.js';
import type { TermSpan } from '../keys/key-layout.js';
import { decodeGraph, spansOfKey } from '../keys/quad-decoding.js';

/** A graph of more triples is large: its default Turtle has a line per triple, and code avoids to hold the whole graph in memory. */
export const largeGraph = 20_000;

/** Whether a graph of so many triples is large. */
export const isLargeGraph = (triples: number): boolean => triples > largeGraph;

/**
 * Makes the line of a GSPO key; blank nodes have the labels that are stored.
 * @param end the end of each line: a full stop, or for N-Quads the name of the graph before it
 */
export function lineWriter(end = ' .\n'): (key: string) => string {
  // The last subject and predicate with their texts: successive keys share them mostly.
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
  const qualifier = key.slice(qualifierAt, qualifierEnd);
  return type === '4' ? `${shortString(value)}@${qualifier}` : `${shortString(value)}^^${bracketed(qualifier)}`;
}

/** Makes a node object (expanded JSON-LD) of one GSPO key. A subject appears in one such object for each of its triples. */
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
  const qualifier = JSON.stringify(key.slice(qualifierAt, qualifierEnd));
  return `{${value},${type === '4' ? '"@language"' : '"@type"'}:${qualifier}}`;
}

/** Bytes of the lines of GSPO keys. */
export function sizeOfLines(keys: Iterable<string>): number {
  const count = lineCounter();
  let size = 0;
  for (const key of keys) size += count(key);
  return size;
}

/** Counts the bytes of the line of a GSPO key. */
export function lineCounter(): (key: string) => number {
  const line = lineWriter();
  return (key) => Buffer.byteLength(line(key));
}

/** The default Turtle of a graph: its size, for the record of the resource, and its bytes unless the graph is large. */
export interface DefaultTurtle {
  readonly size: number;
  /** Absent: the graph is large. */
  readonly turtle?: Uint8Array<ArrayBuffer>;
}

/**
 * The default Turtle of a graph that is in memory as a whole.
 * @param given its GSPO keys in order, and its triples if the caller has them
 * @param graph the IRI of the resource
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
