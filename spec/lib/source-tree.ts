/** Source files, their imports, rings and functions, read by regular expressions. */
import { readdirSync, readFileSync } from 'node:fs';
import { dirname, join, relative, resolve } from 'node:path';
import { packageRoot } from '../../lib/tools/threads/package-root.js';

export interface Import {
  readonly file: string;
  readonly line: string;
  readonly from: string;
  /** `import type`: has no effect at run time. */
  readonly isType: boolean;
}

export const pathOf = (file: string): string => relative(packageRoot, file).replaceAll('\\', '/');

export function sourceFiles(...folders: readonly string[]): string[] {
  return folders.flatMap((folder) =>
    readdirSync(join(packageRoot, folder), { withFileTypes: true, recursive: true })
      .filter((entry) => entry.isFile() && entry.name.endsWith('.ts'))
      .map((entry) => join(entry.parentPath, entry.name)),
  );
}

export function importsOf(files: readonly string[]): Import[] {
  return files.flatMap((file) => {
    const source = readFileSync(file, 'utf8');
    return [...source.matchAll(/(?:^|\n)\s*(?:import|export)\b[^;]*?from '([^']+)'|import\(\s*'([^']+)',?\s*\)/g)].map(
      (match) => ({
        file,
        line: `${pathOf(file)}: ${match[0].trim().replace(/\s+/g, ' ').slice(0, 120)}`,
        from: match[1] ?? match[2]!,
        isType: /^\s*import type\b/.test(match[0]),
      }),
    );
  });
}

/** Relative imports between files, as paths from the package's root. */
export function importedFiles(imports: readonly Import[]): Map<string, Set<string>> {
  const targets = new Map<string, Set<string>>();
  for (const { file, from } of imports) {
    if (!from.startsWith('.')) continue;
    const target = pathOf(resolve(dirname(file), from)).replace(/\.js$/, '.ts');
    targets.set(pathOf(file), (targets.get(pathOf(file)) ?? new Set()).add(target));
  }
  return targets;
}

/** Imports between folders. Two folders can form a cycle even if no files do. */
export function importedFolders(imports: readonly Import[]): Map<string, Set<string>> {
  const folders = new Map<string, Set<string>>();
  for (const [file, targets] of importedFiles(imports)) {
    const targetFolders = folders.get(dirname(file)) ?? new Set();
    for (const target of targets) if (dirname(target) !== dirname(file)) targetFolders.add(dirname(target));
    folders.set(dirname(file), targetFolders);
  }
  return folders;
}

/** Returns everything reachable from a node, without the node unless it is in a cycle. */
export function reachOf(graph: ReadonlyMap<string, ReadonlySet<string>>, start: string): Set<string> {
  const found = new Set<string>();
  const left = [...(graph.get(start) ?? [])];
  for (let node = left.pop(); node !== undefined; node = left.pop()) {
    if (found.has(node)) continue;
    found.add(node);
    left.push(...(graph.get(node) ?? []));
  }
  return found;
}

/** Returns the nodes that are reachable from themselves. */
export const ringsOf = (graph: ReadonlyMap<string, ReadonlySet<string>>): string[] =>
  [...graph.keys()].filter((node) => reachOf(graph, node).has(node));

export interface FunctionFound {
  readonly path: string;
  readonly name: string;
  readonly lines: number;
  readonly parameters: number;
}

/** Beginning of a function, a method or a named arrow function. Its end has the same indentation, set by the formatter. */
const beginning =
  /^(\s*)(?:(?:export|default|async|static|override|private|protected|get|set) )*(?:function\*? ?(\w+)|\*?(?!(?:if|for|while|switch|return|throw|catch|super|await|yield|new)\b)(\w+)(?=[(<])|const (\w+) = (?:async )?(?=[(<]))/;
const longestHeader = 16;

export function functionsOf(file: string): FunctionFound[] {
  const lines = readFileSync(file, 'utf8').split('\n');
  const found: FunctionFound[] = [];
  lines.forEach((line, at) => {
    const match = beginning.exec(line);
    if (!match) return;
    const [, indent = '', ...names] = match;
    let end = at;
    let header = line.trim();
    while (!/(?:[{;]|=>)$/.test(header) && end - at < longestHeader && end + 1 < lines.length)
      header += ` ${lines[++end]!.trim()}`;
    // Calls are not functions.
    if (!/(?:\{|=>)$/.test(header) || /\(\{$/.test(header) || /^[\w.]+\(.*=> \{$/.test(header)) return;
    const isBlock = header.endsWith('{');
    const last = isBlock ? lines.findIndex((each, index) => index > end && each.startsWith(`${indent}}`)) : end + 1;
    const name = names.find((each) => each !== undefined)!;
    found.push({ path: pathOf(file), name, lines: last - at + 1, parameters: parametersOf(header) });
  });
  return found;
}

/** Number of parameters between the first parenthesis and its end. */
function parametersOf(header: string): number {
  let depth = 0;
  let count = 0;
  let isEmpty = true;
  for (let at = header.indexOf('('); at >= 0 && at < header.length; at++) {
    const character = header[at]!;
    if ('([{<'.includes(character)) depth++;
    else if (')]}'.includes(character) || (character === '>' && header[at - 1] !== '=')) {
      if (--depth === 0) break;
    } else if (character === ',' && depth === 1) {
      if (!/^,\s*\)/.test(header.slice(at))) count++;
    }
    if (depth > 0 && at > header.indexOf('(') && character.trim() !== '') isEmpty = false;
  }
  return isEmpty ? 0 : count + 1;
}
