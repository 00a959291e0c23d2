/** Compiles templates of CONSTRUCT and updates. An update becomes a plan for its WHERE, and two templates. */
import type { Algebra } from '@comunica/utils-algebra';
import type { BaseQuad, Term } from '@rdfjs/types';
import { storedToken, type TermKey } from '../access/terms.js';
import { compileNode } from './compile.js';
import { type Names, namesOf } from './compile-scope.js';
import type { Plan, Template, TemplatePlace, TemplateTriple } from './plan.js';

/** Compiles a template. @param constant returns the token of a constant */
export function compileTemplate(
  patterns: readonly Algebra.Pattern[],
  names: Names,
  constant: (term: Term) => TermKey,
): Template {
  const place = (term: Term): TemplatePlace => {
    if (term.termType === 'Variable') return { slot: names.slot(term.value) };
    if (term.termType === 'Quad') return { triple: triple(term) };
    return term.termType === 'BlankNode' ? { label: term.value } : { token: constant(term) };
  };
  const triple = ({ subject, predicate, object }: BaseQuad): TemplateTriple => [
    place(subject),
    place(predicate),
    place(object),
  ];
  return patterns.map(triple);
}

/** Template of triples in one graph. */
export interface GraphTemplate {
  readonly graph: TemplatePlace;
  readonly template: Template;
}

export interface CompiledUpdate {
  /** Plan of the solutions; undefined: one empty solution. */
  readonly plan: Plan | undefined;
  readonly width: number;
  readonly isHasty: boolean;
  readonly removed: readonly GraphTemplate[];
  readonly added: readonly GraphTemplate[];
}

/**
 * Compiles one DELETE and INSERT, for one execution.
 * @param base base IRI for IRI()
 * @param graph graph of patterns outside of GRAPH
 * @throws NotCompiledError; LwsError as `encodeTerm` for a constant that cannot be stored
 */
export function compileUpdate(
  operation: Algebra.DeleteInsert,
  { base, graph: outer }: { readonly base: string; readonly graph?: string | undefined },
): CompiledUpdate {
  const { where, delete: gone = [], insert = [] } = operation;
  const names = namesOf(operation, base);
  const graphOf = (term: Term): TemplatePlace => {
    if (term.termType === 'Variable') return { slot: names.slot(term.value) };
    return { token: term.termType === 'DefaultGraph' && outer !== undefined ? outer : storedToken(term) };
  };
  const templates = (patterns: readonly Algebra.Pattern[]): GraphTemplate[] =>
    patterns.map((pattern) => ({
      graph: graphOf(pattern.graph),
      template: compileTemplate([pattern], names, storedToken),
    }));
  const [removed, added] = [templates(gone), templates(insert)];
  const plan = where && compileNode(where, names);
  return { plan, width: names.width, isHasty: false, removed, added };
}
