/** A running query: duration and result. */

import { declaredPrefixes } from '../editor/prefixes.js';
import { type Binding, essenceOf, messageOf, Refusal, serviceEndpoint, succeed, tagOfBinding } from '../storage/api.js';
import type { PlanPart } from './plan.js';
import { iriTerm, literalTerm, type ResultRow, type ResultTerm, termOfTriple } from './terms.js';

type State =
  | { readonly is: 'idle' }
  | { readonly is: 'running'; readonly since: number }
  | { readonly is: 'ended'; readonly milliseconds: number }
  | {
      readonly is: 'refused';
      readonly milliseconds: number;
      readonly message: string;
      readonly status: number;
      readonly query: string;
    }
  | { readonly is: 'answered'; readonly milliseconds: number; readonly answer: QueryAnswer; readonly query: string };

/** Views of a result. */
export type ResultView = 'table' | 'plan' | 'chart' | 'graph' | 'map' | 'raw';

export class QueryRun {
  state: State = { is: 'idle' };
  /** View that the user chose. */
  view: ResultView | undefined;
  /** Date and time of the state to query, in local time as in a field. Empty: the present state. */
  asOf = '';
  private controller: AbortController | undefined;

  /** @param changed called on each state change, and every second while running */
  constructor(private readonly changed: () => void) {}

  /** Runs a query. @param isExplained true to get the plan instead of the result */
  async start(query: string, isExplained = false): Promise<void> {
    this.end();
    const controller = new AbortController();
    this.controller = controller;
    const since = performance.now();
    this.become({ is: 'running', since });
    const ticking = setInterval(this.changed, 200);
    const took = (): number => performance.now() - since;
    const after = await ask(query, controller.signal, { isExplained, asOf: this.asOf }).then(
      (answer): State => ({ is: 'answered', milliseconds: took(), answer, query }),
      (error: unknown): State => {
        const status = error instanceof Refusal ? error.status : 0;
        return { is: 'refused', milliseconds: took(), message: messageOf(error), status, query };
      },
    );
    clearInterval(ticking);
    // The run was cancelled, and another one may have started.
    if (this.controller !== controller) return;
    this.controller = undefined;
    this.become(after);
  }

  end(): void {
    if (!this.controller) return;
    this.controller.abort();
    this.controller = undefined;
    if (this.state.is === 'running') this.become({ is: 'ended', milliseconds: performance.now() - this.state.since });
  }

  private become(state: State): void {
    this.state = state;
    this.changed();
  }
}

const secondsText = (milliseconds: number): string =>
  milliseconds < 1000 ? `${Math.round(milliseconds)} ms` : `${(milliseconds / 1000).toFixed(1)} s`;

/** Returns the outcome of a run in words. Empty until the run ends. */
export function outcomeOf(state: State): string {
  if (state.is === 'idle' || state.is === 'running') return '';
  const time = secondsText(state.milliseconds);
  if (state.is === 'ended') return `Ended after ${time}.`;
  if (state.is === 'refused') return `Refused after ${time}.`;
  const { answer } = state;
  if (answer.kind === 'plan') return `Explained in ${time}.`;
  if (answer.kind === 'boolean') return `Answered in ${time}.`;
  const count = answer.rows.length;
  const noun = answer.kind === 'graph' ? 'triple' : 'row';
  return `${count.toLocaleString()} ${noun}${count === 1 ? '' : 's'} in ${time}.`;
}

interface Read {
  /** Warning of the server about the query, such as an unknown function. Empty if there is none. */
  readonly hint: string;
  /** Raw response. */
  readonly text: string;
  readonly mediaType: string;
}

export interface TableAnswer extends Read {
  readonly kind: 'rows' | 'graph';
  readonly columns: readonly string[];
  readonly rows: readonly ResultRow[];
  /** Prefixes of the query, or of the graph. */
  readonly prefixes: Readonly<Record<string, string>>;
}

