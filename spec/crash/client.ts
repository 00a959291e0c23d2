/**
 * Client that writes continuously into its own and a shared container, and records each write in the model. It must not know when
 * the server is killed.
 */
import { randomUUID } from 'node:crypto';
import { below, type Content, dataContent, decode, encode, readable, type State } from './contents.js';
import type { Change, Model } from './model.js';

/** Maximum resources of one client in a container. */
const most = 25;

export class Client {
  private readonly tags = new Map<string, string>();
  private readonly posted = new Set<string>();
  /** Statuses that a correct client must not receive. */
  readonly refusals: string[] = [];
  alive = false;

  constructor(
    private readonly model: Model,
    private readonly own: string,
    private readonly shared: string,
  ) {}

  /** Writes until the connection breaks, or the given number of operations. */
  async run(operations = Number.POSITIVE_INFINITY): Promise<void> {
    this.alive = true;
    if (!this.model.state(this.own)) await this.put(this.own, { kind: 'container' });
    for (let i = 0; i < operations && this.alive; i++) await this.step();
  }

  private async step(): Promise<void> {
    const name = `${this.own}r${below(most)}`;
    const state = this.model.state(name);
    const dice = below(100);
    if (dice < 15) await this.post();
    else if (dice < 20) await this.subtree();
    else if (!state) await this.put(name, dataContent());
    else if (dice < 27) await this.remove(name);
    else if (dice < 32) await this.rename(name, `${this.own}r${below(most)}`);
    else if (dice < 60 && state.kind !== 'binary') await this.patch(name, state);
    else await this.put(name, dataContent());
  }

  private async put(iri: string, content: Content): Promise<void> {
    const { type, body } = encode(content) ?? {};
    const tag = this.model.state(iri) ? await this.tag(iri) : undefined;
    const headers = {
      ...(type ? { 'Content-Type': type } : {}),
      ...(tag ? { 'If-Match': tag } : { 'If-None-Match': '*' }),
    };
    await this.write({ states: new Map([[iri, content]]) }, iri, { method: 'PUT', headers, body: body ?? null });
  }

  private async post(): Promise<void> {
    const [oldest] = this.posted;
    if (oldest && this.posted.size >= most) {
      this.posted.delete(oldest);
      return this.remove(oldest);
    }
    const state = dataContent();
    const { type, body } = encode(state)!;
    const headers = { 'Content-Type': type, Slug: randomUUID() };
    const change = { states: new Map(), unnamed: { container: this.shared, state } };
    const response = await this.write(change, this.shared, { method: 'POST', headers, body });
    if (response) this.posted.add(response.headers.get('Location')!);
  }

  /** Creates a container with members, then deletes it recursively. */
  private async subtree(): Promise<void> {
    const container = `${this.own}tree/`;
    if (!this.model.state(container)) {
      await this.put(container, { kind: 'container' });
      for (let i = 0; i < 3 && this.model.state(container); i++) await this.put(`${container}m${i}`, dataContent());
      return;
    }
    if (below(2) === 0) return this.rename(container, `${this.own}moved${below(2)}/`);
    const gone = [container, ...this.model.present(container)].map((iri) => [iri, undefined] as const);
    const states = new Map<string, State>(gone);
    await this.write({ states }, container, { method: 'DELETE', headers: { Depth: 'infinity' } });
  }

  /** Moves or copies a resource, or a container with its members. */
  private async rename(iri: string, to: string): Promise<void> {
    if (iri === to) return;
    const method = below(3) === 0 ? 'COPY' : 'MOVE';
    const states = new Map<string, State>();
    for (const old of [to, ...(to.endsWith('/') ? this.model.present(to) : [])]) states.set(old, undefined);
    for (const from of [iri, ...(iri.endsWith('/') ? this.model.present(iri) : [])]) {
      states.set(to + from.slice(iri.length), this.model.state(from));
      if (method === 'MOVE') states.set(from, undefined);
    }
    await this.write({ states }, iri, { method, headers: { Destination: to, Overwrite: 'T' } });
    // The tag of the response is that of the new name.
    this.tags.delete(iri);
  }

  private async remove(iri: string): Promise<void> {
    await this.write({ states: new Map([[iri, undefined]]) }, iri, { method: 'DELETE' });
  }

  private async patch(iri: string, state: Content): Promise<void> {
    const { after, type, body } = state.kind === 'rdf' ? rdfPatch(state.lines) : jsonPatch(state);
    const init = { method: 'PATCH', headers: { 'Content-Type': type }, body };
    await this.write({ states: new Map([[iri, after]]) }, iri, init);
  }

  /** ETag of an earlier response, which survives restarts. */
  private async tag(iri: string): Promise<string> {
    const known = this.tags.get(iri);
    if (known) return known;
    const response = await fetch(iri, { method: 'HEAD' }).catch(() => undefined);
    return response?.headers.get('ETag') ?? '"none"';
  }

  private async write(change: Change, iri: string, init: RequestInit): Promise<Response | undefined> {
    this.model.begin(change);
    for (const changed of change.states.keys()) this.tags.delete(changed);
    try {
      const response = await fetch(iri, init);
      const text = await response.text();
      if (response.ok) {
        this.model.acknowledge(change, response.headers.get('Location') ?? undefined);
        const tag = response.headers.get('ETag');
        if (tag && init.method !== 'POST') this.tags.set(iri, tag);
        return response;
      }
      this.model.refuse(change);
      this.refusals.push(`${init.method} ${iri}: ${response.status} ${text}`);
    } catch {
      this.alive = false;
    }
    return undefined;
  }
}

interface Patch {
  readonly after: Content;
  readonly type: string;
  readonly body: string;
}

/** Adds one triple or changes every triple: the server computes these updates in different ways. */
function rdfPatch(lines: readonly string[]): Patch {
  const type = 'application/sparql-update';
  const line = `<urn:s:${randomUUID()}> <urn:added> "${'y'.repeat(below(200))}" .`;
  if (below(5) > 0 || lines.length > 300)
    return { after: { kind: 'rdf', lines: [...lines, line] }, type, body: `INSERT DATA { ${line} }` };
  const predicate = `urn:version:${randomUUID()}`;
  const after = lines.map((triple) => triple.replace(/<urn:(?:version:[^>]*|added)>/, `<${predicate}>`));
  return {
    after: { kind: 'rdf', lines: after },
    type,
    body: `DELETE { ?s ?p ?o } INSERT { ?s <${predicate}> ?o } WHERE { ?s ?p ?o }`,
  };
}

function jsonPatch(state: Content): Patch {
  const change = { [`k${below(5)}`]: randomUUID() };
  const value = state.kind === 'json' ? { ...state.value, ...change } : change;
  return { after: { kind: 'json', value }, type: 'application/merge-patch+json', body: JSON.stringify(change) };
}

/** State of a resource, read anonymously. */
export async function readState(iri: string): Promise<State> {
  return decode(await fetch(iri, { headers: { Accept: readable } }));
}

/** Members in the listing of a container. @throws Error if the listing contradicts itself */
export async function listMembers(container: string): Promise<string[]> {
  const response = await fetch(container, { headers: { Accept: 'application/lws+json' } });
  const { items, totalItems } = (await response.json()) as { items: { id: string }[]; totalItems: number };
  if (items.length !== totalItems) throw new Error(`${container} says ${totalItems} items and has ${items.length}`);
  return items.map(({ id }) => id);
}
