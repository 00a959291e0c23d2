/** JSON Merge Patch (RFC 7386) and JSON Patch (RFC 6902) on a JSON text. */
import { type ExactJson, isObject, readExact, writeExact } from './exact-json.js';
import { assertBounded, decodeUtf8, parseJson, usualValues } from './json.js';
import { applyOperations } from './json-patch-operations.js';

export interface JsonPatch {
  readonly bytes: Uint8Array;
  readonly patch: Uint8Array;
  /** It is a merge patch. */
  readonly merge: boolean;
  /** Values that the document, the patch and the result may have each. */
  readonly most?: number | undefined;
}

/**
 * Applies a patch to a document, whose numbers and members stay as they were written and ordered where the patch does
 * not touch them. A result that equals the document comes back as the very same bytes.
 * @throws LwsError `malformed-body` for a patch that is none, `patch-conflict` for a failed `test` or a pointer that
 *   leads nowhere (rule 6.17), `too-large` for too many values
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
  // It says what is wrong, and where.
  parseJson(text, most);
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
