/** What all pages share: they render into the document, so that one style sheet and one focus order hold. */
import { html, LitElement, type TemplateResult } from 'lit';
import { state } from 'lit/decorators.js';
import { storageUri } from '../session/session.js';
import { messageOf } from '../storage/api.js';
import { ancestors, isContainer, shortName } from '../storage/names.js';
import { confirmed, type Question } from './confirm.js';
import { notify } from './notice.js';

export class Page extends LitElement {
  /** Why what it shows could not be read. */
  @state() protected failure = '';
  private followed: EventTarget | undefined;
  private readonly followedChanged = (): void => this.requestUpdate();

  protected override createRenderRoot(): HTMLElement {
    return this;
  }

  override connectedCallback(): void {
    super.connectedCallback();
    this.requestUpdate();
    void this.load();
  }

  override disconnectedCallback(): void {
    super.disconnectedCallback();
    this.follow(undefined);
  }

  /** Reads what it shows, each time that it comes into the document. */
  protected async load(): Promise<void> {}

  /** What reading throws is `failure`, until it succeeds. @param advice a further sentence */
  protected async reading(work: () => Promise<unknown>, advice = ''): Promise<void> {
    try {
      await work();
      this.failure = '';
    } catch (error) {
      this.failure = `${messageOf(error)} ${advice}`.trim();
    }
  }

  /**
   * Renders again at each event `change` of something, in the place of what was followed before, while this is in the document.
   * @returns whether something else was followed before
   */
  protected follow(target: EventTarget | undefined): boolean {
    // An update may still come when the element is gone.
    const wanted = this.isConnected ? target : undefined;
    if (this.followed === wanted) return false;
    this.followed?.removeEventListener('change', this.followedChanged);
    this.followed = wanted;
    wanted?.addEventListener('change', this.followedChanged);
    return true;
  }

  /** Runs what a button does; what it throws is said in words. @returns whether it succeeded */
  protected async attempt(work: () => Promise<unknown>, done?: string): Promise<boolean> {
    try {
      await work();
      if (done) notify(done);
      return true;
    } catch (error) {
      if (!(error instanceof DOMException && error.name === 'AbortError')) notify(messageOf(error), 'bad');
      return false;
    }
  }

  /** The same for what cannot be taken back: asks before. @returns whether it was done */
  protected async attemptAfter(question: Question, work: () => Promise<unknown>, done: string): Promise<boolean> {
    return (await confirmed(question)) && this.attempt(work, done);
  }

  /** When what had the focus is gone, as a row that was deleted, the first heading here has it. */
  protected async keepFocus(): Promise<void> {
    await this.updateComplete;
    if (document.activeElement !== document.body) return;
    const heading = this.querySelector<HTMLElement>('h1, h2');
    heading?.setAttribute('tabindex', '-1');
    heading?.focus();
  }
}

/** A form that is sent is the page's business, and not the browser's. `text` gives a field, without blanks around it. */
export function submitted(event: SubmitEvent) {
  event.preventDefault();
  const form = event.target as HTMLFormElement;
  const data = new FormData(form);
  return { form, data, text: (name: string): string => String(data.get(name) ?? '').trim() };
}

/** A table that scrolls by itself, also by the keyboard. */
export const scrollTable = (label: string, heads: readonly unknown[], rows: unknown): TemplateResult => html`
  <div class="scroll" tabindex="0" role="region" aria-label=${label}>
    <table>
      <thead><tr>${heads.map((head) => html`<th scope="col">${head}</th>`)}</tr></thead>
      <tbody>${rows}</tbody>
    </table>
  </div>`;

/** Where the console is: `#/<page>?<parameters>`. */
export interface Place {
  readonly page: string;
  readonly parameters: URLSearchParams;
}

export function placeNow(hash: string = location.hash): Place {
  const [, page = 'browse', query = ''] = /^#\/([^?]*)(?:\?(.*))?$/.exec(hash) ?? [];
  return { page: page || 'browse', parameters: new URLSearchParams(query) };
}

/** The address of a page within the console, for a link. */
export const placeHref = (page: string, parameters: Readonly<Record<string, string>> = {}): string =>
  `#/${page}${Object.keys(parameters).length > 0 ? `?${new URLSearchParams(parameters)}` : ''}`;

/** Where the console shows a resource or a container. */
export const openHref = (iri: string): string => placeHref(isContainer(iri) ? 'browse' : 'resource', { at: iri });

/** The page for signing in, which leads back to where the reader is. */
export function signInHref(): string {
  const to = placeNow().page === 'signin' ? placeNow().parameters.get('to') : location.hash;
  return placeHref('signin', to ? { to } : {});
}

/** Where to go after signing in. Anybody can make a link: only a place of this console is followed. */
export const placeAfter = (to: string | null): string =>
  to?.startsWith('#/') && placeNow(to).page !== 'signin' ? to : placeHref('browse');

/** What to call a resource in a heading. */
export const nameOf = (iri: string): string => (iri === storageUri ? new URL(iri).host : shortName(iri));

/** @param page what the links lead to */
export const crumbs = (at: string, page = 'browse'): TemplateResult => html`<nav aria-label="Where you are">
  <ol class="crumbs">
    ${ancestors(at, storageUri)
      .filter((iri) => iri !== at)
      .map((iri) => html`<li><a href=${placeHref(page, { at: iri })}>${nameOf(iri)}</a></li>`)}
    <li aria-current="page">${nameOf(at)}</li>
  </ol>
</nav>`;
