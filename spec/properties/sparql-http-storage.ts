/**
 * A server with random graphs as RDF resources, of which a restricted caller can read one half. Graphs are named
 * `http://example.org/graphs/NAME` in data and queries; their resources are `open/NAME` or `shut/NAME` on the server.
 */
import { expect } from 'chai';
import { DataFactory } from 'n3';
import { base, type SpecTriple, writeTerm } from '../lib/query/engine-dataset.js';
import { isomorphic } from '../lib/rdf/isomorphism.js';
import { type Sender, StorageUnderTest } from '../support/conformance.js';
import type { Answer } from '../support/http.js';
import { credential } from '../support/identity.js';
import { putLinks } from '../support/linkset.js';
import type { GraphStore, Triple } from '../support/naive-sparql/index.js';
import { unionOf } from '../support/naive-sparql/index.js';
import { mediaType, readRdf } from '../support/rdf.js';
import { encoded, formType, resultsJson } from '../support/sparql.js';
import { agent, bob, inWac, owner, rule, setAcl } from '../support/wac.js';
import { readOutcome } from '../w3c/outcomes.js';

const { quad } = DataFactory;
const graphBase = `${base}graphs/`;

export type Caller = 'owner' | 'restricted';
export const callers: readonly Caller[] = ['owner', 'restricted'];

/** Graphs by their names, and those of them that the restricted caller can read. */
export interface HttpDataset {
  readonly data: ReadonlyMap<string, readonly SpecTriple[]>;
  readonly readable: ReadonlySet<string>;
  /** Graphs with a type in the linkset of their resource, a graph as well (rule 14.2). */
  readonly linked: ReadonlySet<string>;
}

export const typeOfLinked = `${base}Linked`;

export class HttpStorage {
  private readonly storage = new StorageUnderTest();
  private stored: HttpDataset | undefined;
  private restricted: Sender = 'anonymous';

  async open(settings: Readonly<Record<string, string>>): Promise<void> {
    await this.storage.open(inWac(settings));
    for (const name of ['open/', 'shut/']) await this.storage.container(this.storage.scratch + name);
    await setAcl(this.storage, `${this.storage.scratch}open/`, rule('Read', agent(bob)));
  }

  close = (): Promise<void> => this.storage.close();

  private iriOf(graph: string, { readable }: HttpDataset): string {
    return `${this.storage.scratch}${readable.has(graph) ? 'open' : 'shut'}/${graph.slice(graphBase.length)}`;
  }

  /** Replaces graph names in a text by the IRIs of their resources. Absent graphs are in `open/`. */
  named = (text: string): string =>
    text.replace(/http:\/\/example\.org\/graphs\/(\w+)/g, (name, last: string) =>
      this.stored!.data.has(name) ? this.iriOf(name, this.stored!) : `${this.storage.scratch}open/${last}`,
    );

  /** Replaces all resources. @returns the graphs as stored by the server, with its blank node labels */
  async fill(dataset: HttpDataset): Promise<ReadonlyMap<string, readonly Triple[]>> {
    // Credentials expire after five minutes, less than a long run takes.
    const [token, other] = [owner, bob].map((who) => credential(who, { aud: this.storage.root.slice(0, -1) }));
    this.storage.token = token!;
    this.restricted = { token: other! };
    const before = this.stored;
    for (const graph of before?.data.keys() ?? [])
      expect((await this.storage.delete(this.iriOf(graph, before!))).status).to.equal(204);
    this.stored = dataset;
    const graphs = new Map<string, readonly Triple[]>();
    for (const [graph, triples] of dataset.data) {
      const iri = this.iriOf(graph, dataset);
      const text = this.named(triples.map(lineOf).join(''));
      await this.storage.stored('application/n-triples', text, iri);
      graphs.set(iri, await this.readBack(iri, text));
      if (dataset.linked.has(graph)) graphs.set(`${iri}.meta`, await this.link(iri));
    }
    return graphs;
  }

  /** Returns the triples of a resource, with the blank node labels of query results. */
  private async readBack(iri: string, text: string): Promise<readonly Triple[]> {
    const answer = await this.ask(`SELECT * { GRAPH <${iri}> { ?s ?p ?o } }`, 'owner', false);
    const outcome = await readOutcome(answer.text, mediaType(answer), iri);
    const rows = outcome.kind === 'solutions' ? outcome.rows : [];
    const quads = rows.map((row) => quad(...(['s', 'p', 'o'].map((name) => row.get(name)) as [never, never, never])));
    expect(isomorphic(quads as never, await readRdf(text, 'application/n-triples', iri)), text).to.equal(true);
    return quads;
  }

  private async link(iri: string): Promise<readonly Triple[]> {
    expect((await putLinks(this.storage, iri, { type: [{ href: typeOfLinked }] })).status).to.equal(204);
    return readRdf(`<${iri}> a <${typeOfLinked}> .`, 'text/turtle', iri);
  }

  /** Returns the readable data of a caller: each named graph, and their union as default graph (rules 14.2, 14.14). */
  readableBy(caller: Caller, graphs: ReadonlyMap<string, readonly Triple[]>): GraphStore {
    const readable = [...graphs].filter(
      ([iri]) => caller === 'owner' || iri.startsWith(`${this.storage.scratch}open/`),
    );
    const defaultGraph = unionOf(readable.map(([, triples]) => triples));
    return { graphs: new Map(readable), defaultGraph, areNamesVisible: true };
  }

  /** Sends a query. @param isInThread true to send the parameter `timeout`, so that a worker thread evaluates it */
  ask(query: string, caller: Caller, isInThread: boolean): Promise<Answer> {
    const sender: Sender | undefined = caller === 'owner' ? undefined : this.restricted;
    const body = encoded([['query', query], ...(isInThread ? [['timeout', '20'] as const] : [])]);
    const headers = { 'Content-Type': formType, Accept: `${resultsJson}, application/n-triples` };
    return this.storage.send('POST', `${this.storage.root}.lws/sparql`, headers, body, sender);
  }
}

const lineOf = ({ subject, predicate, object }: SpecTriple): string =>
  `${writeTerm(subject)} ${writeTerm(predicate)} ${writeTerm(object)} .\n`;
