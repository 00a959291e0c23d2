/**
 * `<quad-editor>`: text editor with highlighting, inline errors and completion. Fires `change` with the text, and `submit` on
 * Ctrl or Cmd and Enter. Tab moves the focus, as in other fields. The editor uses a shadow root, since the document's policy
 * rejects CodeMirror's style elements.
 */
import { autocompletion, closeBrackets, closeBracketsKeymap, completionKeymap } from '@codemirror/autocomplete';
import { defaultKeymap, history, historyKeymap } from '@codemirror/commands';
import { json } from '@codemirror/lang-json';
import { bracketMatching, indentOnInput } from '@codemirror/language';
import { lintGutter, lintKeymap } from '@codemirror/lint';
import { Annotation, Compartment, EditorState, type Extension, Prec, Text, Transaction } from '@codemirror/state';
import {
  drawSelection,
  EditorView,
  highlightActiveLineGutter,
  highlightSpecialChars,
  keymap,
  lineNumbers,
} from '@codemirror/view';
import { sparql } from 'codemirror-lang-sparql';
import { html, LitElement, type TemplateResult } from 'lit';
import { customElement, property } from 'lit/decorators.js';
import { jsonCheck, sparqlCheck, turtleCheck } from './check.js';
import { type Completions, completionSource } from './complete.js';
import { finding } from './search.js';
import { hostStyle, theme } from './theme.js';
import { turtleLanguage } from './turtle.js';

export type EditorLanguage = 'turtle' | 'sparql' | 'json' | 'text';

/** Returns CR LF if all lines of a text end so. Other text is split at LF, which preserves its CR characters. */
const separatorOf = (text: string): string => (/\r\n/.test(text) && !/(?:^|[^\r])\n/.test(text) ? '\r\n' : '\n');

/** Marks changes by the page, which are not edits of the user. */
const outside = Annotation.define<boolean>();

@customElement('quad-editor')
export class QuadEditor extends LitElement {
  static override styles = hostStyle;
  @property() language: EditorLanguage = 'text';
  @property({ type: Boolean }) readonly = false;
  /** Accessible name. */
  @property() label = '';
  @property({ attribute: false }) completions: Completions | undefined;

  private text = '';
  private view: EditorView | undefined;
  private left: EditorState | undefined;
  private readonly separator = new Compartment();
  private readonly mode = new Compartment();
  private readonly state = new Compartment();

  @property({ attribute: false })
  get value(): string {
    return this.view ? this.view.state.sliceDoc() : this.text;
  }
  set value(text: string) {
    const { view } = this;
    const before = this.value;
    this.text = text;
    if (!view || before === text) return;
    const separator = separatorOf(text);
    view.dispatch({
      changes: { from: 0, to: view.state.doc.length, insert: Text.of(text.split(separator)) },
      effects: this.separator.reconfigure(EditorState.lineSeparator.of(separator)),
      // The first text is not in the undo history.
      annotations: [outside.of(true), Transaction.addToHistory.of(before !== '')],
    });
  }

  override focus(): void {
    if (this.view) this.view.focus();
    else void this.updateComplete.then(() => this.view?.focus());
  }

  /** Inserts text at the cursor, replacing the selection. */
  insert(text: string): void {
    const { view } = this;
    if (!view) return;
    view.dispatch(view.state.replaceSelection(text), { userEvent: 'input', scrollIntoView: true });
    view.focus();
  }

  protected override render(): TemplateResult {
    return html`<div></div>`;
  }

  protected override updated(changed: Map<PropertyKey, unknown>): void {
    this.view ??= this.create();
    if (!['language', 'readonly', 'label'].some((name) => changed.has(name))) return;
    this.view.dispatch({ effects: [this.mode.reconfigure(this.modeNow()), this.state.reconfigure(this.stateNow())] });
  }

  override disconnectedCallback(): void {
    super.disconnectedCallback();
    // The element can be added again, with its undo history. So the state is kept and only the view is destroyed.
    this.text = this.value;
    this.left = this.view?.state;
    this.view?.destroy();
    this.view = undefined;
  }

  override connectedCallback(): void {
    super.connectedCallback();
    this.requestUpdate();
  }

  private create(): EditorView {
    const separator = separatorOf(this.text);
    const root = this.renderRoot as ShadowRoot;
    const left = this.left?.sliceDoc() === this.text ? this.left : undefined;
    this.left = undefined;
    const state =
      left ??
      EditorState.create({
        doc: Text.of(this.text.split(separator)),
        extensions: [
          this.separator.of(EditorState.lineSeparator.of(separator)),
          this.extensions(),
          this.mode.of(this.modeNow()),
          this.state.of(this.stateNow()),
        ],
      });
    return new EditorView({ state, root, parent: root.querySelector('div')! });
  }

  private extensions(): Extension {
    const submit = (): boolean => this.dispatchEvent(new CustomEvent('submit'));
    return [
      Prec.highest(keymap.of(['Mod-Enter', 'Ctrl-Enter'].map((key) => ({ key, run: submit })))),
      lineNumbers(),
      highlightActiveLineGutter(),
      highlightSpecialChars(),
      history(),
      drawSelection(),
      indentOnInput(),
      bracketMatching(),
      closeBrackets(),
      finding,
      keymap.of([...closeBracketsKeymap, ...defaultKeymap, ...historyKeymap, ...completionKeymap, ...lintKeymap]),
      EditorView.lineWrapping,
      EditorView.clipboardInputFilter.of((text, state) => text.replace(/\r\n?|\n/g, state.lineBreak)),
      EditorView.updateListener.of((update) => {
        if (!update.docChanged || update.transactions.every((each) => each.annotation(outside))) return;
        this.dispatchEvent(new CustomEvent('change', { detail: this.value }));
      }),
      // On focus, names are fetched before the user needs them.
      EditorView.domEventHandlers({ focus: () => this.warmUp() }),
      theme,
    ];
  }

  private warmUp(): void {
    if (this.readonly || !this.completions) return;
    // The source reports errors. Prefixes are still offered.
    for (const list of [this.completions.classes(), this.completions.predicates()]) list.catch(() => {});
  }

  private stateNow(): Extension {
    return [
      EditorState.readOnly.of(this.readonly),
      EditorView.contentAttributes.of({
        'aria-label': this.label || 'Text',
        // The element can get the focus without `tabindex`, but assistive tools need it.
        tabindex: '0',
        ...(this.readonly ? { 'aria-readonly': 'true' } : {}),
      }),
    ];
  }

  private modeNow(): Extension {
    const check = (lint: () => Extension): Extension => (this.readonly ? [] : [lint(), lintGutter()]);
    const names = (dialect: 'turtle' | 'sparql'): Extension =>
      this.readonly
        ? []
        : autocompletion({
            icons: false,
            maxRenderedOptions: 12,
            override: [completionSource(dialect, () => this.completions)],
          });
    if (this.language === 'turtle') return [turtleLanguage, check(turtleCheck), names('turtle')];
    if (this.language === 'sparql') return [sparql(), check(sparqlCheck), names('sparql')];
    return this.language === 'json' ? [json(), check(jsonCheck)] : [];
  }
}
