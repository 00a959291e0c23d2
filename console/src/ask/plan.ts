/** Query plan as a tree: operator, estimated and actual rows. */
import { html, nothing, type TemplateResult } from 'lit';

/** As returned by the server (`explain=run`). */
export interface PlanPart {
  readonly operator: string;
  readonly about?: string;
  readonly estimate?: number;
  readonly rows?: number;
  readonly milliseconds?: number;
  readonly parts?: readonly PlanPart[];
}

const numbersOf = ({ estimate, rows, milliseconds }: PlanPart): string =>
  [
    ...(rows === undefined ? ['not reached'] : [`${rows.toLocaleString()} row${rows === 1 ? '' : 's'}`]),
    ...(estimate === undefined ? [] : [`${Math.round(estimate).toLocaleString()} matches alone`]),
    ...(milliseconds === undefined ? [] : [`${milliseconds.toLocaleString()} ms`]),
  ].join(', ');

export const planTree = (part: PlanPart): TemplateResult => html`<ul class="plan">${planItem(part)}</ul>`;

const planItem = (part: PlanPart): TemplateResult => html`<li>
  <strong>${part.operator}</strong> ${part.about ? html`<code>${part.about}</code>` : nothing}
  <span class="soft">${numbersOf(part)}</span>
  ${part.parts ? html`<ul>${part.parts.map(planItem)}</ul>` : nothing}
</li>`;
