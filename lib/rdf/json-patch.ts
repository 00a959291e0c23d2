/** JSON Merge Patch (RFC 7386) and JSON Patch (RFC 6902) on a JSON text. It must not know resources. */
import type { Operation } from 'fast-json-patch';
import fastJsonPatch from 'fast-json-patch';
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
 * Applies the operations of a JSON Patch to a copy of the document.
 * @param room characters of JSON that its `copy` operations may copy: thirty that double a value would fill any memory
 */
export function applyOperations(document: unknown, patch: unknown, room: number): unknown {
  if (!Array.isArray(patch)) throw new LwsError('malformed-body', 'A JSON Patch is an array of operations (RFC 6902).');
  patch.forEach(assertOperation);
  let result = fastJsonPatch.deepClone(document);
  let left = room;
  for (const [index, operation] of (patch as Operation[]).entries())
    try {
      if (operation.op === 'copy') left -= sizeAt(result, operation.from);
      if (left < 0) throw new LwsError('malformed-body', 'The copy operations of the JSON Patch copy too much.');
      result = fastJsonPatch.applyOperation(result, operation, true, true, true, index).newDocument;
    } catch (error) {
      if (error instanceof LwsError) throw error;
      throw new LwsError(
        'patch-conflict',
        `Operation ${index + 1} of the JSON Patch does not apply: ${describe((error as Error).name)}. Nothing was changed.`,
        { cause: error },
      );
    }
  return result;
}

const sizeAt = (document: unknown, pointer: string): number =>
  JSON.stringify(fastJsonPatch.getValueByPointer(document, pointer))?.length ?? 0;

const describe = (name: string | undefined): string =>
  name === 'TEST_OPERATION_FAILED' ? 'its test failed' : 'its pointer leads to nothing';

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
