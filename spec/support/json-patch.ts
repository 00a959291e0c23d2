/** JSON patches on texts, in this process. It must not know what they should give. */
import { LwsError } from '../../lib/errors.js';
import { patchJson } from '../../lib/json/json-patch.js';

/** The document after a JSON Patch, or a merge patch. */
export const apply = (document: string, patch: string, merge = false): string =>
  Buffer.from(patchJson({ bytes: Buffer.from(document), patch: Buffer.from(patch), merge })).toString();

/** The refusal of a JSON Patch. @throws when it applies */
export function refusal(document: string, patch: string): LwsError {
  try {
    apply(document, patch);
  } catch (error) {
    if (error instanceof LwsError) return error;
    throw error;
  }
  throw new Error(`${patch} applies to ${document}`);
}
