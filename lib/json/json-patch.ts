/** JSON Merge Patch (RFC 7386) and JSON Patch (RFC 6902) on a JSON text. */
import { type ExactJson, isObject, readExact, writeExact } from './exact-json.js';
import { assertShallow, decodeUtf8, parseJson } from './json.js';
import { applyOperations } from './json-patch-operations.js';

/**
 * Applies a patch to a document, whose numbers and members stay as they were written and ordered where the patch does
 * not touch them. A result that equals the document comes back as the very same bytes.
 * @throws LwsError `malformed-body` for a patch that is none, `patch-conflict` for a failed `test` or a pointer that
 *   leads nowhere (rule 6.17)
 */
export function patchJson(document: Uint8Array, patch: Uint8Array, merge: boolean): Uint8Array {
  const before = readExact(decodeUtf8(document));
  const change = readPatch(decodeUtf8(patch));
  const unchanged = writeExact(before);
  const plain = before.plain && change.plain;
  const after = merge
    ? { value: mergePatch(before.value, change.value), plain }
    : applyOperations({ value: before.value, plain }, change.value, document.length + patch.length);
  const text = writeExact(after);
  if (text === unchanged) return document;
  assertShallow(text);
  return Buffer.from(text);
}

function readPatch(text: string): ExactJson {
  // It says what is wrong, and where.
  parseJson(text);
  return readExact(text);
}

/** RFC 7386 section 2. */
function mergePatch(target: unknown, patch: unknown): unknown {
  if (!isObject(patch)) return patch;
  const members = new Map<string, unknown>(isObject(target) ? Object.entries(target) : []);
  for (const [name, value] of Object.entries(patch))
    if (value === null) members.delete(name);
    else members.set(name, mergePatch(members.get(name), value));
  return Object.fromEntries(members);
}
