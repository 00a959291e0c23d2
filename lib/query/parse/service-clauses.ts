/**
 * Checks SERVICE clauses, extracts them from the syntax as queries for other endpoints, and adds them to the algebra. Must not
 * send requests or depend on the evaluation of the query.
 */
import type { Algebra } from '@comunica/utils-algebra';
import type { Term } from '@rdfjs/types';
import { LwsError } from '../../tools/errors.js';
import { type AllowedHost, isAllowedHost } from '../../tools/outbound/address-policy.js';
import { nodesOf } from './query-scopes.js';
import { loadParser, type Syntax } from './sparql-parser.js';

/** Returns variables that every solution binds, possibly not all. Empty for unknown operations. */
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
  new Set(
    terms.flatMap((term) => {
      if (!('termType' in term)) return [];
      if (term.termType === 'Quad') return [...namesOf([term.subject, term.predicate, term.object])];
      return term.termType === 'Variable' ? [term.value] : [];
    }),
  );
const namesIn = ({ subject, predicate, object, graph }: Algebra.Pattern | Algebra.Path): Set<string> =>
  namesOf([subject, predicate, object, graph]);

function valuesOf({ variables, bindings }: Algebra.Values): ReadonlySet<string> {
  return new Set([...namesOf(variables)].filter((name) => bindings.every((row) => Object.hasOwn(row, name))));
}

/** Request to another endpoint for one clause. */
export interface ServiceClause {
  readonly endpoint: string;
  readonly isSilent: boolean;
  /** True if the clause is SILENT and the endpoint is not allowed. Without a request, it has one empty solution. */
  readonly isDenied: boolean;
  /** Complete query that is sent to the endpoint. */
  readonly query: string;
  /** Names of variables that a solution may bind. */
  readonly variables: readonly string[];
  /** Names of variables that every solution binds. An array, because Comunica copies operations member by member. */
  readonly certain: readonly string[];
}

/** Prefix of names that replace endpoints. Only code with the clauses can then send a request. */
const placeholder = 'urn:quadpod:service:';

/**
 * Replaces the endpoints in the syntax by names that `putServices` finds. The groups stay, because of their variables.
 * @throws LwsError `too-complex` for a clause that is not allowed, even a nested one, unless it is SILENT
 */
export async function takeServices(
  syntax: Syntax,
  base: string,
  allowed: readonly AllowedHost[],
): Promise<readonly ServiceClause[]> {
  const all = [...nodesOf(syntax)].filter(isService);
  if (all.length === 0) return [];
  if (allowed.length === 0 && !all.every(({ silent }) => silent))
    throw refused('SERVICE is not available: no host is allowed (lws.sparql.endpoint.allowed-services).');
  if (all.length > maxServices) throw refused(`The query exceeds the limit of ${maxServices} SERVICE clauses.`);
  const tools = await makeTools(syntax, base);
  const denied = new Set(all.filter((node) => isDenied(tools.meaningOf(node), allowed)));
  const outer = [...nodesOf(syntax, (node) => !isService(node))].filter(isService);
  const meanings = outer.map((node) => ({ ...tools.meaningOf(node), isDenied: denied.has(node) }));
  // Nested clauses that are denied are removed, so that other endpoints do not query them either.
  for (const node of denied) if (!outer.includes(node)) Object.assign(node, { subType: 'group', patterns: [] });
  const clauses = outer.map((node, at) => ({ ...meanings[at]!, query: tools.textOf(node) }));
  // Endpoints are renamed last, because the queries of the outer clauses contain the nested clauses.
  for (const node of all) rename(node, outer.indexOf(node));
  return clauses;
}

/** Adds the clauses to their nodes in the algebra, as the member `clause`. */
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
      // With a variable, the endpoint would depend on data, and would be known only while the query runs.
      if (name.subType === 'variable')
        throw refused(`SERVICE ?${name['value']} is not supported. Write the IRI of the endpoint.`);
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
      // The server's own base IRI is omitted, unless an IRI is relative to it.
      const ownBase = prologue.findIndex((node) => node.subType === 'base' && !isReference(node['value'] as Syntax));
      const exposed = ownBase < 0 ? [...prologue, ...patterns] : prologue.slice(0, ownBase);
      const isRelative = exposed.some((node) => [...nodesOf(node)].some(isReference));
      const context = isRelative ? [...based, ...prologue] : prologue;
      return generator.generate(query(context, patterns) as never);
    },
  };
}

/** Returns true for an IRI that is relative to the base. */
const isReference = ({ subType, prefix, value }: Syntax): boolean =>
  subType === 'namedNode' && prefix === undefined && !/^[A-Za-z][A-Za-z0-9+.-]*:/.test(String(value));

/** Maximum count of SERVICE clauses in a query, including nested clauses. A request is sent for each. */
export const maxServices = 8;

/**
 * Returns the URL of an endpoint.
 * @throws LwsError `too-complex` unless the endpoint is an http or https URL without credentials, with an allowed host
 */
export function assertAllowed(endpoint: string, allowed: readonly AllowedHost[]): URL {
  const url = URL.canParse(endpoint) ? new URL(endpoint) : undefined;
  if (!url || !/^https?:$/.test(url.protocol) || url.username !== '' || url.password !== '')
    throw refused(`SERVICE requires an http or https URL without credentials, not <${endpoint.slice(0, 200)}>.`);
  if (!isAllowedHost(url, allowed))
    throw refused(`SERVICE of ${url.host} is not allowed (lws.sparql.endpoint.allowed-services).`);
  return url;
}

/** Returns true if a SILENT clause is not allowed. @throws LwsError as `assertAllowed`, for any other clause */
function isDenied({ endpoint, isSilent }: Meaning, allowed: readonly AllowedHost[]): boolean {
  try {
    assertAllowed(endpoint, allowed);
    return false;
  } catch (error) {
    if (!isSilent) throw error;
    return true;
  }
}

/** Returns the error for a query that is rejected because of its SERVICE. */
const refused = (message: string): LwsError => new LwsError('too-complex', message);
