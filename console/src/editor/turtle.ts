/** Turtle's colours: the mode that CodeMirror has, whose names for the parts of a name are no use to a style. */
import { StreamLanguage, type StringStream } from '@codemirror/language';
import { turtle } from '@codemirror/legacy-modes/mode/turtle';

/** It calls a local name a keyword, or with a capital a comment, and a keyword meta. */
function token(stream: StringStream, state: unknown): string | null {
  const style = turtle.token(stream, state);
  if (style === 'keyword' && /^[@\d+-]/.test(stream.current()))
    return stream.current().startsWith('@') ? 'annotation' : 'number';
  if (style === 'keyword' || (style === 'comment' && !stream.current().startsWith('#'))) return 'propertyName';
  if (style === 'variableName.special') return 'namespace';
  return style === 'meta' ? 'keyword' : style;
}

export const turtleLanguage = StreamLanguage.define({
  ...turtle,
  token,
  languageData: { commentTokens: { line: '#' } },
});
