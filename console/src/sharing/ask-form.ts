/** Form for an access request. */
import { html, type TemplateResult } from 'lit';
import { customElement, property } from 'lit/decorators.js';
import { nameInText, Page, placeNow, submitted } from '../frame/page.js';
import { storageUri, subjectNow } from '../session/session.js';
import { allActions, policyFor, post } from './access.js';
import { actionFields, actionsFrom, untilField } from './people.js';

/** Returns the IRI of the resource in a link of the console. Other addresses are returned unchanged. Default: the storage. */
function askedIri(given: string): string {
  const page = `${storageUri}app`;
  if (given !== '' && given !== page && !given.startsWith(`${page}#`)) return given;
  return placeNow(given.slice(page.length)).parameters.get('at') ?? storageUri;
}

@customElement('ask-form')
export class AskForm extends Page {
  /** IRI of the requested resource, if known. */
  @property() iri = '';

  protected override render(): TemplateResult {
    return html`<form class="card" @submit=${this.send}>
      <h2>Request access${this.iri ? ` to ${nameInText(this.iri)}` : ''}</h2>
      <label>Paste the link that you were sent, or leave it empty for everything <input name="iri" type="url" .value=${this.iri} placeholder=${`${storageUri}…`} spellcheck="false"></label>
      ${actionFields(['read'], allActions, 'I would like to')}
      ${untilField()}
      <label>What for, and who are you? <textarea name="purpose" rows="3"></textarea></label>
      <button class="primary">Request access</button>
    </form>`;
  }

  private async send(event: SubmitEvent): Promise<void> {
    const { form, data, text } = submitted(event);
    const person = subjectNow();
    if (person === '') return;
    const asked = await this.attempt(async () => {
      const wish = { iri: askedIri(text('iri')), actions: actionsFrom(data), until: text('until') };
      const policy = policyFor({ person, ...wish });
      const purpose = text('purpose');
      await post('AccessRequest', [policy], purpose === '' ? {} : { purpose });
    }, 'The request was sent. The answer appears under “Mine”.');
    if (!asked) return;
    form.reset();
    this.dispatchEvent(new Event('answered', { bubbles: true }));
  }
}
