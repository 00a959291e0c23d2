/** Text search in the editor: the browser's search finds text in visible lines only. */
import {
  closeSearchPanel,
  findNext,
  findPrevious,
  getSearchQuery,
  openSearchPanel,
  SearchQuery,
  search,
  setSearchQuery,
} from '@codemirror/search';
import type { EditorState, Extension } from '@codemirror/state';
import { EditorView, keymap, type Panel } from '@codemirror/view';
import { html, render } from 'lit';

const maxCounted = 10_000;

/** Normalizes text as CodeMirror's query cursors do, which are ten times slower. */
const comparable = (text: string): string => text.normalize('NFKD').toLowerCase();

function countText({ doc }: EditorState, { search: sought, valid }: SearchQuery): string {
  if (!valid) return '';
  const count = comparable(doc.toString()).split(comparable(sought), maxCounted + 1).length - 1;
  return count === 0 ? 'Not found' : `${count} found`;
}

function panel(view: EditorView): Panel {
  const dom = document.createElement('div');
  dom.className = 'cm-find';
  const look = ({ target }: Event): void => {
    const query = new SearchQuery({ search: (target as HTMLInputElement).value, literal: true });
    view.dispatch({ effects: setSearchQuery.of(query) });
  };
  const show = (state: EditorState): void =>
    void render(
      html`<label>Find <input main-field autocomplete="off" .value=${getSearchQuery(state).search} @input=${look}></label>
        <button type="button" @click=${() => findNext(view)}>Next</button>
        <button type="button" @click=${() => findPrevious(view)}>Previous</button>
        <span role="status">${countText(state, getSearchQuery(state))}</span>
        <button type="button" @click=${() => closeSearchPanel(view)}>Close</button>`,
      dom,
    );
  dom.addEventListener('keydown', (event) => {
    if (event.key === 'Escape') closeSearchPanel(view);
    else if (event.key === 'Enter' && event.target instanceof HTMLInputElement)
      (event.shiftKey ? findPrevious : findNext)(view);
    else return;
    event.preventDefault();
  });
  show(view.state);
  return {
    dom,
    top: true,
    mount: () => dom.querySelector('input')?.select(),
    update({ state, startState, docChanged }) {
      if (docChanged || getSearchQuery(state) !== getSearchQuery(startState)) show(state);
    },
  };
}

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
  '.cm-searchMatch': { backgroundColor: 'var(--mark)', outline: '1px solid var(--soft)' },
});

/** Search panel: Ctrl or Cmd and F opens it, F3 finds the next match, Escape closes it. */
export const finding: Extension = [
  search({ createPanel: panel, literal: true }),
  look,
  keymap.of([
    { key: 'Mod-f', run: openSearchPanel },
    { key: 'F3', run: findNext, shift: findPrevious },
    { key: 'Mod-g', run: findNext, shift: findPrevious },
    { key: 'Escape', run: closeSearchPanel },
  ]),
];
