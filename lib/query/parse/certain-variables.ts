/**
 * The variables that every solution of a part of the algebra binds (SPARQL 1.1 18.2.1 says which it may bind). Pure; it must
 * not know endpoints or plans.
 */
import type { Algebra } from '@comunica/utils-algebra';
import type { Term } from '@rdfjs/types';

/** A subset of them: of what is not known here, none. */
export function certainVariables(node: Algebra.Operation): ReadonlySet<string> {
  switch (node.type) {
    case 'bgp':
      return unite((node as Algebra.Bgp).patterns.map(namesIn));
    case 'pattern':
    case 'path':
      return namesIn(node as Algebra.Pattern | Algebra.Path);
    case 'join':
      return unite(inputs(node));
    case 'union':
      return inputs(node).reduce(common);
    case 'leftjoin':
    case 'minus':
      return inputs(node)[0]!;
    case 'values':
      return valuesOf(node as Algebra.Values);
    case 'project':
    case 'group':
      return common(input(node), namesOf((node as Algebra.Project | Algebra.Group).variables));
    case 'filter':
    case 'extend':
    case 'orderby':
    case 'slice':
    case 'distinct':
    case 'reduced':
      return input(node);
    default:
      return new Set();
  }
}

const input = (node: Algebra.Operation): ReadonlySet<string> => certainVariables((node as Algebra.Single).input);
const inputs = (node: Algebra.Operation): ReadonlySet<string>[] => (node as Algebra.Multi).input.map(certainVariables);
const unite = (sets: readonly ReadonlySet<string>[]): Set<string> => new Set(sets.flatMap((set) => [...set]));
const common = (a: ReadonlySet<string>, b: ReadonlySet<string>): ReadonlySet<string> =>
  new Set([...a].filter((name) => b.has(name)));

const namesOf = (terms: readonly (Term | Algebra.Operation)[]): Set<string> =>
  new Set(terms.flatMap((term) => ('termType' in term && term.termType === 'Variable' ? [term.value] : [])));
const namesIn = ({ subject, predicate, object, graph }: Algebra.Pattern | Algebra.Path): Set<string> =>
  namesOf([subject, predicate, object, graph]);

function valuesOf({ variables, bindings }: Algebra.Values): ReadonlySet<string> {
  return new Set([...namesOf(variables)].filter((name) => bindings.every((row) => Object.hasOwn(row, name))));
}