export type QueryAnswer =
  | TableAnswer
  | (Read & { readonly kind: 'boolean'; readonly value: boolean })
  | (Read & { readonly kind: 'plan'; readonly plan: PlanPart; readonly prefixes: TableAnswer['prefixes'] });

const resultsJson = 'application/sparql-results+json';
const turtle = 'text/turtle';

/** Returns the URL of the SPARQL endpoint, or `undefined` if this storage has none. */
export const queryEndpoint = (): Promise<string | undefined> => serviceEndpoint('SparqlQueryService');

/**
 * Sends a query. @param wanted `isExplained`: runs the query and returns its plan @throws Refusal with the server's message,
 * DOMException `AbortError` after cancellation, Error for an incomplete response
 */
async function ask(
  query: string,
  signal: AbortSignal,
  { isExplained, asOf }: { readonly isExplained: boolean; readonly asOf: string },
): Promise<QueryAnswer> {
  const endpoint = await queryEndpoint();
  if (!endpoint) throw new Error('This storage does not offer queries (lws.sparql.endpoint.enabled is off).');
  const response = await succeed('POST', isExplained ? `${endpoint}?explain=run` : endpoint, {
    headers: {
      'Content-Type': 'application/sparql-query',
      Accept: `${resultsJson}, ${turtle}`,
      ...(asOf === '' ? {} : { 'Accept-Datetime': new Date(asOf).toUTCString() }),
    },
    body: query,
    signal,
  });
  const then = response.headers.get('Memento-Datetime');
  if (asOf !== '' && !then) throw new Error('This storage keeps no versions, and has its present state only.');
  const hint = response.headers.get('LWS-Hint') ?? '';
  const whole = { hint, mediaType: essenceOf(response), text: await wholeText(response, signal) };
  if (!isExplained) return read(whole, query);
  const { plan } = JSON.parse(whole.text) as { plan: PlanPart };
  return { kind: 'plan', ...whole, plan, prefixes: declaredPrefixes(query) };
}

async function wholeText(response: Response, signal: AbortSignal): Promise<string> {
  try {
    return await response.text();
  } catch (error) {
    if (signal.aborted) throw error;
    // The server aborts the response, so that a part does not look like a complete result.
    throw new Error('The response is incomplete: a server limit was reached, or the connection was lost.');
  }
}

async function read(whole: Read, query: string): Promise<QueryAnswer> {
  if (whole.mediaType !== resultsJson) return { kind: 'graph', ...whole, ...(await readTurtle(whole.text)) };
  const document = JSON.parse(whole.text) as JsonResults;
  if (document.boolean !== undefined) return { kind: 'boolean', ...whole, value: document.boolean };
  const columns = document.head.vars ?? [];
  const rows = (document.results?.bindings ?? []).map((binding) => columns.map((name) => termOfJson(binding[name])));
  return { kind: 'rows', ...whole, columns, rows, prefixes: declaredPrefixes(query) };
}

interface JsonResults {
  readonly head: { readonly vars?: readonly string[] };
  readonly boolean?: boolean;
  readonly results?: { readonly bindings: readonly Readonly<Record<string, Binding | undefined>>[] };
}

function termOfJson(term: Binding | undefined): ResultTerm | undefined {
  if (!term) return undefined;
  const { type, value, datatype } = term;
  if (typeof value !== 'string')
    return termOfTriple([value.subject, value.predicate, value.object].map((each) => termOfJson(each)!));
  if (type === 'uri') return iriTerm(value);
  if (type === 'bnode') return { kind: 'blank', value, language: '', datatype: '' };
  return literalTerm(value, tagOfBinding(term), datatype);
}

async function readTurtle(text: string): Promise<Pick<TableAnswer, 'columns' | 'rows' | 'prefixes'>> {
  // Load the parser only here: SELECT results do not need it.
  const { parseTurtle } = await import('./turtle.js');
  return { columns: ['subject', 'predicate', 'object'], ...parseTurtle(text) };
}
