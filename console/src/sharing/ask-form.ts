/** Form for an access request. */
import { html, type TemplateResult } from 'lit';
import { customElement, property } from 'lit/decorators.js';
import { Page, submitted } from '../frame/page.js';
import { storageUri, subjectNow } from '../session/session.js';
import { policyFor, post } from './access.js';
import { actionFields, actionsFrom, untilField } from './people.js';

@customElement('ask-form')
export class AskForm extends Page {
  /** Default actions. */
  @property() iri = '';

  protected override render(): TemplateResult {
    return html`<form class="card" @submit=${this.send}>
      <h2 class="visually-hidden">Request access</h2>
      <label>Address <input name="iri" type="url" required .value=${this.iri} placeholder=${`${storageUri}…`} spellcheck="false"></label>
      <p class="soft">The address of a folder ends in a slash, and means everything in it. Ask for no more than you need.</p>
      ${actionFields(['read'])}
      ${untilField}
      <label>What for <input name="purpose" autocomplete="off"></label>
      <label>Message to the owner (optional): introduce yourself <textarea name="message" rows="3"></textarea></label>
      <button class="primary">Request access</button>
    </form>`;
  }

  private async send(event: SubmitEvent): Promise<void> {
    const { form, data, text } = submitted(event);
    const person = subjectNow();
    if (person === '') return;
    const asked = await this.attempt(async () => {
      const wish = { iri: text('iri'), actions: actionsFrom(data), until: text('until') };
      const policy = policyFor({ person, ...wish });
      const [purpose, message] = [text('purpose'), text('message')];
      await post('AccessRequest', [policy], {
        ...(purpose === '' ? {} : { purpose }),
        ...(message === '' ? {} : { message }),
      });
    }, 'The request was sent. The answer appears under “Mine”.');
    if (!asked) return;
    form.reset();
    this.dispatchEvent(new Event('answered', { bubbles: true }));
  }
}
