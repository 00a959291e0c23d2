/** What all pages share: they render into the document, so that one style sheet and one focus order hold. */
import { LitElement } from 'lit';
import { messageOf } from '../storage/api.js';
import { isContainer } from '../storage/names.js';
import { notify } from './notice.js';

export class Page extends LitElement {
  protected override createRenderRoot(): HTMLElement {
    return this;
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

  /** When what had the focus is gone, as a row that was deleted, the first heading here has it. */
  protected async keepFocus(): Promise<void> {
    await this.updateComplete;
    if (document.activeElement !== document.body) return;
    const heading = this.querySelector<HTMLElement>('h1, h2');
    heading?.setAttribute('tabindex', '-1');
    heading?.focus();
  }
}

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
