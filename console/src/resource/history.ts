/** `<resource-history>`: earlier versions of a resource, to view, compare, restore and erase. */
import { html, nothing, type TemplateResult } from 'lit';
import { customElement, property, state } from 'lit/decorators.js';
import { Page, scrollTable } from '../frame/page.js';
import { rowMenu } from '../frame/row-menu.js';
import { nameOfPerson } from '../sharing/people.js';
import { essenceOf, json, linkTarget, Refusal, succeed } from '../storage/api.js';
import { isController } from '../storage/controller.js';
import { linksetView, type Relation } from '../storage/linkset.js';
import { dateText, formatName, shortName, sizeText } from '../storage/names.js';
import {
  type DiffLine,
  differingLines,
  differingTriples,
  type ListedVersion,
  readVersions,
} from '../storage/versions.js';
import { downloadLimit, takeUpTo, turtleType } from './read.js';

/** Returns the time of a version with seconds, since versions may be of one minute. */
const timeOf = (date: string): string => dateText(date, 'medium');

/** Version that is shown, with its text and links. */
interface Shown {
  readonly version: ListedVersion;
  readonly text?: string;
  readonly lines?: readonly DiffLine[];
  /** Lines of types and links that differ. */
  readonly links?: readonly DiffLine[];
}

const isText = (type: string): boolean => /^text\/|[/+](?:json|xml|turtle|sparql-\w+|yaml|javascript)$/.test(type);

/** @throws Error if the content cannot be shown as text */
async function textOf(url: string, accept: string): Promise<string> {
  const response = await succeed('GET', url, { headers: { Accept: accept } });
  const type = essenceOf(response);
  const bytes = isText(type) || accept === type ? await takeUpTo(response, downloadLimit) : undefined;
  if (!bytes) throw new Error('This version is no text, or larger than 5 MB. Open it by its address.');
  return new TextDecoder().decode(bytes);
}

/** Returns types and client-managed links of a state, one per line. */
async function linksOf(url: string): Promise<string> {
  const linkset = linkTarget(await succeed('HEAD', url), 'linkset', url);
  if (linkset === undefined) return '';
  const headers = { Accept: 'application/linkset+json' };
  const { types, relations } = linksetView(await json<unknown>(linkset, { headers }).then(JSON.stringify));
  const of = ({ name, target, literal }: Relation): string =>
    `${name} ${target ? `${target.href} ${target.title ?? ''}`.trim() : JSON.stringify(literal)}`;
  return [...types.map((type) => `type ${type}`), ...relations.map(of)].join('\n');
}

const changesIn = (lines: readonly DiffLine[] = []): number => lines.filter(({ sign }) => sign !== ' ').length;
const diffText = (lines: readonly DiffLine[]): string => lines.map(({ sign, text }) => `${sign} ${text}\n`).join('');

@customElement('resource-history')
export class ResourceHistory extends Page {
  @property() iri = '';
  /** URL of the list of versions. */
  @property() versions = '';
  /** Entity tag of the current state that the user saw. */
  @property() etag = '';
  @property({ type: Boolean }) isRdf = false;
  @property({ type: Boolean }) writable = false;
  @state() private list: readonly ListedVersion[] | undefined;
  @state() private next: string | undefined;
  @state() private canErase = false;
  @state() private shown: Shown | undefined;

  protected override willUpdate(changed: Map<PropertyKey, unknown>): void {
    if (changed.has('etag') || changed.has('versions')) void this.read();
  }

  private read(url = this.versions): Promise<void> {
    return this.reading(async () => {
      const [page, canErase] = await Promise.all([readVersions(url), isController()]);
      this.list = url === this.versions ? page.versions : [...(this.list ?? []), ...page.versions];
      [this.next, this.canErase] = [page.next, canErase];
    });
  }

  protected override render(): TemplateResult {
    if (this.failure) return html`<p class="problem" role="alert">${this.failure}</p>`;
    if (!this.list) return html`<p class="soft" role="status">Reading …</p>`;
    const hasActors = this.list.some(({ actor }) => actor !== undefined);
    return html`<h2 class="visually-hidden">History</h2>
      <p class="soft">Choose a version to see it. Its address can be cited: it always has the same content.</p>
      ${scrollTable(
        'Versions',
        ['Version', ...(hasActors ? ['Written by'] : []), 'Size', html`<span class="visually-hidden">Actions</span>`],
        this.list.map((version, at) => this.row(version, this.list![at + 1], hasActors)),
      )}
      ${this.next === undefined ? nothing : html`<div class="row"><button type="button" @click=${() => this.read(this.next)}>Show older versions</button></div>`}
      ${this.shown ? this.content(this.shown) : nothing}`;
  }

  /** Renders the row of a version. @param before version that `version` replaced, if it is listed */
  private row(version: ListedVersion, before: ListedVersion | undefined, hasActors: boolean): TemplateResult {
    const { url, from, isPresent, actor } = version;
    const time = timeOf(from);
    const button = (label: string, work: () => unknown, kind: string): TemplateResult =>
      html`<button type="button" class=${kind} aria-label=${`${label} the version of ${time}`} @click=${work}>${label}</button>`;
    const view = (event: MouseEvent): void => {
      // With a modifier key, the browser opens or copies the address.
      if (event.ctrlKey || event.metaKey || event.shiftKey) return;
      event.preventDefault();
      void this.view(version);
    };
    const canErase = !isPresent && this.canErase;
    return html`<tr>
      <td><a href=${url} @click=${view}>${time}</a>${isPresent ? html` <span class="badge">Current</span>` : nothing}</td>
      ${hasActors ? html`<td title=${actor ?? ''}>${actor === undefined ? '' : nameOfPerson(actor)}</td>` : nothing}
      <td>${this.sizeOf(version, before)}</td>
      <td class="acts">
        ${isPresent ? nothing : button('Compare', () => this.compare(version), 'quiet')}
        ${isPresent || !this.writable ? nothing : button('Restore', () => this.restore(version), 'quiet')}
        ${
          canErase
            ? rowMenu(
                `More for the version of ${time}`,
                button('Erase', () => this.erase(version), 'danger'),
              )
            : nothing
        }
      </td>
    </tr>`;
  }

