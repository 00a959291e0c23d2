/**
 * Queries with SERVICE: answered by the engine alone, or not at all. It stands where Comunica does for other queries; that
 * one would ask endpoints itself. It must not know how they are asked.
 */
import { randomBytes } from 'node:crypto';
import type { Quad, Quad_Object, Quad_Predicate, Quad_Subject, Term } from '@rdfjs/types';
import { DataFactory } from 'rdf-data-factory';
import type { Node } from './engine/compile-scope.js';
import type { Slot } from './engine/plan.js';
import type { EngineSource } from './engine/query-source.js';
import { termOf } from './engine/terms.js';
import { refused } from './service-policy.js';

type Bindings = ReadonlyMap<string, Term>;

const factory = new DataFactory<Quad>();

export function federatedEngine(source: EngineSource) {
  return {
    queryBindings: async (algebra: Node): Promise<AsyncIterable<Bindings>> => solutions(source, algebra),
    async queryBoolean(algebra: Node): Promise<boolean> {
      for await (const _solution of solutions(source, algebra)) return true;
      return false;
    },
    async queryQuads(algebra: Node): Promise<AsyncIterable<Quad>> {
      const { template, select } = selectOf(algebra);
      return constructed(template, solutions(source, select));
    },
  };
}

/** @throws LwsError `too-complex` at once, for what cannot be compiled */
function solutions(source: EngineSource, algebra: Node): AsyncGenerator<Bindings> {
  const run = source.start(algebra);
  if (!run) throw refused('SERVICE is not possible here together with something else in this query. Make it simpler.');
  const { rows, columns, close } = run;
  return (async function* () {
    try {
      for await (const block of rows) for (const row of block) yield bindingsOf(row, columns);
    } finally {
      await close();
    }
  })();
}

function bindingsOf(row: readonly (string | undefined)[], columns: readonly (readonly [string, Slot])[]): Bindings {
  const bindings = new Map<string, Term>();
  for (const [name, slot] of columns) if (row[slot] !== undefined) bindings.set(name, termOf(row[slot]));
  return bindings;
}

/** The solutions of a CONSTRUCT, as a query for the variables of its template. */
function selectOf(algebra: Node): { template: readonly Quad[]; select: Node } {
  const isCut = algebra.type === 'slice';
  const construct = isCut ? (algebra['input'] as Node) : algebra;
  if (construct.type !== 'construct') throw refused('SERVICE is not possible in DESCRIBE. Write it as CONSTRUCT.');
  const template = construct['template'] as readonly Quad[];
  const used = template.flatMap((quad) => termsOf(quad)).filter(({ termType }) => termType === 'Variable');
  const variables = [...new Map(used.map((variable) => [variable.value, variable])).values()];
  const input = construct['input'] as Node;
  return { template, select: { type: 'project', variables, input: isCut ? { ...algebra, input } : input } };
}

const termsOf = ({ subject, predicate, object }: Quad): Term[] => [subject, predicate, object];

/** SPARQL 1.1 16.2: what would be no triple is left out, and blank nodes are new for each solution. */
async function* constructed(template: readonly Quad[], all: AsyncIterable<Bindings>): AsyncGenerator<Quad> {
  const scope = randomBytes(12).toString('hex');
  let count = 0;
  for await (const solution of all) {
    count++;
    const fill = (term: Term): Term | undefined =>
      term.termType === 'Variable'
        ? solution.get(term.value)
        : term.termType === 'BlankNode'
          ? factory.blankNode(`b${scope}x${count.toString(36)}x${term.value}`)
          : term;
    for (const quad of template) {
      const [subject, predicate, object] = termsOf(quad).map(fill);
      if (!subject || subject.termType === 'Literal' || predicate?.termType !== 'NamedNode' || !object) continue;
      yield factory.quad(subject as Quad_Subject, predicate as Quad_Predicate, object as Quad_Object);
    }
  }
}
