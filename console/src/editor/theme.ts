/** Theme of the editor. It uses the console's custom properties, which also apply inside a shadow root. */
import { HighlightStyle, syntaxHighlighting } from '@codemirror/language';
import type { Extension } from '@codemirror/state';
import { EditorView } from '@codemirror/view';
import { tags } from '@lezer/highlight';
import { css } from 'lit';

/** Colours used only by the editor. Both sets have a contrast of at least 4.5. */
export const hostStyle = css`
  :host {
    display: block;
    min-width: 0;
    --code-keyword: #7a1fa2; --code-string: #1a6b37; --code-name: #3d43c4; --code-number: #9a4a00; --code-iri: #0b6470;
    --code-comment: #5f6775; --code-select: #cfe0fb; --code-match: #dcebdc;
  }
  @media (prefers-color-scheme: dark) {
    :host {
      --code-keyword: #d7a6f5; --code-string: #8fd6a4; --code-name: #8ab4f8; --code-number: #f0b27a; --code-iri: #7fd0da;
      --code-comment: #9aa5b5; --code-select: #2d4a78; --code-match: #2d4a35;
    }
  }
`;

const look = EditorView.theme({
  '&': {
    color: 'var(--text)',
    backgroundColor: 'var(--ground)',
    border: '1px solid var(--line)',
    borderRadius: '6px',
    height: 'var(--editor-height, auto)',
    minHeight: 'var(--editor-min-height, 8rem)',
    maxHeight: 'var(--editor-max-height, 70vh)',
    fontSize: '.875rem',
  },
  '&.cm-focused': { outline: '3px solid var(--accent)', outlineOffset: '1px' },
  '.cm-scroller': { fontFamily: 'ui-monospace, "DejaVu Sans Mono", monospace', lineHeight: '1.5', overflow: 'auto' },
  '.cm-content': { caretColor: 'var(--text)' },
  '.cm-cursor, .cm-dropCursor': { borderLeftColor: 'var(--text)' },
  '.cm-gutters': { backgroundColor: 'var(--raised)', color: 'var(--soft)', borderRight: '1px solid var(--line)' },
  '.cm-activeLineGutter': { backgroundColor: 'transparent', color: 'var(--text)', fontWeight: '600' },
  '.cm-selectionBackground, &.cm-focused > .cm-scroller > .cm-selectionLayer .cm-selectionBackground': {
    backgroundColor: 'var(--code-select)',
  },
  '&.cm-focused .cm-matchingBracket': { backgroundColor: 'var(--code-match)', outline: '1px solid var(--good)' },
  '&.cm-focused .cm-nonmatchingBracket': { backgroundColor: 'var(--bad-ground)', outline: '1px solid var(--bad)' },
  '.cm-tooltip, .cm-panels': {
    backgroundColor: 'var(--raised)',
    color: 'var(--text)',
    border: '1px solid var(--line)',
  },
  // The list shows few lines, since a scrollable list would need a mouse.
  '.cm-tooltip.cm-tooltip-autocomplete > ul': {
    maxHeight: 'none',
    maxWidth: 'min(36rem, 90vw)',
    fontFamily: 'inherit',
  },
  '.cm-tooltip-autocomplete ul li[aria-selected]': { backgroundColor: 'var(--accent)', color: 'var(--on-accent)' },
  '.cm-completionDetail': { fontStyle: 'normal', opacity: '.8' },
  '.cm-panel.cm-panel-lint ul [aria-selected]': { backgroundColor: 'var(--mark)', color: 'var(--text)' },
  '.cm-diagnostic-error': { borderLeftColor: 'var(--bad)' },
});

const colours = HighlightStyle.define([
  { tag: [tags.keyword, tags.operatorKeyword, tags.meta, tags.annotation], color: 'var(--code-keyword)' },
  { tag: [tags.string, tags.special(tags.string)], color: 'var(--code-string)' },
  { tag: [tags.variableName, tags.special(tags.variableName), tags.propertyName], color: 'var(--code-name)' },
  { tag: [tags.number, tags.integer, tags.float, tags.bool, tags.null], color: 'var(--code-number)' },
  { tag: [tags.atom, tags.url, tags.namespace, tags.typeName], color: 'var(--code-iri)' },
  { tag: tags.comment, color: 'var(--code-comment)', fontStyle: 'italic' },
]);

export const theme: Extension = [look, syntaxHighlighting(colours)];
