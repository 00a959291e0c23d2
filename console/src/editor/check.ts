/** Finds syntax errors while typing. */
import { jsonParseLinter } from '@codemirror/lang-json';
import { ensureSyntaxTree } from '@codemirror/language';
import { type Diagnostic, linter } from '@codemirror/lint';
import type { Extension, Text } from '@codemirror/state';
import type { EditorView } from '@codemirror/view';
import N3Parser from 'n3/src/N3Parser.js';

/** Maximum length of a text that is checked while typing, in characters. The server checks longer texts when they are saved. */
const longestChecked = 300_000;
const pauseMs = 200;
const maxErrors = 20;

/** Position of a token. Columns start at 0. The end column is on the last line. */
interface Token {
  readonly line: number;
  readonly endLine?: number;
  readonly start: number;
  readonly end: number;
}

interface ParseError extends Error {
  /** Tokens next to the error. For text that the lexer cannot read, only the previous token is set. */
  readonly context?: {
    readonly line?: number;
    readonly token?: Token;
    readonly previousToken?: Token;
  };
}

/** Resolves when the browser is idle. */
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
    const { line: number = 1, token, previousToken: before } = context ?? {};
    const lineAt = (wanted: number) => doc.line(Math.min(Math.max(wanted, 1), doc.lines));
    const line = lineAt(number);
    const after = before && (before.endLine ?? before.line) === number ? before.end : 0;
    const start = token ? token.start : after + line.text.slice(after).search(/\S|$/);
    const from = Math.min(line.from + start, line.to);
    const word = /^\S*/.exec(line.text.slice(start))![0].length;
    const to = token ? Math.min(lineAt(token.endLine ?? number).from + token.end, doc.length) : from + word;
    return [{ from, to: Math.max(from, to), severity: 'error', message: message.replace(/ on line \d+\.?$/, '.') }];
  }
}

async function checkTurtle({ state }: EditorView): Promise<Diagnostic[]> {
  if (state.doc.length > longestChecked) return [];
  await idle();
  return turtleError(state.doc.toString(), state.doc);
}

/** Matches syntax of SPARQL 1.2, which the grammar of the editor lacks. The server checks such queries. */
const newer = /<<|\{\||~|--(?:ltr|rtl)\b/;

/** Returns an error for each text that the grammar cannot parse. */
function checkSparql({ state }: EditorView): Diagnostic[] {
  const text = state.doc.length > longestChecked ? '' : state.doc.toString();
  if (text.trim() === '' || newer.test(text)) return [];
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
