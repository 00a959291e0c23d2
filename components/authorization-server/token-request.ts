/** The request of a token exchange (RFC 8693 2.1): read strictly, before any credential is looked at. Pure. */
import { OAuthError } from './oauth-error.js';

export const tokenExchange = 'urn:ietf:params:oauth:grant-type:token-exchange';
export const accessTokenType = 'urn:ietf:params:oauth:token-type:access_token';

export interface TokenRequest {
  readonly subjectToken: string;
  readonly subjectTokenType: string;
}

/**
 * @param storage the storage's URI, which `resource` must name, with or without its slash
 * @throws OAuthError `invalid_request`, `unsupported_grant_type`, `invalid_target`
 */
export function readTokenRequest(form: URLSearchParams, storage: string): TokenRequest {
  assertSimple(form);
  const get = (name: string): string | undefined => form.get(name) || undefined;
  const grant = get('grant_type');
  if (grant === undefined) throw invalid('The parameter grant_type is missing.');
  if (grant !== tokenExchange) throw new OAuthError('unsupported_grant_type', `The grant type is ${tokenExchange}.`);
  assertTarget(get('resource'), get('audience'), storage);
  if (get('actor_token') !== undefined || get('actor_token_type') !== undefined)
    throw invalid('Actor tokens are not supported.');
  const requested = get('requested_token_type');
  if (requested !== undefined && requested !== accessTokenType)
    throw invalid(`The requested_token_type can only be ${accessTokenType}.`);
  const subjectToken = get('subject_token');
  const subjectTokenType = get('subject_token_type');
  if (subjectToken === undefined || subjectTokenType === undefined)
    throw invalid('The parameters subject_token and subject_token_type are needed.');
  return { subjectToken, subjectTokenType };
}

const maxParameters = 100;

/** RFC 6749 3.2: no parameter is given twice. One pass: a form may have as many names as it has characters. */
function assertSimple(form: URLSearchParams): void {
  const names = new Set<string>();
  for (const name of form.keys()) {
    if (names.has(name)) throw invalid(`The parameter ${name.slice(0, 50)} is given twice.`);
    names.add(name);
    if (names.size > maxParameters) throw invalid(`The request has more than ${maxParameters} parameters.`);
  }
}

/** RFC 8707 2: tokens are for this storage only. */
function assertTarget(resource: string | undefined, audience: string | undefined, storage: string): void {
  if (resource === undefined) throw invalid('The parameter resource is missing: it is the URI of the storage.');
  for (const target of [resource, audience])
    if (target !== undefined && target !== storage && `${target}/` !== storage)
      throw new OAuthError(
        'invalid_target',
        `Tokens are for ${storage} only.`,
        `resource or audience is ${target.slice(0, 300)}`,
      );
}

const invalid = (message: string): OAuthError => new OAuthError('invalid_request', message);
