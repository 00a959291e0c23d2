/**
 * Client that continuously writes resources and linksets with types and relations, and records acknowledged writes. It must not
 * know when the server is killed.
 */
import { randomUUID } from 'node:crypto';
import { below } from './contents.js';

/** Facts of a resource, as texts of a relation and a value, from its triples and its linkset. `undefined`: nonexistent. */
export interface Content {
  readonly triples: readonly string[];
  readonly links: readonly string[];
}
export type State = Content | undefined;

export const vocabulary = 'https://v.example/';
const rdfType = 'http://www.w3.org/1999/02/22-rdf-syntax-ns#type';
const relation = `${vocabulary}p`;
const values = [0, 1, 2, 3].map((number) => `${vocabulary}${number}`);
/** Vocabulary shared by all clients. */
export const commonFacts = ['type', relation, 'describedby'].flatMap((name) =>
  values.map((value) => `${name} ${value}`),
);

export const factsOf = (state: State): string[] =>
  state ? [...new Set([...state.triples, ...state.links])].sort() : [];
/** Equal for equal states. */
export const textOf = (state: State): string =>
  state ? `${[...state.triples].sort().join()}; ${[...state.links].sort().join()}` : 'absent';

/** Some common facts and a unique one, so that remains of an old state are visible. */
function someFacts(...relations: readonly string[]): string[] {
  const common = values.filter(() => below(3) === 0).map((value) => `${relations[below(relations.length)]} ${value}`);
  return [...new Set([...common, `type ${vocabulary}${randomUUID()}`])];
}
const newTriples = (): string[] => someFacts('type', relation);
const newLinks = (): string[] => someFacts('type', 'describedby');

function turtle(triples: readonly string[]): string {
  const lines = triples.map((fact, index) => {
    const [name, value] = fact.split(' ');
    return `<${index % 2 === 0 ? '' : '#me'}> <${name === 'type' ? rdfType : name}> <${value}> .`;
  });
  // Above a few hundred triples the server uses another code path.
  if (below(10) === 0) for (let i = 0; i < 600; i++) lines.push(`<#me> <urn:more> ${i} .`);
  return lines.join('\n');
}

function linkset(links: readonly string[]): string {
  const members: Record<string, object[]> = {};
  for (const [name, href] of links.map((fact) => fact.split(' ') as [string, string]))
    members[name] = [...(members[name] ?? []), { href }];
  return JSON.stringify({ linkset: [members] });
}

/** Write: the states that it creates, atomically. */
export type Change = ReadonlyMap<string, State>;

export class IndexClient {
  /** Acknowledged states, and the write without a response. */
  readonly known = new Map<string, State>();
  underWay: Change | undefined;
  readonly refusals: string[] = [];
  acknowledged = 0;

  constructor(private readonly own: string) {}

  /** Writes until the connection breaks, or the given number of operations. */
  async run(operations = Number.POSITIVE_INFINITY): Promise<void> {
    try {
      if (!this.known.get(this.own)) await this.put(this.own);
      for (let i = 0; i < operations; i++) await this.step();
    } catch (error) {
      if (!(error instanceof TypeError)) throw error;
    }
  }

  private async step(): Promise<void> {
    const iri = `${this.own}r${below(12)}`;
    const state = this.known.get(iri);
    const dice = below(100);
    if (dice < 8) await this.subtree();
    else if (!state || dice < 40) await this.put(iri);
    else if (dice < 70) await this.putLinks(iri, state);
    else if (dice < 85) await this.insert(iri, state);
    else await this.write(new Map([[iri, undefined]]), iri, { method: 'DELETE' });
  }

  private async put(iri: string): Promise<void> {
    const state = this.known.get(iri);
    const guard: Record<string, string> = state ? { 'If-Match': '*' } : { 'If-None-Match': '*' };
    const links = state?.links ?? [];
    if (iri.endsWith('/'))
      return this.write(new Map([[iri, { triples: [], links }]]), iri, { method: 'PUT', headers: guard });
    const isRdf = below(5) > 0;
    const triples = isRdf ? newTriples() : [];
    const headers = { ...guard, 'Content-Type': isRdf ? 'text/turtle' : 'text/plain' };
    await this.write(new Map([[iri, { triples, links }]]), iri, {
      method: 'PUT',
      headers,
      body: isRdf ? turtle(triples) : 'x',
    });
  }

  private async insert(iri: string, state: Content): Promise<void> {
    if (state.triples.length === 0) return;
    const fact = `type ${vocabulary}${randomUUID()}`;
    const init = {
      method: 'PATCH',
      headers: { 'Content-Type': 'application/sparql-update' },
      body: `INSERT DATA { ${turtle([fact])} }`,
    };
    await this.write(new Map([[iri, { ...state, triples: [...state.triples, fact] }]]), iri, init);
  }

  private async putLinks(iri: string, { triples }: Content): Promise<void> {
    const links = below(6) === 0 ? [] : newLinks();
    const headers = { 'Content-Type': 'application/linkset+json', 'If-Match': '*' };
    const init = { method: 'PUT', headers, body: linkset(links) };
    await this.write(new Map([[iri, { triples, links }]]), `${iri}.meta`, init);
  }

  /** Creates a container with members, or deletes it recursively. */
  private async subtree(): Promise<void> {
    const container = `${this.own}tree/`;
    if (!this.known.get(container)) {
      await this.put(container);
      for (const name of ['a', 'b', 'c']) await this.put(container + name);
      return this.putLinks(container, { triples: [], links: [] });
    }
    const gone = [...this.known.keys()].filter((iri) => iri.startsWith(container));
    const change = new Map(gone.map((iri) => [iri, undefined] as const));
    await this.write(change, container, { method: 'DELETE', headers: { Depth: 'infinity' } });
  }

  /** Sends a request. @throws TypeError if the connection breaks */
  private async write(change: Change, iri: string, init: RequestInit): Promise<void> {
    this.underWay = change;
    const response = await fetch(iri, init);
    const text = await response.text();
    this.underWay = undefined;
    if (!response.ok) {
      this.refusals.push(`${init.method} ${iri}: ${response.status} ${text}`);
      return;
    }
    this.acknowledged++;
    for (const [each, state] of change) this.known.set(each, state);
  }
}

/** Readable facts of a resource. */
export async function readState(iri: string): Promise<State> {
  const answer = await fetch(iri, {
    headers: { Accept: 'application/n-triples, application/lws+json;q=0.5, */*;q=0.1' },
  });
  const text = await answer.text();
  if (answer.status === 404) return undefined;
  const triples = [...text.matchAll(/^<([^>]*)> <([^>]*)> <([^>]*)> \.$/gm)]
    // The listing of a container is server data.
    .filter(([, subject]) => !iri.endsWith('/') && subject!.split('#')[0] === iri)
    .map(([, , name, value]) => `${name === rdfType ? 'type' : name} ${value}`);
  const {
    linkset: [object],
  } = (await (await fetch(`${iri}.meta`)).json()) as { linkset: [Record<string, { href: string }[]>] };
  const links = ['type', 'describedby'].flatMap((name) => (object[name] ?? []).map(({ href }) => `${name} ${href}`));
  return { triples, links: links.filter((fact) => !fact.includes('w3.org/ns/lws#')) };
}
