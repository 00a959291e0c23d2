/** Linksets (RFC 9264) for the form. Every change creates a new document, and preserves unknown members. */

interface Target {
  readonly href: string;
  readonly title?: string;
  readonly [attribute: string]: unknown;
}
type Context = Readonly<Record<string, unknown>>;

export interface Relation {
  readonly name: string;
  /** Index among the targets of the relation. `undefined` for a literal. */
  readonly index: number | undefined;
  readonly target: Target | undefined;
  /** Literal value of the relation. */
  readonly literal: unknown;
}

export interface LinksetView {
  /** Relations managed by the server. */
  readonly given: readonly Relation[];
  readonly types: readonly string[];
  readonly relations: readonly Relation[];
}

const serverTypes = /^(?:https:\/\/www\.w3\.org\/ns\/lws#|http:\/\/www\.w3\.org\/ns\/ldp#)/;
const serverRelations = new Set(['up', 'linkset', 'https://www.w3.org/ns/lws#storage']);

const isTarget = (value: unknown): value is Target =>
  typeof value === 'object' && value !== null && typeof (value as Target).href === 'string';
const isTargets = (value: unknown): value is readonly Target[] => Array.isArray(value) && value.every(isTarget);

/** Returns the link context object of a linkset. @throws SyntaxError if the text is not a linkset */
function contextOf(text: string): Context {
  const document = JSON.parse(text) as { linkset?: readonly unknown[] };
  const context = document?.linkset?.[0] ?? {};
  if (!Array.isArray(document?.linkset) || typeof context !== 'object' || context === null)
    throw new SyntaxError('This is not a linkset: the array “linkset” with an object is missing.');
  return context as Context;
}

const withContext = (context: Context): string => JSON.stringify({ linkset: [context] }, null, 2);

/** Returns the linkset as formatted text. */
export const isReadableLink = (text: string): string => withContext(contextOf(text));

/** Returns the relations and types of a linkset. @throws SyntaxError if the text is not a linkset */
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

/** Adds a target. @throws SyntaxError if the text is not a linkset, or the relation has literals */
export function addTarget(text: string, name: string, target: Target): string {
  const context = contextOf(text);
  const before = context[name] ?? [];
  if (!isTargets(before)) throw new SyntaxError(`“${name}” has a text value. Edit it as JSON.`);
  return withContext({ ...context, [name]: [...before, target] });
}

/** Changes a target. @throws SyntaxError */
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

/** Removes a target or a literal. @throws SyntaxError */
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
