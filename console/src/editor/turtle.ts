/** Turtle highlighting: CodeMirror's mode, with tags that suit the theme. */
import { StreamLanguage, type StringStream } from '@codemirror/language';
import { turtle } from '@codemirror/legacy-modes/mode/turtle';

/** Corrects tags: CodeMirror tags local names as keywords, capitalized local names as comments, and keywords as meta. */
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
