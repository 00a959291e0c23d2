/**
 * The SERVICE clauses of a query: judged, taken out of its syntax as strings for other endpoints, and put into its algebra. It
 * must not ask anybody, nor know how the rest of the query is answered.
 */
import type { Algebra } from '@comunica/utils-algebra';
import type { Term } from '@rdfjs/types';
import { LwsError } from '../../errors.js';
import { type AllowedHost, isAllowedHost } from '../../outbound/address-policy.js';
import { nodesOf } from './query-scopes.js';
import { loadParser, type Syntax } from './sparql-parser.js';

/** A subset of them: of what is not known here, none. */
function certainVariables(node: Algebra.Operation): ReadonlySet<string> {
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
    case 'graph':
      return unite([input(node), namesOf([(node as Algebra.Graph).name])]);
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

/** What is asked of another endpoint for one clause. */
export interface ServiceClause {
  readonly endpoint: string;
  readonly isSilent: boolean;
  /** Whether the endpoint is not asked, since SILENT names one that is not allowed: the clause has one empty solution. */
  readonly isDenied: boolean;
  /** The group as a query of its own. */
  readonly query: string;
  /** What a solution may bind. */
  readonly variables: readonly string[];
  /** Those that every solution binds. A list, since Comunica copies what hangs on an operation property by property. */
  readonly certain: readonly string[];
}

/** Stands for the endpoint in the algebra: nobody who does not know the clauses could ask at it. */
const placeholder = 'urn:quadpod:service:';

/**
 * Replaces the endpoints in the syntax by names that `putServices` finds again. Their groups stay, for the variables in them.
 * @throws LwsError `too-complex` for a clause that is not allowed, nested ones too, unless it is SILENT
 */
export async function takeServices(
  syntax: Syntax,
  base: string,
  allowed: readonly AllowedHost[],
): Promise<readonly ServiceClause[]> {
  const all = [...nodesOf(syntax)].filter(isService);
  if (all.length === 0) return [];
  if (allowed.length === 0 && !all.every(({ silent }) => silent))
    throw refused('SERVICE is not possible here: no host is allowed (lws.sparql.endpoint.allowed-services).');
  if (all.length > maxServices) throw refused(`A query may have ${maxServices} SERVICE clauses.`);
  const tools = await makeTools(syntax, base);
  const denied = new Set(all.filter((node) => isDenied(tools.meaningOf(node), allowed)));
  const outer = [...nodesOf(syntax, (node) => !isService(node))].filter(isService);
  const meanings = outer.map((node) => ({ ...tools.meaningOf(node), isDenied: denied.has(node) }));
  // Other endpoints do not ask them either.
  for (const node of denied) if (!outer.includes(node)) Object.assign(node, { subType: 'group', patterns: [] });
  const clauses = outer.map((node, at) => ({ ...meanings[at]!, query: tools.textOf(node) }));
  // The nested ones last, in the texts of the outer ones.
  for (const node of all) rename(node, outer.indexOf(node));
  return clauses;
}

/** Gives the nodes of the algebra their clauses, as `clause`. */
export function putServices(algebra: Algebra.Operation, clauses: readonly ServiceClause[]): void {
  if (clauses.length === 0) return;
  for (const node of nodesOf(algebra)) {
    if (node.type !== 'service') continue;
    const { value } = node['name'] as { value: string };
    Object.assign(node, { clause: clauses[Number(value.slice(placeholder.length))] });
  }
}

const isService = ({ subType }: Syntax): boolean => subType === 'service';

const rename = (node: Syntax, index: number): void =>
  void Object.assign(node, {
    name: { type: 'term', subType: 'namedNode', value: placeholder + index, loc: node['loc'] },
  });

type Meaning = Omit<ServiceClause, 'query' | 'isDenied'>;

interface Tools {
  readonly meaningOf: (service: Syntax) => Meaning;
  readonly textOf: (service: Syntax) => string;
}

async function makeTools(syntax: Syntax, base: string): Promise<Tools> {
  const [{ parser, toAlgebra }, { Generator }] = await Promise.all([
    loadParser(),
    import('@traqula/generator-sparql-1-2'),
  ]);
  const generator = new Generator();
  const frame = parser.parse('SELECT * {}') as unknown as Syntax;
  const based = (parser.parse(`BASE <${base}> SELECT * {}`) as unknown as Syntax)['context'] as readonly Syntax[];
  const prologue = syntax['context'] as readonly Syntax[];
  const query = (context: readonly Syntax[], patterns: readonly Syntax[]): Syntax => ({
    ...frame,
    context,
    where: { ...(frame['where'] as Syntax), patterns },
  });
  return {
    meaningOf(service) {
      const name = service['name'] as Syntax;
      // Where it leads is only known while the query runs, and depends on data.
      if (name.subType === 'variable')
        throw refused(`SERVICE ?${name['value']} is not possible here: the endpoint is written out.`);
      const algebra = toAlgebra(query(prologue, [service]), base);
      const { input, variables } = algebra as Algebra.Project;
      const { name: endpoint, input: group } = input as Algebra.Service;
      return {
        endpoint: endpoint.value,
        isSilent: service['silent'] === true,
        variables: variables.map(({ value }) => value),
        certain: [...certainVariables(group)],
      };
    },
    textOf(service) {
      const patterns = service['patterns'] as readonly Syntax[];
      // The others need not be told what the server is called, unless something is relative to that.
      const ownBase = prologue.findIndex((node) => node.subType === 'base' && !isReference(node['value'] as Syntax));
      const exposed = ownBase < 0 ? [...prologue, ...patterns] : prologue.slice(0, ownBase);
      const isRelative = exposed.some((node) => [...nodesOf(node)].some(isReference));
      const context = isRelative ? [...based, ...prologue] : prologue;
      return generator.generate(query(context, patterns) as never);
    },
  };
}

/** An IRI that is written relative to the base. */
const isReference = ({ subType, prefix, value }: Syntax): boolean =>
  subType === 'namedNode' && prefix === undefined && !/^[A-Za-z][A-Za-z0-9+.-]*:/.test(String(value));

/** SERVICE clauses of a query, nested ones too. Each is asked once. */
export const maxServices = 8;

/**
 * The URL that an endpoint is asked at.
 * @throws LwsError `too-complex` for what is no http or https URL without credentials at a host of the list
 */
export function assertAllowed(endpoint: string, allowed: readonly AllowedHost[]): URL {
  const url = URL.canParse(endpoint) ? new URL(endpoint) : undefined;
  if (!url || !/^https?:$/.test(url.protocol) || url.username !== '' || url.password !== '')
    throw refused(`SERVICE names an http or https URL without credentials; <${endpoint.slice(0, 200)}> is none.`);
  if (!isAllowedHost(url, allowed))
    throw refused(
      `SERVICE of ${url.host} is not possible here: the host is not allowed (lws.sparql.endpoint.allowed-services).`,
    );
  return url;
}

/** @throws LwsError as `assertAllowed`, unless the clause is SILENT */
function isDenied({ endpoint, isSilent }: Meaning, allowed: readonly AllowedHost[]): boolean {
  try {
    assertAllowed(endpoint, allowed);
    return false;
  } catch (error) {
    if (!isSilent) throw error;
    return true;
  }
}

/** A query that is refused for its SERVICE, before anything of it runs. */
const refused = (message: string): LwsError => new LwsError('too-complex', message);
