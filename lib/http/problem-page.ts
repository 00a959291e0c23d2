/** HTML pages of problems, for people with a browser (rule 7.3). */
import { createHash } from 'node:crypto';
import type { ErrorCode } from '../tools/errors.js';
import type { Reply } from './reply.js';

/** URLs of console pages for an IRI, whether or not the resource exists. */
export interface ResourcePages {
  /** Returns the URL of a page that shows the resource. */
  viewOf(iri: string): string;
  /** Returns the URL of a page that signs in, and then returns to the resource. */
  signInOf(iri: string): string;
  /** Returns the URL of a page that signs in, and then offers to request access. */
  requestOf(iri: string): string;
}

interface Words {
  readonly heading: string;
  /** Text instead of the message of the problem, which is for programs. */
  readonly text?: string;
  /** Advice for the reader. */
  readonly advice: string;
  readonly canSignIn?: boolean;
}

const atServer = 'Wait a few seconds, then reload this page.';

const unavailable: Words = {
  heading: 'Not found, or not shared with you',
  advice: 'Check the address. If the item is not public, sign in or request access.',
  canSignIn: true,
};

const wordsOf: Partial<Record<ErrorCode, Words>> = {
  unauthenticated: {
    heading: 'Sign in to see this',
    text: 'This is not public, or it does not exist.',
    advice: 'Sign in, or request access. No account needed: your browser is enough.',
    canSignIn: true,
  },
  forbidden: unavailable,
  'not-found': unavailable,
  'too-busy': { heading: 'The server is busy', advice: atServer },
  'too-many-requests': { heading: 'Too many attempts', advice: atServer },
};

const failed: Words = {
  heading: 'The server failed',
  text: 'This page cannot be shown because of an error of the server.',
  advice:
    'Try again later. If it fails again, send the number of the request under Details to the operator of the server.',
};

const style = `
:root { color-scheme: light dark; font: 1rem/1.5 Inter, system-ui, sans-serif; --ground: #fff; --hair: #e3e6ed; --text: #171a21; --soft: #545d6d; --line: #cdd2dc; --accent: #3d43c4; --tint: #eeeffc; --on: #fff; background: #f7f8fb; }
@media (prefers-color-scheme: dark) {
  :root { --ground: #181b22; --hair: #292e39; --text: #e9ebf1; --soft: #a5aebd; --line: #454e5e; --accent: #aab2ff; --tint: #23284a; --on: #12141a; background: #111318; }
}
body { margin: 0; color: var(--text); overflow-wrap: anywhere; }
main { max-width: 30rem; margin: 0 auto; padding: 10vh 1rem 2rem; text-align: center; }
section { background: var(--ground); border: 1px solid var(--hair); border-radius: 12px; padding: 2rem 1.25rem; }
svg { display: block; width: 2.25rem; height: 2.25rem; margin: 0 auto .75rem; fill: var(--tint); stroke: var(--accent); stroke-width: 1.25; stroke-linejoin: round; stroke-linecap: round; }
h1 { font-size: 1.375rem; font-weight: 650; line-height: 1.3; letter-spacing: -.02em; margin: 0 0 .75rem; }
p { margin: 0 0 .25rem; color: var(--soft); }
nav { display: flex; flex-wrap: wrap; justify-content: center; gap: .5rem; margin: 1.25rem 0 0; }
a { border: 1px solid var(--line); border-radius: 8px; padding: calc(.5rem - 1px) .75rem; color: var(--text); font-weight: 500; text-decoration: none; }
a:first-child { background: var(--accent); border-color: transparent; color: var(--on); font-weight: 600; }
a:focus-visible { outline: 3px solid var(--accent); outline-offset: 2px; }
header { color: var(--accent); font-weight: 700; margin-bottom: 1rem; }
details { color: var(--soft); font-size: .8125rem; margin-top: 1rem; }
summary { cursor: pointer; list-style: none; }
summary::before { content: ""; display: inline-block; width: .4rem; height: .4rem; margin: 0 .5rem .1em 0; border: solid; border-width: 0 1.5px 1.5px 0; rotate: -45deg; }
[open] > summary::before { rotate: 45deg; margin-bottom: .25em; }
`;

/** SVG paths of the icons. */
const lock = 'M6 10h12v10H6zM8.5 10V7a3.5 3.5 0 0 1 7 0v3';
const sign = 'M12 4 21 19.5H3zM12 10v4.5M12 17v.1';

/** The policy allows no scripts and no subresources. The only style is the one above. */
const hash = createHash('sha256').update(style).digest('base64');
const policy = `default-src 'none'; style-src 'sha256-${hash}'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'`;

const entities: Readonly<Record<string, string>> = { '&': '&amp;', '<': '&lt;', '>': '&gt;', '"': '&quot;' };
const escaped = (text: unknown): string => String(text).replace(/[&<>"]/g, (char) => entities[char]!);

/** Renders a problem as a page. @param at requested path of a storage. Absent: there are no pages to link to */
export function problemPage(
  problem: Reply,
  at?: { readonly pages: ResourcePages; readonly rootIri: string; readonly path: string },
): Reply {
  const { type, title, detail, status, instance } = JSON.parse(String(problem.body)) as Record<string, string>;
  const code = type!.slice(type!.lastIndexOf(':') + 1) as ErrorCode;
  // Without a storage, the page offers no action, and the message is its heading.
  const named: Words = { heading: detail ?? title!, text: '', advice: '' };
  const words = type === 'about:blank' ? failed : at ? wordsOf[code] : named;
  const { heading = title, text = detail ?? '', advice = '', canSignIn = false } = words ?? {};
  const paragraphs = [text, advice].filter((each) => each !== '').map((each) => `<p>${escaped(each)}</p>`);
  const link = (url: string, name: string): string => `<a href="${escaped(url)}">${name}</a>`;
  const iri = at && new URL(at.rootIri).origin + at.path;
  const links = canSignIn &&
    at && [link(at.pages.signInOf(iri!), 'Sign in'), link(at.pages.requestOf(iri!), 'Request access')];
  const page = `<!doctype html>
<html lang="en">
<head><meta charset="utf-8"><meta name="viewport" content="width=device-width, initial-scale=1"><title>${escaped(heading)}</title><style>${style}</style></head>
<body><main><header>Quadpod</header><section>
<svg viewBox="0 0 24 24" aria-hidden="true"><path d="${canSignIn ? lock : sign}"/></svg><h1>${escaped(heading)}</h1>
${paragraphs.join('\n')}
${links ? `<nav aria-label="Next steps">${links.join('\n')}</nav>` : ''}</section>
<details><summary>Details</summary>Status ${escaped(status)}. Request ${escaped(instance)}.</details></main></body>
</html>
`;
  return {
    status: problem.status,
    fields: {
      ...problem.fields,
      'Content-Type': 'text/html; charset=utf-8',
      'Content-Security-Policy': policy,
      Vary: 'Accept, Authorization',
    },
    body: Buffer.from(page),
  };
}
