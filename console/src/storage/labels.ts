/** Readable names of IRIs: labels of the storage, names with a prefix, and paths in the storage. */
import { html, type TemplateResult } from 'lit';
import { prefixedName, wellKnown } from '../editor/prefixes.js';
import { onSession, storageUri } from '../session/session.js';
import { json, serviceEndpoint } from './api.js';
import { decoded } from './names.js';
import { wordsOf } from './words.js';

/** Maximum count and length of IRIs in a request (they are in the URL), of IRIs fetched at a time, and of cached labels. */
const [maxIris, maxCharacters, maxAtOnce, maxKnown] = [200, 6_000, 1_000, 5_000];
const longestLabel = 100;

/** Labels from the text search of the storage, in the reader's language. Fires `change` when labels arrive. */
class Labels extends EventTarget {
  private readonly known = new Map<string, string | undefined>();
  private wanted = new Set<string>();

  constructor() {
    super();
    onSession(() => this.known.clear());
  }

  /** Returns a label. If it is not cached, fetches it and returns `undefined`. */
  of(iri: string): string | undefined {
    // The server rejects a request with an invalid IRI, so that IRI is not sent.
    if (this.known.has(iri) || !/^(?:https?|urn|did):[^\s<>"{}|\\^`]+$/.test(iri)) return this.known.get(iri);
    if (this.wanted.size === 0) setTimeout(() => void this.fetch());
    this.wanted.add(iri);
    return undefined;
  }

  /** Returns a cached label, or an empty text. */
  peek(iri: string): string {
    return this.known.get(iri) ?? '';
  }

  private async fetch(): Promise<void> {
    const iris = [...this.wanted];
    this.wanted = new Set();
    if (this.known.size > maxKnown) this.known.clear();
    for (const iri of iris) this.known.set(iri, undefined);
    iris.splice(maxAtOnce);
    // Without labels, IRIs are shown by prefixed name or path.
    const endpoint = await serviceEndpoint('LabelService').catch(() => undefined);
    while (endpoint !== undefined && iris.length > 0) {
      const query = new URLSearchParams();
      while (iris.length > 0 && query.size < maxIris && (query.size === 0 || String(query).length < maxCharacters))
        query.append('iri', iris.pop()!);
      const { items } = await json<LabelsFound>(`${endpoint}?${query}`).catch((): LabelsFound => ({ items: [] }));
      for (const { id, labels } of items) this.known.set(id, labels[0]?.value.slice(0, longestLabel));
      if (items.length > 0) this.dispatchEvent(new Event('change'));
    }
  }
}

interface LabelsFound {
  readonly items: readonly { readonly id: string; readonly labels: readonly { readonly value: string }[] }[];
}

export const labels = new Labels();

type Prefixes = Readonly<Record<string, string>>;

/** Returns a name by prefixes of the data, or by well-known prefixes, or the path in the storage, or the IRI. */
export function compact(iri: string, prefixes: Prefixes = {}): string {
  const name = prefixedName(iri, prefixes) ?? prefixedName(iri, wellKnown);
  return name ?? (iri.startsWith(storageUri) && iri !== storageUri ? `/${iri.slice(storageUri.length)}` : iri);
}

/** Returns a label, or a compact name. Anyone with write access can write labels: access decisions are shown without. */
export const labelled = (iri: string, prefixes?: Prefixes): string => labels.of(iri) ?? compact(iri, prefixes);

/** Returns the label of an IRI, its prefixed name, or its last segment: for charts, pictures and lists. */
export function labelOf(iri: string, prefixes: Prefixes = {}): string {
  const name = labels.of(iri) ?? prefixedName(iri, prefixes) ?? prefixedName(iri, wellKnown);
  return name ?? decoded(/[^/#?:]+[/#]?$/.exec(iri)?.[0] ?? iri);
}

/** Returns the label of a class, or its name in words. */
export const kindName = (type: string): string => labels.of(type) ?? wordsOf(type);

/** Renders a name with the IRI as title. If the user copies the name, the IRI is copied. @param name text of the name */
export const iriName = (iri: string, name: string | TemplateResult): TemplateResult =>
  html`<bdi data-iri=${iri} title=${iri}>${name}</bdi>`;

/** Copied text contains full IRIs instead of names. */
addEventListener('copy', (event) => {
  const selection = getSelection();
  if (!selection?.rangeCount || !event.clipboardData) return;
  const range = selection.getRangeAt(0);
  const copied = document.createElement('div');
  copied.append(range.cloneContents());
  const at = range.commonAncestorContainer;
  const inside = (at instanceof Element ? at : at.parentElement)?.closest<HTMLElement>('[data-iri]');
  const whole = inside && inside.textContent === String(selection).trim() ? inside.dataset['iri'] : undefined;
  const names = copied.querySelectorAll<HTMLElement>('[data-iri]');
  if (whole === undefined && names.length === 0) return;
  for (const name of names) name.textContent = name.dataset['iri'] ?? '';
  // Marks the ends of cells and rows, to separate them as the browser does.
  for (const cell of copied.querySelectorAll('td, th')) cell.append('\ue000');
  for (const row of copied.querySelectorAll('tr')) row.append('\ue001');
  const text = (copied.textContent ?? '')
    .replace(/\s+/g, ' ')
    .replace(/[\ue000 ]*\ue001 ?/g, '\n')
    .replace(/ ?\ue000 ?/g, '\t');
  event.clipboardData.setData('text/plain', whole ?? text.trim());
  event.preventDefault();
});
