/** Finding text: the browser's own search sees the lines that are drawn, not the document. */
import { type EditorState, type Extension, RangeSetBuilder, StateEffect, StateField } from '@codemirror/state';
import {
  Decoration,
  type DecorationSet,
  EditorView,
  keymap,
  type Panel,
  showPanel,
  ViewPlugin,
  type ViewUpdate,
} from '@codemirror/view';

interface Search {
  readonly isOpen: boolean;
  readonly text: string;
}

const maxCounted = 10_000;
const change = StateEffect.define<Partial<Search>>();

const search = StateField.define<Search>({
  create: () => ({ isOpen: false, text: '' }),
  update: (value, { effects }) => {
    let now = value;
    for (const effect of effects) if (effect.is(change)) now = Object.assign({}, now, effect.value);
    return now;
  },
  provide: (field) => showPanel.from(field, ({ isOpen }) => (isOpen ? panel : null)),
});

const pattern = (text: string): RegExp => new RegExp(text.replace(/[.*+?^${}()|[\]\\]/g, '\\$&'), 'giu');

interface Match {
  readonly from: number;
  readonly to: number;
}

/** Case makes no difference. */
function matches(state: EditorState, from = 0, to = state.doc.length): Match[] {
  const { text } = state.field(search);
  if (text === '') return [];
  const found: Match[] = [];
  for (const { index, 0: hit } of state.doc.sliceString(from, to).matchAll(pattern(text))) {
    found.push({ from: from + index, to: from + index + hit.length });
    if (found.length >= maxCounted) break;
  }
  return found;
}

function go(view: EditorView, direction: 1 | -1): boolean {
  const found = matches(view.state);
  if (found.length === 0) return view.state.field(search).isOpen;
  const { from, to } = view.state.selection.main;
  const ahead = direction === 1 ? found.find((match) => match.from >= to) : found.findLast((match) => match.to <= from);
  const match = ahead ?? found.at(direction === 1 ? 0 : -1)!;
  view.dispatch({
    selection: { anchor: match.from, head: match.to },
    scrollIntoView: true,
    userEvent: 'select.search',
  });
  return true;
}

function close(view: EditorView): boolean {
  if (!view.state.field(search).isOpen) return false;
  view.dispatch({ effects: change.of({ isOpen: false }) });
  view.focus();
  return true;
}

function open(view: EditorView): boolean {
  const { from, to } = view.state.selection.main;
  const chosen = to - from < 200 ? view.state.sliceDoc(from, to) : '';
  view.dispatch({ effects: change.of({ isOpen: true, ...(chosen ? { text: chosen } : {}) }) });
  const input = view.dom.querySelector<HTMLInputElement>('.cm-find input');
  input?.focus();
  input?.select();
  return true;
}

function button(text: string, press: () => void): HTMLButtonElement {
  const made = document.createElement('button');
  made.type = 'button';
  made.textContent = text;
  made.addEventListener('click', press);
  return made;
}

function panel(view: EditorView): Panel {
  const dom = document.createElement('div');
  dom.className = 'cm-find';
  const label = document.createElement('label');
  const input = document.createElement('input');
  input.value = view.state.field(search).text;
  input.autocomplete = 'off';
  label.append('Find ', input);
  const count = document.createElement('span');
  count.setAttribute('role', 'status');
  const tell = (): void => {
    const { length } = matches(view.state);
    count.textContent = input.value === '' ? '' : length === 0 ? 'Not found' : `${length} found`;
  };
  input.addEventListener('input', () => {
    view.dispatch({ effects: change.of({ text: input.value }) });
    tell();
  });
  dom.addEventListener('keydown', (event) => {
    if (event.key === 'Escape') close(view);
    else if (event.key === 'Enter' && event.target === input) go(view, event.shiftKey ? -1 : 1);
    else return;
    event.preventDefault();
  });
  const buttons = [button('Next', () => go(view, 1)), button('Previous', () => go(view, -1))];
  dom.append(
    label,
    ...buttons,
    count,
    button('Close', () => close(view)),
  );
  tell();
  return {
    dom,
    top: true,
    update: ({ state, docChanged }) => {
      if (state.field(search).text !== input.value) input.value = state.field(search).text;
      else if (!docChanged) return;
      tell();
    },
  };
}

const mark = Decoration.mark({ class: 'cm-found' });

function marks({ state, visibleRanges }: EditorView): DecorationSet {
  const builder = new RangeSetBuilder<Decoration>();
  if (state.field(search).isOpen)
    for (const range of visibleRanges)
      for (const { from, to } of matches(state, range.from, range.to)) builder.add(from, to, mark);
  return builder.finish();
}

const marked = ViewPlugin.fromClass(
  class {
    decorations: DecorationSet;
    constructor(view: EditorView) {
      this.decorations = marks(view);
    }
    update({ view, state, startState, docChanged, viewportChanged }: ViewUpdate): void {
      if (docChanged || viewportChanged || state.field(search) !== startState.field(search))
        this.decorations = marks(view);
    }
  },
  { decorations: ({ decorations }) => decorations },
);

const look = EditorView.theme({
  '.cm-find': { display: 'flex', flexWrap: 'wrap', gap: '.4rem', alignItems: 'center', padding: '.4rem' },
  '.cm-find input, .cm-find button': {
    font: 'inherit',
    color: 'inherit',
    background: 'var(--ground)',
    border: '1px solid var(--line)',
    borderRadius: '4px',
    padding: '.15rem .5rem',
    maxWidth: '100%',
  },
  '.cm-find :focus-visible': { outline: '3px solid var(--accent)', outlineOffset: '1px' },
  '.cm-found': { backgroundColor: 'var(--mark)', outline: '1px solid var(--soft)' },
});

/** Ctrl or Cmd and F finds, F3 continues, Escape ends it. */
export const finding: Extension = [
  search,
  marked,
  look,
  keymap.of([
    { key: 'Mod-f', run: open },
    { key: 'F3', run: (view) => go(view, 1), shift: (view) => go(view, -1) },
    { key: 'Mod-g', run: (view) => go(view, 1), shift: (view) => go(view, -1) },
    { key: 'Escape', run: close },
  ]),
];
