/**
 * JSON Patch operations (RFC 6902): validated here, applied by fast-json-patch. The library accepts more than the RFC (`/01`,
 * `~2`, moves into a child, inherited names), modifies exact numbers, and does not bound patches that multiply values. It is
 * therefore called only for `add`, `remove` and `replace` at existing locations. RFC 6902 defines `move` and `copy` by these
 * operations, and `test` changes nothing.
 */
import fastJsonPatch from 'fast-json-patch';
import { LwsError } from '../errors.js';
import { type ExactJson, isMarked, isObject, markedName } from './exact-json.js';
import { ExactNumber, sameNumber } from './exact-number.js';
import { tooDeep, tooManyValues } from './json.js';

/** Limits of the work that a patch may cause. */
interface PatchBounds {
  /** Size of the document and the patch, in bytes. */
  readonly size: number;
  /** Maximum number of values in the result. */
  readonly most: number;
}

/**
 * Applies a JSON Patch to a document in place.
 * @throws LwsError `malformed-body` for an invalid patch or too much work, `patch-conflict` if it does not apply, `too-large` for
 * copies of too many values
 */
export function applyOperations(document: ExactJson, patch: unknown, bounds: PatchBounds): ExactJson {
  if (!Array.isArray(patch)) throw new LwsError('malformed-body', 'A JSON Patch is an array of operations (RFC 6902).');
  patch.forEach(assertOperation);
  const target = new Target(document, bounds);
  for (const [index, operation] of (patch as Operation[]).entries())
    try {
      apply(target, operation);
    } catch (error) {
      // Stack overflow: operations can nest a value in itself repeatedly.
      if (error instanceof RangeError) throw tooDeep();
      if (!(error instanceof Conflict)) throw error;
      throw new LwsError(
        'patch-conflict',
        `Operation ${index + 1} of the JSON Patch does not apply: ${error.message}. Nothing was changed.`,
        { cause: error },
      );
    }
  return target.result;
}

interface Operation {
  readonly op: 'add' | 'remove' | 'replace' | 'move' | 'copy' | 'test';
  readonly path: string;
  readonly from?: string;
  readonly value?: unknown;
}
class Conflict extends Error {}

/** Destructured here, because the library is a CommonJS module. */
const { applyOperation, escapePathComponent, unescapePathComponent } = fastJsonPatch;
type Change =
  | fastJsonPatch.AddOperation<unknown>
  | fastJsonPatch.ReplaceOperation<unknown>
  | fastJsonPatch.RemoveOperation;

function apply(target: Target, { op, path, from = '', value }: Operation): void {
  if (op === 'add') target.add(path, value);
  else if (op === 'remove') target.remove(path);
  else if (op === 'replace') target.replace(path, value);
  else if (op === 'test') {
    if (!sameJson(target.find(path), value)) throw new Conflict('its test failed');
  } else if (op === 'copy') target.add(path, target.cloned(target.find(from)));
  else {
    if (path.startsWith(`${from}/`)) throw new Conflict('it moves a value into itself');
    const moved = target.find(from);
    if (path === from) return;
    target.remove(from);
    target.add(path, moved);
  }
}

/** The document during the patch, and the remaining work. */
class Target {
  private document: unknown;
  private plain: boolean;
  /** Remaining characters of JSON to copy, because thirty copies that double a value would fill any memory. */
  private copies: number;
  /** Remaining count of array elements to move for insertions and removals. */
  private shifts: number;
  /** Count of copied values. */
  private values = 0;
  private readonly most: number;

  constructor({ value, plain }: ExactJson, { size, most }: PatchBounds) {
    this.most = most;
    this.document = value;
    this.plain = plain;
    this.copies = 8 * size + (1 << 20);
    this.shifts = 32 * size + (1 << 28);
  }

  get result(): ExactJson {
    return { value: this.document, plain: this.plain };
  }

  find(pointer: string): unknown {
    return this.occupied(pointer).value;
  }

  add(pointer: string, value: unknown): void {
    const { parent, name, path } = this.place(pointer);
    if (Array.isArray(parent)) {
      if (name !== '-' && !(isIndex(name) && Number(name) <= parent.length)) throw nowhere();
      this.shift(parent, name);
    }
    if (isMarked(name)) this.plain = false;
    this.change({ op: 'add', path, value });
  }

