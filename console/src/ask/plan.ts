/** Query plan as a table: operators indented by depth, with estimates beside actual rows. */
import { html, nothing, type TemplateResult } from 'lit';
import { scrollTable } from '../frame/page.js';
import { compact } from '../storage/labels.js';

/** Operator of a plan, as returned by the server (`explain=run`). */
export interface PlanPart {
  readonly operator: string;
  readonly about?: string;
  readonly estimate?: number;
  readonly rows?: number;
  readonly milliseconds?: number;
  readonly parts?: readonly PlanPart[];
}

const heads = ['Operator', 'Estimated matches', 'Rows', 'Time'];

type Prefixes = Readonly<Record<string, string>>;

/** Returns the table of a plan. @param prefixes prefixes of the query */
export const planTable = (plan: PlanPart, prefixes: Prefixes): TemplateResult => html`<div class="plan">
    ${scrollTable(
      'Plan',
      heads,
      flat(plan).map((each) => rowOf(each, prefixes)),
    )}</div>
  <p class="soft">Operators run from the innermost to the outermost, and the parts of a join from top to bottom. The estimate is for a
    pattern alone, rows are those after joining it. Times include the inputs.</p>`;

interface Level {
  readonly part: PlanPart;
  readonly depth: number;
}

const flat = (part: PlanPart, depth = 0): Level[] => [
  { part, depth },
  ...(part.parts ?? []).flatMap((each) => flat(each, depth + 1)),
];

/** Replaces IRIs by their names, except in strings. */
const readable = (about: string, prefixes: Prefixes): string =>
  about.replace(/"(?:[^"\\]|\\.)*"|<([^<>\s]+)>/g, (written: string, iri?: string) => {
    const name = iri === undefined ? undefined : compact(iri, prefixes);
    return name === undefined || name === iri ? written : name;
  });

const rowOf = ({ part, depth }: Level, prefixes: Prefixes): TemplateResult => {
  const { operator, about, estimate, rows, milliseconds } = part;
  return html`<tr>
  <th scope="row"><span aria-hidden="true">${'\u2003'.repeat(depth)}</span><span class="visually-hidden">Level ${depth + 1}: </span>${operator}
    ${about ? html`<code title=${about}>${readable(about, prefixes)}</code>` : nothing}</th>
  <td class="number">${estimate === undefined ? '' : Math.round(estimate).toLocaleString()}</td>
  <td class="number">${rows === undefined ? 'not reached' : rows.toLocaleString()}</td>
  <td class="number">${milliseconds === undefined ? '' : `${milliseconds.toLocaleString()} ms`}</td>
</tr>`;
};
