/** Markdown as templates: headings, paragraphs, lists, quotes, code, emphasis and links. HTML in it is text. */
import { html, type TemplateResult } from 'lit';
import { openHref } from '../frame/page.js';
import { storageUri } from '../session/session.js';

/** Lengths are limited, since each unclosed mark would otherwise be searched to the end. */
const marks =
  /`([^`]{1,300})`|\*\*([^*]{1,300})\*\*|\*([^*\s][^*]{0,300})\*|!?\[([^[\]]{0,500})\]\(([^()\s]{1,2000})\)/g;

function* inline(text: string, base: string): Generator<unknown> {
  let end = 0;
  for (const match of text.matchAll(marks)) {
    const [whole, code, strong, emphasis, label = '', target] = match;
    yield text.slice(end, match.index);
    end = match.index + whole.length;
    if (code !== undefined) yield html`<code>${code}</code>`;
    else if (strong !== undefined) yield html`<strong>${strong}</strong>`;
    else if (emphasis !== undefined) yield html`<em>${emphasis}</em>`;
    else yield link(label || target!, target!, base);
  }
  yield text.slice(end);
}

/** Links to resources of the storage open in the console. Images are links too: nothing is loaded. */
function link(label: string, target: string, base: string): unknown {
  const url = URL.canParse(target, base) ? new URL(target, base).href : '';
  if (url.startsWith(storageUri)) return html`<a href=${openHref(url)}>${label}</a>`;
  return /^https?:/.test(url) ? html`<a href=${url} target="_blank" rel="noopener noreferrer">${label}</a>` : label;
}

const kindOf = (line: string): string =>
  /^#{1,6}\s/.test(line)
    ? 'heading'
    : /^\s*[-*+]\s/.test(line)
      ? 'list'
      : /^\s*\d{1,9}[.)]\s/.test(line)
        ? 'numbers'
        : /^>/.test(line)
          ? 'quote'
          : 'text';

/** @param base IRI of the document */
export function markdown(text: string, base: string): TemplateResult[] {
  const blocks: TemplateResult[] = [];
  const lines = text.split(/\r?\n/);
  for (let at = 0; at < lines.length; ) {
    const line = lines[at]!;
    const start = at;
    if (line.trim() === '') {
      at++;
      continue;
    }
    if (line.startsWith('```')) {
      for (at++; at < lines.length && !lines[at]!.startsWith('```'); at++);
      blocks.push(html`<pre>${lines.slice(start + 1, at++).join('\n')}</pre>`);
      continue;
    }
    const kind = kindOf(line);
    do at++;
    while (
      kind !== 'heading' &&
      at < lines.length &&
      lines[at]!.trim() !== '' &&
      !lines[at]!.startsWith('```') &&
      kindOf(lines[at]!) === kind
    );
    blocks.push(block(kind, lines.slice(start, at), base));
  }
  return blocks;
}

function block(kind: string, lines: readonly string[], base: string): TemplateResult {
  const items = () => lines.map((line) => html`<li>${inline(line.replace(/^\s*\S+\s+/, ''), base)}</li>`);
  if (kind === 'list') return html`<ul>${items()}</ul>`;
  if (kind === 'numbers') return html`<ol>${items()}</ol>`;
  if (kind === 'heading') {
    const [, level = '', text = ''] = /^(#+)\s+(.*)$/.exec(lines[0]!) ?? [];
    // Below the heading of the page and of the pane.
    return html`<p class="heading" role="heading" aria-level=${Math.min(6, level.length + 2)}>${inline(text, base)}</p>`;
  }
  if (kind === 'quote')
    return html`<blockquote>${inline(lines.map((line) => line.replace(/^>\s?/, '')).join(' '), base)}</blockquote>`;
  return /^(?:-{3,}|\*{3,})$/.test(lines[0]!) ? html`<hr />` : html`<p>${inline(lines.join(' '), base)}</p>`;
}
