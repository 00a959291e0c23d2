/** Linksets (RFC 9264) as a form shows and changes them. Pure: every change makes a new document and keeps what it does not know. */

export interface Target {
  readonly href: string;
  readonly title?: string;
  readonly [attribute: string]: unknown;
}
type Context = Readonly<Record<string, unknown>>;

export interface Relation {
  readonly name: string;
  /** The place among the targets of the relation; `undefined` for a literal. */
  readonly index: number | undefined;
  readonly target: Target | undefined;
  /** What a relation has in place of targets. */
  readonly literal: unknown;
}

export interface LinksetView {
  /** What the server says of the resource, which nobody sets. */
  readonly given: readonly Relation[];
  readonly types: readonly string[];
  readonly relations: readonly Relation[];
}

const serverTypes = /^(?:https:\/\/www\.w3\.org\/ns\/lws#|http:\/\/www\.w3\.org\/ns\/ldp#)/;
const serverRelations = new Set(['up', 'linkset', 'https://www.w3.org/ns/lws#storage']);

const isTarget = (value: unknown): value is Target =>
  typeof value === 'object' && value !== null && typeof (value as Target).href === 'string';
const isTargets = (value: unknown): value is readonly Target[] => Array.isArray(value) && value.every(isTarget);

/** @throws SyntaxError for a string that is no linkset */
function contextOf(text: string): Context {
  const document = JSON.parse(text) as { linkset?: readonly unknown[] };
  const context = document?.linkset?.[0] ?? {};
  if (!Array.isArray(document?.linkset) || typeof context !== 'object' || context === null)
    throw new SyntaxError('This is no linkset: it has no array “linkset” with an object in it.');
  return context as Context;
}

const withContext = (context: Context): string => JSON.stringify({ linkset: [context] }, null, 2);

/** The text as people read it. */
export const readable = (text: string): string => withContext(contextOf(text));

/** @throws SyntaxError */
export function linksetView(text: string): LinksetView {
  const context = contextOf(text);
  const all = Object.entries(context).flatMap(([name, value]): Relation[] => {
    if (name === 'anchor' || name === 'type') return [];
    if (!isTargets(value)) return [{ name, index: undefined, target: undefined, literal: value }];
    return value.map((target, index) => ({ name, index, target, literal: undefined }));
  });
  const types = isTargets(context['type']) ? context['type'].map(({ href }) => href) : [];
  return {
    given: all.filter(({ name }) => serverRelations.has(name)),
    types,
    relations: all.filter(({ name }) => !serverRelations.has(name)),
  };
}

export const isServerType = (type: string): boolean => serverTypes.test(type);
export const isServerRelation = (name: string): boolean => serverRelations.has(name) || name === 'anchor';

/** With another target; a relation that has literals keeps them out of the way by refusing. @throws SyntaxError */
export function addTarget(text: string, name: string, target: Target): string {
  const context = contextOf(text);
  const before = context[name] ?? [];
  if (!isTargets(before)) throw new SyntaxError(`“${name}” has a text for its value; change it as JSON.`);
  return withContext({ ...context, [name]: [...before, target] });
}

/** With a target changed. @throws SyntaxError */
export function changeTarget(
  text: string,
  { name, index }: Pick<Relation, 'name' | 'index'>,
  change: Partial<Target>,
): string {
  const context = contextOf(text);
  const targets = context[name];
  if (!isTargets(targets)) return text;
  return withContext({
    ...context,
    [name]: targets.map((target, at) => (at === index ? cleaned({ ...target, ...change }) : target)),
  });
}

const cleaned = (target: Target): Target => {
  const { title, ...rest } = target;
  return title ? { ...rest, title } : rest;
};

/** Without a target, or without a literal. @throws SyntaxError */
export function removeRelation(text: string, { name, index }: Pick<Relation, 'name' | 'index'>): string {
  const { [name]: value, ...rest } = contextOf(text);
  const left = isTargets(value) && index !== undefined ? value.filter((_, at) => at !== index) : [];
  return withContext(left.length > 0 ? { ...rest, [name]: left } : rest);
}

export function removeType(text: string, type: string): string {
  const context = contextOf(text);
  const types = isTargets(context['type']) ? context['type'].filter(({ href }) => href !== type) : [];
  return withContext({ ...context, type: types });
}
