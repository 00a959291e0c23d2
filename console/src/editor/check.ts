/** Errors of a string, found while it is typed. */
import { jsonParseLinter } from '@codemirror/lang-json';
import { ensureSyntaxTree } from '@codemirror/language';
import { type Diagnostic, linter } from '@codemirror/lint';
import type { Extension, Text } from '@codemirror/state';
import type { EditorView } from '@codemirror/view';
import N3Parser from 'n3/src/N3Parser.js';

/** Longer documents are checked by the server when they are saved: a check would hold up typing. */
const longestChecked = 300_000;
const pauseMs = 200;
const maxErrors = 20;

interface ParseError extends Error {
  readonly context?: { readonly line?: number; readonly token?: { readonly value?: string } };
}

/** Runs when the browser has nothing more urgent to do. */
const idle = (): Promise<void> =>
  new Promise((resolve) => {
    if ('requestIdleCallback' in globalThis) requestIdleCallback(() => resolve(), { timeout: 80 });
    else setTimeout(resolve);
  });

function turtleError(text: string, doc: Text): Diagnostic[] {
  try {
    new N3Parser({ format: 'text/turtle' }).parse(text);
    return [];
  } catch (error) {
    const { message, context } = error as ParseError;
    const line = doc.line(Math.min(Math.max(context?.line ?? 1, 1), doc.lines));
    const token = context?.token?.value ?? '';
    const at = token ? line.text.indexOf(token) : -1;
    const from = at < 0 ? line.from + line.text.search(/\S|$/) : line.from + at;
    const to = at < 0 ? line.to : from + token.length;
    return [{ from, to: Math.max(from, to), severity: 'error', message: message.replace(/ on line \d+\.?$/, '.') }];
  }
}

async function checkTurtle({ state }: EditorView): Promise<Diagnostic[]> {
  if (state.doc.length > longestChecked) return [];
  await idle();
  return turtleError(state.doc.toString(), state.doc);
}

/** What the grammar could not place. */
function checkSparql({ state }: EditorView): Diagnostic[] {
  if (state.doc.length > longestChecked || state.doc.toString().trim() === '') return [];
  const found: Diagnostic[] = [];
  ensureSyntaxTree(state, state.doc.length, 100)?.iterate({
    enter: ({ type, from, to }) => {
      if (!type.isError || found.length >= maxErrors) return;
      const said = state.sliceDoc(from, Math.min(to, from + 40)).trim();
      const message = said ? `“${said}” is not expected here.` : 'Something is missing here.';
      found.push({ from, to, severity: 'error', message });
    },
  });
  return found;
}

export const turtleCheck = (): Extension => linter(checkTurtle, { delay: pauseMs });
export const sparqlCheck = (): Extension => linter(checkSparql, { delay: pauseMs });
export const jsonCheck = (): Extension => linter(jsonParseLinter(), { delay: pauseMs });
