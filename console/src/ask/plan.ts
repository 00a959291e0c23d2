/** Query plan as a table: operators indented by depth, with estimates beside actual rows. */
import { html, nothing, type TemplateResult } from 'lit';
import { scrollTable } from '../frame/page.js';

/** As returned by the server (`explain=run`). */
export interface PlanPart {
  readonly operator: string;
  readonly about?: string;
  readonly estimate?: number;
  readonly rows?: number;
  readonly milliseconds?: number;
  readonly parts?: readonly PlanPart[];
}

const heads = ['Operator', 'Estimated matches', 'Rows', 'Time'];

export const planTable = (
  plan: PlanPart,
): TemplateResult => html`<div class="plan">${scrollTable('Plan', heads, rowsOf(plan, 0))}</div>
  <p class="soft">Operators run from the innermost to the outermost, and the parts of a join from top to bottom. The estimate is for a
    pattern alone, rows are those after joining it. Times include the inputs.</p>`;

const rowsOf = (part: PlanPart, depth: number): TemplateResult[] => [
  rowOf(part, depth),
  ...(part.parts ?? []).flatMap((each) => rowsOf(each, depth + 1)),
];

const rowOf = ({ operator, about, estimate, rows, milliseconds }: PlanPart, depth: number): TemplateResult => html`<tr>
  <th scope="row"><span aria-hidden="true">${'\u2003'.repeat(depth)}</span><span class="visually-hidden">Level ${depth + 1}: </span>${operator}
    ${about ? html`<code>${about}</code>` : nothing}</th>
  <td class="number">${estimate === undefined ? '' : Math.round(estimate).toLocaleString()}</td>
  <td class="number">${rows === undefined ? 'not reached' : rows.toLocaleString()}</td>
  <td class="number">${milliseconds === undefined ? '' : `${milliseconds.toLocaleString()} ms`}</td>
</tr>`;
