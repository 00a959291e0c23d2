/**
 * Program that prints every regular expression of the server as JSON lines `{source, flags, place}`: the literals in built files,
 * and the results of `new RegExp` while they load. It is a process of its own, because a module loads only once.
 */
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { parse } from 'acorn';

export interface FoundExpression {
  readonly source: string;
  readonly flags: string;
  readonly place: string;
}

const built = fileURLToPath(new URL('../..', import.meta.url));
const found = new Map<string, FoundExpression>();
const add = (source: string, flags: string, place: string): void => {
  found.set(`/${source}/${flags}`, { source, flags, place });
};

const files = ['lib', 'components'].flatMap((folder) =>
  readdirSync(join(built, folder), { recursive: true, encoding: 'utf8' })
    .filter((name) => name.endsWith('.js'))
    .map((name) => join(folder, name))
    // Bundles contain Comunica's expressions. Our modules in them also exist as files.
    .filter((name) => !existsSync(join(built, name.replace(/js$/, 'licences.txt')))),
);

interface SyntaxNode {
  readonly regex?: { readonly pattern: string; readonly flags: string };
}
/** Collects the literals below a node of the syntax tree. */
function literals(value: unknown, place: string): void {
  if (typeof value !== 'object' || value === null) return;
  const { regex } = value as SyntaxNode;
  if (regex) add(regex.pattern, regex.flags, place);
  else for (const member of Object.values(value)) literals(member, place);
}
for (const file of files)
  literals(parse(readFileSync(join(built, file), 'utf8'), { ecmaVersion: 'latest', sourceType: 'module' }), file);

const original = RegExp;
globalThis.RegExp = new Proxy(original, {
  construct(target, [pattern, flags], newTarget) {
    const expression = Reflect.construct(target, [pattern, flags], newTarget) as RegExp;
    const place = new Error().stack?.split('\n').find((line) => /\/dist\/(?:lib|components)\//.test(line));
    if (place) add(expression.source, expression.flags, place.trim());
    return expression;
  },
});
for (const file of files) {
  // Entry points of programs and threads run when imported. Their imports are loaded by other files.
  if (/(?:main|worker|worker-host|builder|serve|update-task)\.js$/.test(file)) continue;
  await import(pathToFileURL(join(built, file)).href);
}
globalThis.RegExp = original;
for (const expression of found.values()) console.log(JSON.stringify(expression));
process.exit(0);