  /** Renders the size of a version, and the difference to the version before. If the format changed, names it. */
  private sizeOf({ size, mediaType = '' }: ListedVersion, before: ListedVersion | undefined): TemplateResult {
    const format = this.isRdf && !mediaType ? 'RDF' : formatName(mediaType);
    const isNew = before !== undefined && (before.mediaType ?? '') !== mediaType;
    const more = before?.size === undefined || size === undefined ? 0 : size - before.size;
    const change = more === 0 ? '' : `${more > 0 ? '+' : '−'}${sizeText(Math.abs(more))}`;
    return html`${[isNew || size === undefined ? format : '', size === undefined ? '' : sizeText(size)].filter(Boolean).join(' · ')}
      ${change ? html`<small class="soft">${change}</small>` : nothing}`;
  }

  private content({ version, text, lines, links = [] }: Shown): TemplateResult {
    const time = timeOf(version.from);
    const changes = changesIn(lines);
    const unit = this.isRdf ? ['triple', 'triples'] : ['line', 'lines'];
    const said = (count: number, [one, many]: readonly string[]): string =>
      `${count} ${count === 1 ? one : many}: − only then, + only now.`;
    const summary =
      changes > 0 ? said(changes, unit) : links.length > 0 ? 'The content is the same.' : 'No difference.';
    return html`<section class="card" tabindex="-1" aria-label=${`Version of ${time}`}>
      <h3>${lines ? `Changes from ${time} to now` : `Version of ${time}`}</h3>
      ${lines ? html`<p class="soft">${summary}</p>` : nothing}
      ${lines && changes === 0 ? nothing : html`<pre class="scroll" tabindex="0">${lines ? diffText(lines) : text}</pre>`}
      ${links.length > 0 ? html`<h4>Types and links</h4><p class="soft">${said(links.length, ['link', 'links'])}</p><pre class="scroll" tabindex="0">${diffText(links)}</pre>` : nothing}
      <div class="row"><button type="button" @click=${() => this.show(undefined)}>Close</button>
        <a href=${version.url} target="_blank" rel="noreferrer noopener">Address of this version</a></div>
    </section>`;
  }

  private show(shown: Shown | undefined): void {
    this.shown = shown;
    void this.updateComplete.then(() => this.querySelector<HTMLElement>('section.card, h2')?.focus());
  }

  private view(version: ListedVersion): Promise<boolean> {
    return this.attempt(async () =>
      this.show({ version, text: await textOf(version.url, `${turtleType}, */*;q=0.1`) }),
    );
  }

  private compare(version: ListedVersion): Promise<boolean> {
    return this.attempt(async () => {
      const triples = 'application/n-triples';
      const areTriples = this.isRdf && !version.mediaType?.startsWith('application/json');
      const accept = areTriples ? triples : '*/*';
      const [then, now] = await Promise.all([textOf(version.url, accept), textOf(this.iri, accept)]);
      const lines = areTriples ? differingTriples(then, now) : differingLines(then, now);
      if (!lines) throw new Error('Too many lines differ to compare them here.');
      const [linksThen, linksNow] = await Promise.all([linksOf(version.url), linksOf(this.iri)]);
      // The order of links does not matter: links are compared like triples.
      this.show({ version, lines, links: differingTriples(linksThen, linksNow) });
    });
  }

  private async restore(version: ListedVersion): Promise<void> {
    const text = `The content of ${dateText(version.from)} replaces the present one, which stays in the history.`;
    const question = { title: `Restore ${shortName(this.iri)}?`, text, proceed: 'Restore', isUsual: true };
    const work = async (): Promise<void> => {
      const old = await succeed('GET', version.url, { headers: { Accept: `${turtleType}, */*;q=0.1` } });
      const type = old.headers.get('Content-Type') ?? 'application/octet-stream';
      const put = { headers: { 'Content-Type': type, 'If-Match': this.etag }, body: await old.blob() };
      await succeed('PUT', this.iri, put).catch((error: unknown) => {
        if (!(error instanceof Refusal && error.status === 412)) throw error;
        throw new Error('Another user changed this item since you opened it. Reload it and review the change.');
      });
    };
    if (!(await this.attemptAfter(question, work, `The version of ${dateText(version.from)} is restored.`))) return;
    this.shown = undefined;
    this.dispatchEvent(new CustomEvent('changed', { bubbles: true }));
  }

  private async erase(version: ListedVersion): Promise<void> {
    const text = `A citation of the version of ${timeOf(version.from)} ends: its address returns 404 from now on. This cannot be undone.`;
    const question = { title: 'Erase this version?', text, proceed: 'Erase' };
    if (!(await this.attemptAfter(question, () => succeed('DELETE', version.url), 'The version is erased.'))) return;
    this.shown = undefined;
    await this.read();
    await this.keepFocus();
  }
}