  replace(pointer: string, value: unknown): void {
    this.change({ op: 'replace', path: this.occupied(pointer).path, value });
  }

  remove(pointer: string): void {
    if (pointer === '') throw new Conflict('it removes the whole document');
    const { parent, name, path } = this.occupied(pointer);
    if (Array.isArray(parent)) this.shift(parent, name);
    this.change({ op: 'remove', path });
  }

  /** Returns a deep copy, so that later operations do not change the original. */
  cloned(value: unknown): unknown {
    this.copies -= typeof value === 'string' ? value.length + 3 : value instanceof ExactNumber ? value.text.length : 3;
    if (this.copies < 0) throw tooMuch('copy too much');
    if (++this.values > this.most) throw tooManyValues(this.most);
    if (Array.isArray(value)) return value.map((element) => this.cloned(element));
    if (!isObject(value)) return value;
    const members = Object.entries(value).map(([name, member]) => {
      this.copies -= name.length;
      return [name, this.cloned(member)] as const;
    });
    return Object.fromEntries(members);
  }

  private shift(array: readonly unknown[], name: string): void {
    if (name !== '-') this.shifts -= array.length - Number(name);
    if (this.shifts < 0) throw tooMuch('add and remove too often at the beginning of long arrays');
  }

  private occupied(pointer: string): Place {
    const place = this.place(pointer);
    if (place.value === undefined) throw nowhere();
    return place;
  }

  private place(pointer: string): Place {
    const root: Place = { parent: undefined, name: '', path: '', value: this.document };
    return pointer.split('/').slice(1).reduce(within, root);
  }

  /** The flags switch off validation, cloning and the ban of prototype names: such names are escaped (`markedName`) or own. */
  private change(operation: Change): void {
    this.document = applyOperation(this.document, operation, false, true, false).newDocument;
  }
}

/** Target of a pointer. */
interface Place {
  /** Object or array that contains the target; undefined for the document itself. */
  readonly parent: unknown;
  readonly name: string;
  /** JSON Pointer for fast-json-patch, with the names that it rejects escaped by `markedName`. */
  readonly path: string;
  /** Value of the target; undefined if it does not exist. */
  readonly value: unknown;
}

function within({ path, value: parent }: Place, token: string): Place {
  if (isObject(parent)) {
    const name = markedName(unescapePathComponent(token));
    const value = Object.hasOwn(parent, name) ? parent[name] : undefined;
    return { parent, name, path: `${path}/${escapePathComponent(name)}`, value };
  }
  if (!Array.isArray(parent)) throw nowhere();
  return { parent, name: token, path: `${path}/${token}`, value: isIndex(token) ? parent[Number(token)] : undefined };
}

const isIndex = (token: string): boolean => /^(?:0|[1-9]\d*)$/.test(token);
const nowhere = (): Conflict => new Conflict('its pointer does not resolve');
const tooMuch = (what: string): LwsError =>
  new LwsError('malformed-body', `The operations of the JSON Patch ${what}. Send the whole document with PUT instead.`);

/** Compares two values as in RFC 6902 section 4.6: numbers by value, members in any order. */
function sameJson(a: unknown, b: unknown): boolean {
  if (isNumber(a)) return isNumber(b) && sameNumber(a, b);
  if (Array.isArray(a))
    return Array.isArray(b) && a.length === b.length && a.every((element, index) => sameJson(element, b[index]));
  if (!isObject(a)) return a === b;
  if (!isObject(b)) return false;
  const names = Object.keys(b);
  return (
    names.every((name) => Object.hasOwn(a, name) && sameJson(a[name], b[name])) &&
    names.length === Object.keys(a).length
  );
}

const isNumber = (value: unknown): value is number | ExactNumber =>
  typeof value === 'number' || value instanceof ExactNumber;

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
  return /^(add|replace|test)$/.test(op) && !Object.hasOwn(operation, 'value') ? 'has no "value"' : undefined;
}

/** Returns true for a JSON Pointer (RFC 6901 3): empty or beginning with a slash, and every `~` is part of an escape. */
const isPointer = (value: unknown): boolean =>
  typeof value === 'string' && /^(?:$|\/)/.test(value) && !/~(?![01])/.test(value);
