/** Completes names in Turtle and SPARQL: prefixes, with their declaration, and classes and predicates of a storage. */
import type { Completion, CompletionContext, CompletionResult, CompletionSource } from '@codemirror/autocomplete';
import { syntaxTree } from '@codemirror/language';
import type { EditorState } from '@codemirror/state';
import type { EditorView } from '@codemirror/view';
import { declaredPrefixes, prefixedName, wellKnown } from './prefixes.js';

/** Source of the names in a storage, most frequent first. */
export interface Completions {
  classes(): Promise<readonly string[]>;
  predicates(): Promise<readonly string[]>;
}

export type Dialect = 'turtle' | 'sparql';

/** Length of the text that is searched for declarations, in characters: they are at the start of a document. */
const headLength = 50_000;
/** Time to wait for a source, in milliseconds. Names that arrive later are included in the next list. */
const patienceMs = 150;

const keywords =
  'SELECT CONSTRUCT DESCRIBE ASK WHERE DISTINCT REDUCED FROM NAMED GRAPH OPTIONAL UNION MINUS FILTER BIND VALUES GROUP BY HAVING ORDER ASC DESC LIMIT OFFSET COUNT SUM MIN MAX AVG SAMPLE GROUP_CONCAT EXISTS NOT REGEX CONTAINS LANG DATATYPE STR BOUND COALESCE'.split(
    ' ',
  );

/** Resolves with the list, or with `undefined` at the timeout. */
const soon = (list: Promise<readonly string[]> | undefined): Promise<readonly string[] | undefined> =>
  Promise.race([
    // Errors are reported elsewhere. On an error, only prefixes are offered.
    list?.catch(() => []) ?? Promise.resolve([]),
    new Promise<undefined>((resolve) => setTimeout(() => resolve(undefined), patienceMs)),
  ]);

const head = (state: EditorState): string => state.sliceDoc(0, headLength);

/** Inserts a name, and the declaration of its prefix if it is missing. */
function applyName(name: string, prefix: string, dialect: Dialect) {
  return (view: EditorView, _completion: Completion, from: number, to: number): void => {
    const text = head(view.state);
    const known = declaredPrefixes(text);
    const namespace = wellKnown[prefix];
    let declaration = '';
    if (!(prefix in known) && namespace !== undefined)
      declaration =
        dialect === 'turtle' ? `@prefix ${prefix}: <${namespace}> .\n` : `PREFIX ${prefix}: <${namespace}>\n`;
    const place = declarationPlace(text, from);
    view.dispatch({
      changes: [...(declaration ? [{ from: place, insert: declaration }] : []), { from, to, insert: name }],
      selection: { anchor: from + declaration.length + name.length },
      userEvent: 'input.complete',
      scrollIntoView: true,
    });
  };
}

/** Returns the index after the last declaration before the cursor, or 0. */
function declarationPlace(text: string, before: number): number {
  const declarations = [...text.matchAll(/^[ \t]*(?:@prefix|@base|prefix|base)\b[^\n]*\n/gim)];
  return declarations.map((found) => found.index + found[0].length).findLast((end) => end <= before) ?? 0;
}

function prefixOptions(known: Readonly<Record<string, string>>, dialect: Dialect): Completion[] {
  return Object.entries({ ...wellKnown, ...known }).map(([name, namespace]) => ({
    label: `${name}:`,
    detail: namespace,
    type: 'namespace',
    boost: name in known ? 1 : 0,
    apply: applyName(`${name}:`, name, dialect),
  }));
}

function nameOptions(
  iris: readonly string[],
  known: Readonly<Record<string, string>>,
  { dialect, type }: { dialect: Dialect; type: string },
): Completion[] {
  // A prefix must not be used if the document declares it for another namespace.
  const prefixes = { ...wellKnown, ...known };
  return iris.map((iri, at) => {
    const name = prefixedName(iri, prefixes);
    // The most frequent names come first, above prefixes.
    const base = { type, boost: 2 - at / iris.length };
    if (name === undefined) return { ...base, label: `<${iri}>` };
    return { ...base, label: name, detail: iri, apply: applyName(name, name.slice(0, name.indexOf(':')), dialect) };
  });
}

/** Completes a declaration such as `@prefix fo|`. */
function declarationOptions(dialect: Dialect): Completion[] {
  return Object.entries(wellKnown).map(([name, namespace]) => ({
    label: `${name}:`,
    detail: namespace,
    type: 'namespace',
    apply: `${name}: <${namespace}>${dialect === 'turtle' ? ' .' : ''}`,
  }));
}

const validFor = /^<?[\w.:/#-]*$/;

async function complete(
  context: CompletionContext,
  dialect: Dialect,
  source: Completions | undefined,
): Promise<CompletionResult | null> {
  const { state, pos, explicit } = context;
  if (/comment|string/i.test(syntaxTree(state).resolveInner(pos, -1).name)) return null;
  const word = context.matchBefore(/<[^<>\s]*|[\w-]*:?[\w.-]*/);
  const from = word?.from ?? pos;
  const line = state.doc.lineAt(pos);
  const before = line.text.slice(0, from - line.from);
  if (/(?:@prefix|\bprefix)\s+$/i.test(before)) return { from, options: declarationOptions(dialect), validFor };
  const ofType = /(?:^|[\s;.{])(?:a|rdf:type)\s+$/.test(before);
  if (!explicit && !ofType && (word?.text ?? '') === '') return null;
  if (/[?$@^]$/.test(before)) return null;
  const type = ofType ? 'class' : 'property';
  const iris = await soon(ofType ? source?.classes() : source?.predicates());
  if (context.aborted) return null;
  const known = declaredPrefixes(head(state));
  return {
    from,
    options: [
      ...nameOptions(iris ?? [], known, { dialect, type }),
      ...prefixOptions(known, dialect),
      ...(dialect === 'sparql' && !ofType ? keywords.map((label) => ({ label, type: 'keyword' })) : []),
    ],
    ...(iris === undefined ? {} : { validFor }),
  };
}

/** @param source called for each completion, since the source may be set later */
export const completionSource =
  (dialect: Dialect, source: () => Completions | undefined): CompletionSource =>
  (context) =>
    complete(context, dialect, source());
