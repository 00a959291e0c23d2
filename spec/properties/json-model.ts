/** Lossless trees of JSON documents, with a direct implementation of RFC 6902 and RFC 7386. Shares no code with the server. */

/** Number in its lexical form. */
export class Digits {
  constructor(readonly form: string) {}
}
export type Tree = null | boolean | string | Digits | readonly Tree[] | ReadonlyMap<string, Tree>;

const isArray = (tree: Tree | undefined): tree is readonly Tree[] => Array.isArray(tree);

/** Whitespace, and the serialization of strings. */
export interface Style {
  readonly blank: string;
  readonly string: (value: string) => string;
}
export const compact: Style = { blank: '', string: JSON.stringify };

export function textOf(tree: Tree, style: Style = compact): string {
  const { blank, string } = style;
  if (tree instanceof Digits) return tree.form;
  if (typeof tree === 'string') return string(tree);
  if (isArray(tree)) return `[${blank}${tree.map((element) => textOf(element, style)).join(`,${blank}`)}${blank}]`;
  if (!(tree instanceof Map)) return String(tree);
  const members = [...tree].map(([name, value]) => `${string(name)}${blank}:${blank}${textOf(value, style)}`);
  return `{${blank}${members.join(`${blank},${blank}`)}${blank}}`;
}

/** Returns a number as an integer without trailing zeros times a power of ten. */
export function decimal({ form }: Digits): string {
  const [mantissa = '', exponent = '0'] = form.toLowerCase().split('e');
  const [whole, fraction = ''] = mantissa.split('.');
  let integer = BigInt(whole! + fraction);
  let power = BigInt(exponent.replace('+', '')) - BigInt(fraction.length);
  if (integer === 0n) return '0';
  for (; integer % 10n === 0n; power++) integer /= 10n;
  return `${integer}e${power}`;
}

/** RFC 6902 section 4.6. */
export function equal(a: Tree | undefined, b: Tree | undefined): boolean {
  if (a instanceof Digits && b instanceof Digits) return decimal(a) === decimal(b);
  if (isArray(a) && isArray(b)) return a.length === b.length && a.every((element, index) => equal(element, b[index]));
  if (a instanceof Map && b instanceof Map)
    return a.size === b.size && [...a].every(([name, value]) => equal(value, b.get(name)));
  return a === b;
}

export interface Operation {
  readonly op: 'add' | 'remove' | 'replace' | 'move' | 'copy' | 'test';
  readonly path: string;
  readonly from?: string;
  readonly value?: Tree;
}

export const operationText = (operations: readonly Operation[]): string =>
  textOf(operations.map((operation) => new Map(Object.entries(operation) as [string, Tree][])));

export class Conflict extends Error {}

const tokensOf = (pointer: string): string[] =>
  pointer
    .split('/')
    .slice(1)
    .map((token) => token.replaceAll('~1', '/').replaceAll('~0', '~'));

/** Maps a value to its replacement. `undefined`: no value. */
type Change = (before: Tree | undefined) => Tree | undefined;

/** Changes one place of a tree. @param inserts true to insert into an array instead of replacing */
function changed(
  tree: Tree | undefined,
  [token, ...rest]: readonly string[],
  change: Change,
  inserts = false,
): Tree | undefined {
  if (token === undefined) return change(tree);
  if (tree instanceof Map) {
    const members = new Map<string, Tree>(tree);
    const after = changed(members.get(token), rest, change, inserts);
    if (after === undefined) members.delete(token);
    else members.set(token, after);
    return members;
  }
  if (!isArray(tree) || !/^(?:0|[1-9]\d*|-)$/.test(token)) throw new Conflict();
  const at = token === '-' ? tree.length : Number(token);
  if (at > tree.length) throw new Conflict();
  const after = changed(tree[at], rest, change, inserts);
  return tree.toSpliced(at, inserts && rest.length === 0 ? 0 : 1, ...(after === undefined ? [] : [after]));
}

/** Returns the value at a pointer. @throws Conflict if there is none */
export function valueAt(tree: Tree, pointer: string): Tree {
  let found: Tree | undefined;
  changed(tree, tokensOf(pointer), (before) => {
    found = before;
    return before;
  });
  if (found === undefined) throw new Conflict();
  return found;
}

function applied(tree: Tree, { op, path, from = '', value = null }: Operation): Tree {
  const put = (target: Tree, what: Tree): Tree => changed(target, tokensOf(path), () => what, true)!;
  const without = (pointer: string): Tree => {
    valueAt(tree, pointer);
    if (pointer === '') throw new Conflict();
    return changed(tree, tokensOf(pointer), () => undefined)!;
  };
  if (op === 'add') return put(tree, value);
  if (op === 'copy') return put(tree, valueAt(tree, from));
  if (op === 'remove') return without(path);
  if (op === 'move') {
    if (path.startsWith(`${from}/`)) throw new Conflict();
    const moved = valueAt(tree, from);
    // RFC 6902: a move to the same location has no effect. Members have no order.
    return path === from ? tree : put(without(from), moved);
  }
  const before = valueAt(tree, path);
  if (op === 'replace') return changed(tree, tokensOf(path), () => value)!;
  if (!equal(before, value)) throw new Conflict();
  return tree;
}

/** @throws Conflict */
export const patched = (tree: Tree, operations: readonly Operation[]): Tree => operations.reduce<Tree>(applied, tree);

/** RFC 7386 section 2. */
export function merged(target: Tree | undefined, patch: Tree): Tree {
  if (!(patch instanceof Map)) return patch;
  const members = new Map<string, Tree>(target instanceof Map ? target : []);
  for (const [name, value] of patch as ReadonlyMap<string, Tree>)
    if (value === null) members.delete(name);
    else members.set(name, merged(members.get(name), value));
  return members;
}
