/** Counts words that make comments and documents hard to read. A measure, not a style checker: no word is forbidden. */
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { packageRoot } from '../../lib/tools/threads/package-root.js';

/** Rates of one folder: occurrences per 100 words; `starts` is a percentage of the texts. */
export interface ProseRates {
  /** who, which, what, where, whether … */
  readonly relatives: number;
  /** nobody, somebody, whoever … */
  readonly people: number;
  readonly semicolons: number;
  /** Texts that begin with What, Whether, Who, Of … */
  readonly starts: number;
}

const relative = /\b(?:which|who|whom|whose|whoever|what|whatever|where|whether)\b/gi;
const person = /\b(?:nobody|somebody|everybody|anybody|whoever|those who|who asks)\b/gi;
const start = /^(?:What|Whether|Who|Whose|Where|How|Those|Of|As|Whatever)\b/i;

/** Returns the comments of a source file as plain text: code, links and tags are left out. */
export function commentsOf(source: string): string[] {
  const blocks = source.match(/^[ \t]*\/\*[\s\S]*?\*\/|(?:^[ \t]*\/\/.*\n?)+/gm) ?? [];
  return blocks.map((block) =>
    block
      .split('\n')
      .map((line) => line.trim().replace(/^(?:\/\*\*?|\*\/|\*|\/\/\/?)\s?|\*\/$/g, ''))
      .join(' ')
      .replace(/@\w+(?:\s*\{[^}]*\})?/g, '')
      .replace(/`[^`]*`|\[[^\]]*\]|https?:\/\/\S+/g, 'X')
      .trim(),
  );
}

/** Returns the paragraphs of a Markdown document without code. */
export const paragraphsOf = (document: string): string[] =>
  document
    .replace(/```[\s\S]*?```/g, '')
    .replace(/`[^`]*`/g, 'X')
    .split('\n\n');

/** Returns the rates of a list of texts. */
export function ratesOf(texts: readonly string[]): ProseRates {
  const found = texts.filter((text) => /[a-z]{3}/.test(text));
  const all = found.join(' ');
  const words = all.split(/\s+/).length;
  const per100 = (pattern: RegExp): number => (100 * (all.match(pattern)?.length ?? 0)) / words;
  const starts = (100 * found.filter((text) => start.test(text)).length) / Math.max(1, found.length);
  return { relatives: per100(relative), people: per100(person), semicolons: per100(/;/g), starts };
}

/** Returns the files below a folder, or the file itself. */
export function textFiles(place: string, ending: string): string[] {
  if (place.endsWith(ending)) return [join(packageRoot, place)];
  return readdirSync(join(packageRoot, place), { recursive: true, encoding: 'utf8' })
    .filter((name) => name.endsWith(ending) && !name.endsWith('.d.ts') && !name.includes('node_modules'))
    .map((name) => join(packageRoot, place, name));
}

export const read = (file: string): string => readFileSync(file, 'utf8');
