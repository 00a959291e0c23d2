/** Renders Markdown (CommonMark, with tables and strikethrough) as templates. HTML is shown as text, and nothing is loaded. */
import { html, nothing } from 'lit';
import MarkdownIt, { type Token } from 'markdown-it';
import { openHref } from '../frame/page.js';
import { storageUri } from '../session/session.js';

const parser = new MarkdownIt({ html: false });

/** Functions that render a token with its content. For a token without a function, only the content is rendered. */
const elements: Readonly<Record<string, (content: unknown, token: Token) => unknown>> = {
  p: (content, { hidden }) => (hidden ? content : html`<p>${content}</p>`),
  blockquote: (content) => html`<blockquote>${content}</blockquote>`,
  ul: (content) => html`<ul>${content}</ul>`,
  ol: (content, token) => html`<ol start=${token.attrGet('start') ?? nothing}>${content}</ol>`,
  li: (content) => html`<li>${content}</li>`,
  strong: (content) => html`<strong>${content}</strong>`,
  em: (content) => html`<em>${content}</em>`,
  s: (content) => html`<s>${content}</s>`,
  tr: (content) => html`<tr>${content}</tr>`,
  th: (content) => html`<th scope="col">${content}</th>`,
  td: (content) => html`<td>${content}</td>`,
  thead: (content) => html`<thead>${content}</thead>`,
  tbody: (content) => html`<tbody>${content}</tbody>`,
  table: (content) =>
    html`<div class="scroll" tabindex="0" role="region" aria-label="Table"><table>${content}</table></div>`,
};

/** Renders Markdown. @param base IRI of the document */
export const markdown = (text: string, base: string): unknown[] => [...contentOf(parser.parse(text, {}), base)];

function* contentOf(tokens: readonly Token[], base: string): Generator<unknown> {
  for (let at = 0; at < tokens.length; at++) {
    const token = tokens[at]!;
    if (token.nesting !== 1) {
      yield leaf(token, base);
      continue;
    }
    let end = at + 1;
    while (tokens[end]!.nesting !== -1 || tokens[end]!.level !== token.level) end++;
    yield element(token, [...contentOf(tokens.slice(at + 1, end), base)], base);
    at = end;
  }
}

function element(token: Token, content: readonly unknown[], base: string): unknown {
  const level = /^h([1-6])$/.exec(token.tag)?.[1];
  // Levels start below the headings of the page and of the pane.
  if (level !== undefined)
    return html`<p class="heading" role="heading" aria-level=${Math.min(6, Number(level) + 2)}>${content}</p>`;
  if (token.type === 'link_open') return link(content, token.attrGet('href'), base);
  return elements[token.tag]?.(content, token) ?? content;
}

function leaf(token: Token, base: string): unknown {
  const { type, content, children } = token;
  if (type === 'inline') return [...contentOf(children ?? [], base)];
  if (type === 'image') return link(content || token.attrGet('src'), token.attrGet('src'), base);
  if (type === 'code_inline') return html`<code>${content}</code>`;
  if (type === 'fence' || type === 'code_block') return html`<pre>${content.replace(/\n$/, '')}</pre>`;
  if (type === 'hr') return html`<hr />`;
  if (type === 'hardbreak') return html`<br />`;
  return type === 'softbreak' ? '\n' : content;
}

/** Renders a link. Links to resources of the storage open in the console. Images become links, too. */
function link(label: unknown, target: unknown, base: string): unknown {
  const url = typeof target === 'string' && URL.canParse(target, base) ? new URL(target, base).href : '';
  if (url.startsWith(storageUri)) return html`<a href=${openHref(url)}>${label}</a>`;
  return /^https?:/.test(url) ? html`<a href=${url} target="_blank" rel="noopener noreferrer">${label}</a>` : label;
}
