/** `<first-page>`: page of an empty storage, for its owner. `<example-data>`: suggestions for the example, and its removal. */
import { html, type TemplateResult } from 'lit';
import { customElement, state } from 'lit/decorators.js';
import { openHref, Page, placeHref } from '../frame/page.js';
import { storageUri } from '../session/session.js';
import { type Feature, featureList, storageFeatures } from '../storage/features.js';
import { addExample, exampleQuery } from './example.js';

@customElement('first-page')
export class FirstPage extends Page {
  @state() private features: readonly Feature[] = [];
  @state() private isBusy = false;

  protected override load(): Promise<void> {
    return this.reading(async () => {
      this.features = await storageFeatures();
    });
  }

  protected override render(): TemplateResult {
    return html`<section class="first" aria-labelledby="first-title">
      <h2 id="first-title">This storage is empty. Start with one of these:</h2>
      <ol class="cards steps">
        <li class="card"><h3>Add your files</h3>
          <p>Drop files or folders on this page. Turtle, JSON-LD and RDF/XML become graphs that you can query. Other files stay as they are.</p>
          <button type="button" class="primary" @click=${() => this.dispatchEvent(new Event('add-files'))}>Choose files</button></li>
        <li class="card"><h3>Look around with an example</h3>
          <p>Six weather stations with a year of temperatures, and a query with a map and a chart. You can remove it again in one click.</p>
          <button type="button" ?disabled=${this.isBusy} @click=${this.addExample}>${this.isBusy ? 'Adding …' : 'Add the example'}</button></li>
        <li class="card"><h3>Work with others</h3>
          <p>Give people and agents access to a folder or to one file, until a date if you like. Nobody else sees anything before that.</p>
          <a class="button" href=${placeHref('sharing')}>Share</a></li>
      </ol>
      ${this.failure ? html`<p class="problem" role="alert">${this.failure}</p>` : featureList(this.features)}
    </section>`;
  }

  private readonly addExample = async (): Promise<void> => {
    this.isBusy = true;
    await this.attempt(async () => {
      location.hash = openHref(await addExample(storageUri));
    }, 'The example is added.');
    this.isBusy = false;
  };
}

@customElement('example-data')
export class ExampleData extends Page {
  protected override render(): TemplateResult {
    return html`<aside class="card example row" aria-label="Example">
      <span class="grow">This is the example. Ask for the mean temperatures, or open a file.</span>
      <a class="button primary" href=${placeHref('ask', { query: exampleQuery })}>Open the query</a>
      <button type="button" @click=${() => this.dispatchEvent(new Event('remove-example'))}>Remove the example</button>
    </aside>`;
  }
}
