/** The challenges of a 401 (service.md, "Challenge"; RFC 6750 section 3). Pure text. */
import type { LwsError } from '../errors.js';

const quoted = (text: string): string => `"${text.replace(/[^\x20-\x7e]/g, '?').replace(/["\\]/g, "'")}"`;

/** The `WWW-Authenticate` values for a request without a credential, or with one that was refused. */
export function challenges(storage: string, error: LwsError): string[] {
  const refused = { 'invalid-token': 'invalid_token', 'invalid-request': 'invalid_request' }[error.code as string];
  const detail = refused ? `, error="${refused}", error_description=${quoted(error.message)}` : '';
  return [`Bearer realm=${quoted(storage)}${detail}`];
}
