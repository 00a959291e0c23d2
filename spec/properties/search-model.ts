/** Rules of type index and type search as sets in memory. Shares no code with the index. */
export const lws = 'https://www.w3.org/ns/lws#';
export const ldp = 'http://www.w3.org/ns/ldp#';
export const rdfType = 'http://www.w3.org/1999/02/22-rdf-syntax-ns#type';

/** Triple in N-Triples: an IRI in angle brackets, a literal in quotes, or a blank node. */
export type Triple = readonly [subject: string, predicate: string, object: string];

export interface Resource {
  /** Creator. For an anonymous creation, the owner of the parent. */
  readonly owner: string | undefined;
  readonly triples: readonly Triple[];
  /** Relations as sent, with the references of their targets. `type` has the declared types. */
  readonly links: ReadonlyMap<string, readonly string[]>;
}

/** Conjunction of groups: a relation to any of the values. */
export type Filter = readonly { readonly relation: string; readonly values: readonly string[] }[];

export interface Viewer {
  readonly principal: string | undefined;
  readonly publicRead: boolean;
  /** Additional readable resources, and containers with all their descendants. */
  readonly granted: readonly string[];
}

export const isGranted = ({ granted }: Viewer, iri: string): boolean =>
  granted.some((each) => iri === each || (each.endsWith('/') && iri.startsWith(each)));

/** Identity with full access. */
export const storageOwner = 'https://id.example/owner';

const structuralNames = ['up', 'linkset', 'anchor', 'acl', 'self'];
const isStructural = (relation: string): boolean =>
  structuralNames.includes(relation) || [lws, ldp].some((space) => relation.startsWith(space)) || relation === rdfType;

export type Links = Iterable<readonly [relation: string, targets: readonly string[]]>;

const lowered = (name: string): string => (name.includes(':') ? name : name.toLowerCase());
const isDeclarable = (type: string): boolean => !type.startsWith(lws) && !type.startsWith(ldp);
const managed = ['anchor', 'up', 'linkset', `${lws}storage`, rdfType];

export class Model {
  readonly resources = new Map<string, Resource>();

  constructor(readonly root: string) {
    this.put(root, { owner: undefined });
  }

  /** Creates a resource, or changes the given members. */
  put(iri: string, change: Partial<Resource>): void {
    const before = this.resources.get(iri) ?? { owner: undefined, triples: [], links: new Map() };
    this.resources.set(iri, { ...before, ...change });
  }

  /** Replaces all links. Server-managed relations are ignored. */
  setLinks(iri: string, given: Links): void {
    const links = new Map<string, readonly string[]>();
    for (const [relation, targets] of given) {
      const name = lowered(relation);
      if (name === 'type') links.set(name, [...(links.get(name) ?? []), ...targets.filter(isDeclarable)]);
      else if (!managed.includes(name)) links.set(relation, targets);
    }
    this.put(iri, { links });
  }

  /** Replaces the links of the given relations, unless all of their targets are ignored. */
  mergeLinks(iri: string, given: Links): void {
    const isNamed = (relation: string): boolean =>
      [...given].some(
        ([name, refs]) => lowered(name) === lowered(relation) && (name !== 'type' || refs.some(isDeclarable)),
      );
    const kept = [...(this.resources.get(iri)?.links ?? [])].filter(([relation]) => !isNamed(relation));
    this.setLinks(iri, [...kept, ...given]);
  }

  /** Deletes a resource with all its descendants. */
  delete(iri: string): void {
    for (const other of [...this.resources.keys()])
      if (other === iri || (iri.endsWith('/') && other.startsWith(iri))) this.resources.delete(other);
  }

  /** Returns the searchable facts of a resource, each as text of relation and value. */
  private facts(iri: string, { triples, links }: Resource): Set<string> {
    const found = new Set([`type ${lws}${iri.endsWith('/') ? 'Container' : 'DataResource'}`]);
    for (const [subject, predicate, object] of triples) {
      const isOwn = subject === `<${iri}>` || subject.startsWith(`<${iri}#`);
      if (!isOwn || !object.startsWith('<')) continue;
      const relation = predicate.slice(1, -1);
      if (relation === rdfType) found.add(`type ${object.slice(1, -1)}`);
      else if (!isStructural(relation)) found.add(`${relation} ${object.slice(1, -1)}`);
    }
    for (const [name, targets] of links)
      for (const target of targets) {
        const value = target.includes(':') ? target : new URL(target, `${iri}.meta`).href;
        if (!isStructural(lowered(name))) found.add(`${lowered(name)} ${value}`);
      }
    return found;
  }

  private readable(viewer: Viewer): [iri: string, resource: Resource][] {
    const { principal, publicRead } = viewer;
    const isOwn = ({ owner }: Resource): boolean => principal !== undefined && principal === owner;
    const all = publicRead || principal === storageOwner;
    return [...this.resources].filter(([iri, resource]) => all || isOwn(resource) || isGranted(viewer, iri));
  }

  /** Returns the matching IRIs that the viewer may read, in order. */
  search(filter: Filter, viewer: Viewer): string[] {
    const matches = ([iri, resource]: [string, Resource]): boolean => {
      const facts = this.facts(iri, resource);
      return filter.every(({ relation, values }) => values.some((value) => facts.has(`${relation} ${value}`)));
    };
    return this.readable(viewer)
      .filter(matches)
      .map(([iri]) => iri)
      .sort();
  }

  /** Returns the distinct types of readable resources, in order. */
  types(viewer: Viewer): string[] {
    const facts = this.readable(viewer).flatMap(([iri, resource]) => [...this.facts(iri, resource)]);
    const types = facts.filter((fact) => fact.startsWith('type ')).map((fact) => fact.slice('type '.length));
    return [...new Set(types)].sort();
  }
}
