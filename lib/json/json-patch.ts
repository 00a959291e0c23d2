/** JSON Merge Patch (RFC 7386) and JSON Patch (RFC 6902) on a JSON text. It must not know resources. */
import { isDeepStrictEqual } from 'node:util';
import { LwsError } from '../errors.js';
import { decodeUtf8, parseJson, writeJson } from './json.js';

/**
 * Applies a patch to a document. A result that equals the document comes back as the very same bytes.
 * @throws LwsError `malformed-body` for a patch that is none, `patch-conflict` for a failed `test` or a pointer that
 *   leads nowhere (open-points 2.3)
 */
export function patchJson(document: Uint8Array, patch: Uint8Array, merge: boolean): Uint8Array {
  const before = JSON.parse(decodeUtf8(document)) as unknown;
  const change = parseJson(decodeUtf8(patch));
  const unchanged = JSON.stringify(before);
  const room = 8 * (document.length + patch.length) + (1 << 20);
  const after = writeJson(merge ? mergePatch(before, change) : applyOperations(before, change, room));
  return after === unchanged ? document : Buffer.from(after);
}

/** RFC 7386 section 2. */
export function mergePatch(target: unknown, patch: unknown): unknown {
  if (!isObject(patch)) return patch;
  // A Map, because a member may be called `__proto__`.
  const members = new Map<string, unknown>(isObject(target) ? Object.entries(target) : []);
  for (const [name, value] of Object.entries(patch))
    if (value === null) members.delete(name);
    else members.set(name, mergePatch(members.get(name), value));
  return Object.fromEntries(members);
}

const isObject = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

/**
 * Applies the operations of a JSON Patch to a document, which is changed in place, and returns what it is then.
 * @param room characters of JSON that its `copy` operations may copy: thirty that double a value would fill any memory
 */
export function applyOperations(document: unknown, patch: unknown, room: number): unknown {
  if (!Array.isArray(patch)) throw new LwsError('malformed-body', 'A JSON Patch is an array of operations (RFC 6902).');
  patch.forEach(assertOperation);
  const root: Root = { document };
  let left = room;
  for (const [index, operation] of (patch as Operation[]).entries())
    try {
      left -= apply(root, operation);
      if (left < 0) throw new LwsError('malformed-body', 'The copy operations of the JSON Patch copy too much.');
    } catch (error) {
      if (!(error instanceof Conflict)) throw error;
      throw new LwsError(
        'patch-conflict',
        `Operation ${index + 1} of the JSON Patch does not apply: ${error.message}. Nothing was changed.`,
        { cause: error },
      );
    }
  return root.document;
}

interface Operation {
  readonly op: 'add' | 'remove' | 'replace' | 'move' | 'copy' | 'test';
  readonly path: string;
  readonly from?: string;
  readonly value?: unknown;
}
/** So that the document itself is a member of something. */
interface Root {
  readonly document: unknown;
}
class Conflict extends Error {}

/** @returns how many characters were copied */
function apply(root: Root, { op, path, from = '', value }: Operation): number {
  if (op === 'add') new Place(root, path).add(value);
  else if (op === 'remove' && path === '') new Place(root, path).replace(null);
  else if (op === 'remove') new Place(root, path).remove();
  else if (op === 'replace') new Place(root, path).replace(value);
  else if (op === 'test') {
    if (!isDeepStrictEqual(new Place(root, path).value, value)) throw new Conflict('its test failed');
  } else if (op === 'copy') {
    const copied = JSON.stringify(new Place(root, from).value);
    new Place(root, path).add(JSON.parse(copied));
    return copied.length;
  } else {
    if (path.startsWith(`${from}/`)) throw new Conflict('it moves a value into itself');
    const moved = new Place(root, from).value;
    if (from !== '') new Place(root, from).remove();
    new Place(root, path).add(moved);
  }
  return 0;
}

/** What a JSON Pointer leads to: a member of an object, or an element of an array. */
class Place {
  private readonly parent: unknown;
  private readonly name: string;

  constructor(root: Root, pointer: string) {
    const tokens = pointer.split('/').slice(1);
    const names = ['document', ...tokens.map((token) => token.replaceAll('~1', '/').replaceAll('~0', '~'))];
    this.name = names.pop()!;
    this.parent = names.reduce<unknown>(at, root);
  }

  get value(): unknown {
    return at(this.parent, this.name);
  }

  add(value: unknown): void {
    const { parent, name } = this;
    if (isObject(parent)) define(parent, name, value);
    else if (Array.isArray(parent) && name === '-') parent.push(value);
    else if (Array.isArray(parent) && isIndex(name) && Number(name) <= parent.length)
      parent.splice(Number(name), 0, value);
    else throw nowhere();
  }

  replace(value: unknown): void {
    const { parent, name } = this;
    at(parent, name);
    if (Array.isArray(parent)) parent[Number(name)] = value;
    else define(parent as object, name, value);
  }

  remove(): void {
    const { parent, name } = this;
    at(parent, name);
    if (Array.isArray(parent)) parent.splice(Number(name), 1);
    else delete (parent as Record<string, unknown>)[name];
  }
}

function at(parent: unknown, name: string): unknown {
  if (isObject(parent) && Object.hasOwn(parent, name)) return parent[name];
  if (Array.isArray(parent) && isIndex(name) && Number(name) < parent.length) return parent[Number(name)];
  throw nowhere();
}

/** A member may be called `__proto__`. */
const define = (object: object, name: string, value: unknown): void =>
  void Object.defineProperty(object, name, { value, writable: true, enumerable: true, configurable: true });
const isIndex = (name: string): boolean => /^(?:0|[1-9]\d*)$/.test(name);
const nowhere = (): Conflict => new Conflict('its pointer leads to nothing');

const operationNames = new Set(['add', 'remove', 'replace', 'move', 'copy', 'test']);

function assertOperation(operation: unknown, index: number): void {
  const fault = faultOf(operation);
  if (fault)
    throw new LwsError('malformed-body', `Operation ${index + 1} of the JSON Patch ${fault} (RFC 6902 section 4).`);
}

function faultOf(operation: unknown): string | undefined {
  if (!isObject(operation)) return 'is not an object';
  const { op, path, from } = operation;
  if (typeof op !== 'string' || !operationNames.has(op)) return 'has no known "op"';
  if (!isPointer(path)) return 'has no JSON Pointer as "path"';
  if ((op === 'move' || op === 'copy') && !isPointer(from)) return 'has no JSON Pointer as "from"';
  return /^(add|replace|test)$/.test(op) && !('value' in operation) ? 'has no "value"' : undefined;
}

const isPointer = (value: unknown): boolean => typeof value === 'string' && /^(?:\/(?:[^~]|~[01])*)*$/.test(value);
