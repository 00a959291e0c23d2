/**
 * Comparison of a query result with the expected one: graphs by isomorphism, solutions as multisets with one mapping of blank
 * nodes, or in order if required. Must not depend on formats.
 */
import type { Quad, Term } from '@rdfjs/types';
import { DataFactory } from 'n3';
import { isomorphic } from '../lib/rdf/isomorphism.js';
import type { Outcome, Solution } from './outcomes.js';

const { blankNode, literal, namedNode, quad } = DataFactory;

export interface Comparison {
  readonly isOrdered?: boolean;
  /** Ignores duplicates. */
  readonly isLax?: boolean;
  /** Compares numbers of the same type by value. Other terms must be equal. */
  readonly byValue?: boolean;
}

type Solutions = readonly Solution[];

export function sameOutcome(actual: Outcome, expected: Outcome, how: Comparison = {}): boolean {
  if (actual.kind === 'boolean') return expected.kind === 'boolean' && actual.value === expected.value;
  if (actual.kind === 'graph') return expected.kind === 'graph' && isomorphic(actual.quads, expected.quads);
  if (expected.kind !== 'solutions') return false;
  if ([...actual.variables].sort().join() !== [...expected.variables].sort().join()) return false;
  const [left, right] = [actual.rows, expected.rows].map((rows) => comparable(rows, how)) as [Solutions, Solutions];
  return left.length === right.length && isomorphic(asGraph(left, how), asGraph(right, how));
}

function comparable(rows: Solutions, { isLax, byValue }: Comparison): Solutions {
  const written = byValue ? rows.map((row) => new Map([...row].map(([name, term]) => [name, canonical(term)]))) : rows;
  return isLax ? [...new Map(written.map((row) => [rowText(row), row])).values()] : written;
}

const numeric = /#(?:integer|decimal|double|float)$/;
const canonical = (term: Term): Term =>
  term.termType === 'Literal' && numeric.test(term.datatype.value)
    ? literal(String(Number(term.value)), namedNode(term.datatype.value))
    : term;

/** Represents each solution by a blank node, so that the isomorphism also pairs the solutions. */
function asGraph(rows: Solutions, { isOrdered }: Comparison): Quad[] {
  return rows.flatMap((row, index) => {
    const subject = blankNode(`row${index}`);
    return [
      quad(subject, namedNode('urn:row'), literal(isOrdered ? index : 0)),
      ...[...row].map(([name, term]) => {
        return quad(subject, namedNode(`urn:variable:${name}`), apart(term) as never);
      }),
    ];
  });
}

/** Separates blank nodes from those of solutions. */
function apart(term: Term): Term {
  if (term.termType === 'BlankNode') return blankNode(`of-${term.value}`);
  if (term.termType !== 'Quad') return term;
  return quad(apart(term.subject) as never, term.predicate as never, apart(term.object) as never) as unknown as Term;
}

const rowText = (row: Solution): string =>
  [...row]
    .map(([name, term]) => `?${name}=${termText(term)}`)
    .sort()
    .join(' ');

function termText(term: Term): string {
  if (term.termType === 'BlankNode') return `_:${term.value}`;
  if (term.termType === 'Quad') return `<<( ${[term.subject, term.predicate, term.object].map(termText).join(' ')} )>>`;
  if (term.termType !== 'Literal') return `<${term.value}>`;
  const tag = `@${term.language}${term.direction ? `--${term.direction}` : ''}`;
  return `${JSON.stringify(term.value)}${term.language ? tag : `^^<${term.datatype.value}>`}`;
}

/** Formats an outcome for an assertion message. */
export function outcomeText(outcome: Outcome): string {
  if (outcome.kind === 'boolean') return String(outcome.value);
  if (outcome.kind === 'graph')
    return outcome.quads.map((q) => [q.subject, q.predicate, q.object].map(termText).join(' ')).join('\n');
  return [`(${outcome.variables.join(' ')})`, ...outcome.rows.map(rowText)].join('\n');
}
