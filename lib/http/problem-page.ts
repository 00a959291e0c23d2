/** Problems as pages for people with a browser (rule 7.3). */
import { createHash } from 'node:crypto';
import type { ErrorCode } from '../tools/errors.js';
import type { Reply } from './reply.js';

/** Pages of a resource, or of an IRI without one. */
export interface ResourcePages {
  /** Returns the URL of a page that shows it. */
  viewOf(iri: string): string;
  /** Returns the URL of a page that signs in, and leads back to it. */
  signInOf(iri: string): string;
}

interface Words {
  /** Replaces the title of the problem. */
  readonly heading?: string;
  /** Replaces the message of the problem, which is for programs. */
  readonly text?: string;
  /** What the reader can do. */
  readonly advice: string;
  readonly canSignIn?: boolean;
}

const atServer = 'Wait a few seconds, then reload this page.';

const wordsOf: Partial<Record<ErrorCode, Words>> = {
  unauthenticated: {
    heading: 'Sign in to see this',
    text: 'This is not public, or it does not exist.',
    advice: 'If you have access, sign in. If you have none, sign in and request it. You need no account.',
    canSignIn: true,
  },
  forbidden: {
    heading: 'You have no access to this',
    advice: 'Ask an owner of this storage for access, or sign in with another identity.',
    canSignIn: true,
  },
  'not-found': {
    heading: 'There is nothing at this address',
    advice: 'Check the address. If you have access to items that are not public, sign in.',
    canSignIn: true,
  },
  'too-busy': { advice: atServer },
  'too-many-requests': { heading: 'Too many attempts', advice: atServer },
};

const failed: Words = {
  heading: 'The server failed',
  text: 'This page cannot be shown because of an error of the server.',
  advice: 'Try again later. If it fails again, send the number of the request below to the operator of the server.',
};

const style = `
:root { color-scheme: light dark; font: 1rem/1.5 system-ui, sans-serif; --text: #171a21; --soft: #545d6d; --line: #bcc3cf; --accent: #3d43c4; --on: #fff; }
@media (prefers-color-scheme: dark) {
  :root { --text: #e9ebf1; --soft: #a5aebd; --line: #475162; --accent: #aab2ff; --on: #12141a; background: #12141a; }
}
body { margin: 0; color: var(--text); overflow-wrap: anywhere; }
main { max-width: 36rem; margin: 0 auto; padding: 12vh 1rem 2rem; }
h1 { font-size: 1.75rem; line-height: 1.2; letter-spacing: -.02em; margin: 0 0 1rem; }
p { margin: 0 0 .75rem; }
nav { display: flex; flex-wrap: wrap; gap: .5rem; margin: 1.5rem 0; }
a { border: 1px solid var(--line); border-radius: 8px; padding: .45rem .9rem; color: var(--accent); font-weight: 500; text-decoration: none; }
a:first-child { background: var(--accent); border-color: transparent; color: var(--on); }
a:hover { text-decoration: underline; }
a:focus-visible { outline: 3px solid var(--accent); outline-offset: 2px; }
footer { color: var(--soft); font-size: .8125rem; }
`;

/** The page runs nothing, and loads nothing. Its style is the one above. */
const hash = createHash('sha256').update(style).digest('base64');
const policy = `default-src 'none'; style-src 'sha256-${hash}'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'`;

const entities: Readonly<Record<string, string>> = { '&': '&amp;', '<': '&lt;', '>': '&gt;', '"': '&quot;' };
const escaped = (text: unknown): string => String(text).replace(/[&<>"]/g, (char) => entities[char]!);

/**
 * Renders a problem as a page.
 * @param at requested path of a storage. Absent: there are no pages to link to
 */
export function problemPage(
  problem: Reply,
  at?: { readonly pages: ResourcePages; readonly rootIri: string; readonly path: string },
): Reply {
  const { type, title, detail, status, instance } = JSON.parse(String(problem.body)) as Record<string, string>;
  const code = type!.slice(type!.lastIndexOf(':') + 1) as ErrorCode;
  // The detail says that a storage is suspended or does not exist. Waiting does not help.
  const isLasting = Number(problem.fields['Retry-After'] ?? 0) > 60;
  const named: Words = { heading: detail ?? title!, text: '', advice: '' };
  const words = type === 'about:blank' ? failed : at && !isLasting ? (wordsOf[code] ?? { advice: '' }) : named;
  const { heading = title, text = detail ?? '', advice, canSignIn = false } = words;
  const paragraphs = [text, advice].filter((each) => each !== '').map((each) => `<p>${escaped(each)}</p>`);
  const link = (url: string, name: string): string => `<a href="${escaped(url)}">${name}</a>`;
  const iri = at && new URL(at.rootIri).origin + at.path;
  const links = at && [
    ...(canSignIn ? [link(at.pages.signInOf(iri!), 'Sign in')] : []),
    link(at.pages.viewOf(at.rootIri), 'First page of the storage'),
    link(at.pages.viewOf(iri!), 'Open it in the console'),
  ];
  const page = `<!doctype html>
<html lang="en">
<head><meta charset="utf-8"><meta name="viewport" content="width=device-width, initial-scale=1"><title>${escaped(heading)}</title><style>${style}</style></head>
<body><main><h1>${escaped(heading)}</h1>
${paragraphs.join('\n')}
${links ? `<nav aria-label="Next steps">${links.join('\n')}</nav>` : ''}
<footer>Status ${escaped(status)}. Request ${escaped(instance)}.</footer></main></body>
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
