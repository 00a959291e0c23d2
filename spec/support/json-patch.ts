/** JSON patches applied to text in this process. Independent of the expected results. */
import { LwsError } from '../../lib/tools/errors.js';
import { patchJson } from '../../lib/tools/json/json-patch.js';

/** Applies a JSON Patch, or a merge patch. */
export const apply = (document: string, patch: string, merge = false): string =>
  Buffer.from(patchJson({ bytes: Buffer.from(document), patch: Buffer.from(patch), merge })).toString();

/** Returns the error of a JSON Patch. @throws Error if it applies */
export function refusal(document: string, patch: string): LwsError {
  try {
    apply(document, patch);
  } catch (error) {
    if (error instanceof LwsError) return error;
    throw error;
  }
  throw new Error(`${patch} applies to ${document}`);
}
