/** JSON Merge Patch (RFC 7386) and JSON Patch (RFC 6902) on a JSON text. */
import { type ExactJson, isObject, readExact, writeExact } from './exact-json.js';
import { assertBounded, decodeUtf8, parseJson, usualValues } from './json.js';
import { applyOperations } from './json-patch-operations.js';

export interface JsonPatch {
  readonly bytes: Uint8Array;
  readonly patch: Uint8Array;
  /** True for a merge patch. */
  readonly merge: boolean;
  /** Maximum number of values in the document, the patch and the result, each. */
  readonly most?: number | undefined;
}

/**
 * Applies a patch to a document. Numbers and members that the patch does not touch keep their format and order. If the result
 * equals the document, the same bytes are returned.
 * @throws LwsError `malformed-body` for an invalid patch, `patch-conflict` for a failed `test` or a pointer to a missing location
 * (rule 6.17), `too-large` for too many values
 */
export function patchJson({ bytes: document, patch, merge, most = usualValues }: JsonPatch): Uint8Array {
  const change = readPatch(decodeUtf8(patch), most);
  const stored = decodeUtf8(document);
  assertBounded(stored, most);
  const before = readExact(stored);
  const unchanged = writeExact(before);
  const plain = before.plain && change.plain;
  const after = merge
    ? { value: mergePatch(before.value, change.value), plain }
    : applyOperations({ value: before.value, plain }, change.value, { size: document.length + patch.length, most });
  const text = writeExact(after);
  if (text === unchanged) return document;
  assertBounded(text, most);
  return Buffer.from(text);
}

function readPatch(text: string, most: number): ExactJson {
  // `parseJson` reports errors with their position.
  parseJson(text, most);
  return readExact(text);
}

/** Returns the result of a merge patch (RFC 7386 section 2). */
function mergePatch(target: unknown, patch: unknown): unknown {
  if (!isObject(patch)) return patch;
  const members = new Map<string, unknown>(isObject(target) ? Object.entries(target) : []);
  for (const [name, value] of Object.entries(patch))
    if (value === null) members.delete(name);
    else members.set(name, mergePatch(members.get(name), value));
  return Object.fromEntries(members);
}
