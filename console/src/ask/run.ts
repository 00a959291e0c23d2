/** One query on its way: how long it takes, and what became of it. */
import { essenceOf, messageOf, Refusal, serviceEndpoint, succeed } from '../storage/api.js';
import type { PlanPart } from './plan.js';
import { iriTerm, literalTerm, type Row, type Term } from './terms.js';

export type State =
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
  | { readonly is: 'answered'; readonly milliseconds: number; readonly answer: Answer; readonly query: string };

export class Run {
  state: State = { is: 'idle' };
  private controller: AbortController | undefined;

  /** @param changed called whenever the state is another one, and while time passes */
  constructor(private readonly changed: () => void) {}

  /** @param isExplained tells how the query is answered, instead of the answer */
  async start(query: string, isExplained = false): Promise<void> {
    this.end();
    const controller = new AbortController();
    this.controller = controller;
    const since = performance.now();
    this.become({ is: 'running', since });
    const ticking = setInterval(this.changed, 200);
    const took = (): number => performance.now() - since;
    const after = await ask(query, controller.signal, isExplained).then(
      (answer): State => ({ is: 'answered', milliseconds: took(), answer, query }),
      (error: unknown): State => {
        const status = error instanceof Refusal ? error.status : 0;
        return { is: 'refused', milliseconds: took(), message: messageOf(error), status, query };
      },
    );
    clearInterval(ticking);
    // Ended by hand, and perhaps asked anew since.
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

export const secondsText = (milliseconds: number): string =>
  milliseconds < 1000 ? `${Math.round(milliseconds)} ms` : `${(milliseconds / 1000).toFixed(1)} s`;

interface Read {
  /** Warning of the server about the query, such as an unknown function; otherwise empty. */
  readonly hint: string;
  /** The answer as it came. */
  readonly text: string;
  readonly mediaType: string;
}

export interface TableAnswer extends Read {
  readonly kind: 'rows' | 'graph';
  readonly columns: readonly string[];
  readonly rows: readonly Row[];
}

export type Answer =
  | TableAnswer
  | (Read & { readonly kind: 'boolean'; readonly value: boolean })
  | (Read & { readonly kind: 'plan'; readonly plan: PlanPart });

const resultsJson = 'application/sparql-results+json';
const turtle = 'text/turtle';

/** Where queries go; `undefined` when this storage answers none. */
export const queryEndpoint = (): Promise<string | undefined> => serviceEndpoint('SparqlQueryService');

/**
 * @param isExplained runs the query, and tells how it was answered instead
 * @throws Refusal in the server's words; DOMException `AbortError` when it was ended; Error when the answer broke off
 */
export async function ask(query: string, signal: AbortSignal, isExplained: boolean): Promise<Answer> {
  const endpoint = await queryEndpoint();
  if (!endpoint) throw new Error('This storage answers no queries: lws.sparql.endpoint.enabled is off.');
  const response = await succeed('POST', isExplained ? `${endpoint}?explain=run` : endpoint, {
    headers: { 'Content-Type': 'application/sparql-query', Accept: `${resultsJson}, ${turtle}` },
    body: query,
    signal,
  });
  const hint = response.headers.get('LWS-Hint') ?? '';
  const whole = { hint, mediaType: essenceOf(response), text: await wholeText(response, signal) };
  return isExplained
    ? { kind: 'plan', ...whole, plan: (JSON.parse(whole.text) as { plan: PlanPart }).plan }
    : read(whole);
}

async function wholeText(response: Response, signal: AbortSignal): Promise<string> {
  try {
    return await response.text();
  } catch (error) {
    if (signal.aborted) throw error;
    // The server breaks off rather than to let a part pass for the whole.
    throw new Error('The answer broke off: a limit of the server was reached, or the connection was lost.');
  }
}

async function read(whole: Read): Promise<Answer> {
  if (whole.mediaType !== resultsJson) return { kind: 'graph', ...whole, ...(await readTurtle(whole.text)) };
  const document = JSON.parse(whole.text) as JsonResults;
  if (document.boolean !== undefined) return { kind: 'boolean', ...whole, value: document.boolean };
  const columns = document.head.vars ?? [];
  const rows = (document.results?.bindings ?? []).map((binding) => columns.map((name) => termOfJson(binding[name])));
  return { kind: 'rows', ...whole, columns, rows };
}

interface JsonTerm {
  readonly type: string;
  readonly value: string;
  readonly 'xml:lang'?: string;
  readonly datatype?: string;
}

interface JsonResults {
  readonly head: { readonly vars?: readonly string[] };
  readonly boolean?: boolean;
  readonly results?: { readonly bindings: readonly Readonly<Record<string, JsonTerm | undefined>>[] };
}

function termOfJson(term: JsonTerm | undefined): Term | undefined {
  if (!term) return undefined;
  if (term.type === 'uri') return iriTerm(term.value);
  if (term.type === 'bnode') return { kind: 'blank', value: term.value, language: '', datatype: '' };
  return literalTerm(term.value, term['xml:lang'], term.datatype);
}

async function readTurtle(text: string): Promise<Pick<TableAnswer, 'columns' | 'rows'>> {
  // SELECT needs no parser.
  const { parseTurtle } = await import('./turtle.js');
  return { columns: ['subject', 'predicate', 'object'], rows: parseTurtle(text) };
}
