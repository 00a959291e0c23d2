/**
 * The variables that every solution of a part of the algebra binds (SPARQL 1.1 18.2.1 says which it may bind). Pure; it must
 * not know endpoints or plans.
 */
import type { Term } from '@rdfjs/types';

interface Node {
  readonly type?: string;
  readonly [member: string]: unknown;
}

/** A subset of them: of what is not known here, none. */
export function certainVariables(node: Node): ReadonlySet<string> {
  switch (node.type) {
    case 'bgp':
      return unite((node['patterns'] as readonly Node[]).map(namesIn));
    case 'pattern':
    case 'path':
      return namesIn(node);
    case 'join':
      return unite(inputs(node));
    case 'union':
      return inputs(node).reduce(common);
    case 'leftjoin':
    case 'minus':
      return inputs(node)[0]!;
    case 'values':
      return valuesOf(node);
    case 'project':
    case 'group':
      return common(input(node), namesOf(node['variables']));
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

const input = (node: Node): ReadonlySet<string> => certainVariables(node['input'] as Node);
const inputs = (node: Node): ReadonlySet<string>[] => (node['input'] as readonly Node[]).map(certainVariables);
const unite = (sets: readonly ReadonlySet<string>[]): Set<string> => new Set(sets.flatMap((set) => [...set]));
const common = (a: ReadonlySet<string>, b: ReadonlySet<string>): ReadonlySet<string> =>
  new Set([...a].filter((name) => b.has(name)));

const namesOf = (terms: unknown): Set<string> =>
  new Set(
    (terms as readonly (Term | undefined)[]).flatMap((term) => (term?.termType === 'Variable' ? [term.value] : [])),
  );
const namesIn = ({ subject, predicate, object, graph }: Node): Set<string> =>
  namesOf([subject, predicate, object, graph]);

function valuesOf(node: Node): ReadonlySet<string> {
  const rows = node['bindings'] as readonly Readonly<Record<string, Term>>[];
  const names = [...namesOf(node['variables'])];
  return new Set(names.filter((name) => rows.every((row) => Object.hasOwn(row, name))));
}
