/** Parses untrusted JSON Web Tokens strictly, and verifies them with a key that the caller of this module selects. */
import { type CryptoKey, errors, type JWTPayload, jwtVerify } from 'jose';
import { jsonOf } from '../tools/json/json.js';
import { clockSkew } from './audience.js';
import { refusedCredential } from './suite.js';

/** True if an object in a JSON text repeats a member name, which JSON.parse does not report. Takes linear time. */
function hasDuplicateMembers(json: string): boolean {
  const scopes: (Set<string> | undefined)[] = [];
  for (let at = 0; at < json.length; at++) {
    const character = json[at];
    if (character === '{') scopes.push(new Set());
    else if (character === '[') scopes.push(undefined);
    else if (character === '}' || character === ']') scopes.pop();
    else if (character === '"') {
      const end = endOfString(json, at);
      const names = scopes[scopes.length - 1];
      if (names && isMemberName(json, end + 1)) {
        // The name is unescaped first: "sub" and "s\u0075b" are equal.
        const name = jsonOf(json.slice(at, end + 1)) as string | undefined;
        if (name === undefined || names.has(name)) return true;
        names.add(name);
      }
      at = end;
    }
  }
  return false;
}

/** True if a colon follows the index, after optional white space. */
function isMemberName(json: string, from: number): boolean {
  let at = from;
  while (json[at] === ' ' || json[at] === '\t' || json[at] === '\n' || json[at] === '\r') at++;
  return json[at] === ':';
}

function endOfString(json: string, start: number): number {
  let at = start + 1;
  while (at < json.length && json[at] !== '"') at += json[at] === '\\' ? 2 : 1;
  return at;
}

/** Value of the header parameter `typ` of the credential in a sign-in link. */
export const signInType = 'sign-in+jwt';

/** Accepted signature algorithms, listed in challenges (rule 15.9). Never `none` or algorithms with a shared secret. */
export const signatureAlgorithms = [
  'ES256',
  'ES384',
  'ES512',
  'EdDSA',
  'RS256',
  'RS384',
  'RS512',
  'PS256',
  'PS384',
  'PS512',
] as const;

// EdDSA with Ed25519 has the name `Ed25519` in RFC 9864. Both names are accepted as the same algorithm.
const accepted: readonly unknown[] = [...signatureAlgorithms, 'Ed25519'];

export const isAccepted = (algorithm: unknown): boolean => accepted.includes(algorithm);

/** Private members of a JWK. */
export const privateMembers = ['d', 'p', 'q', 'dp', 'dq', 'qi', 'oth', 'k'] as const;

/** Maximum length of a token, in characters. Header fields may be four times as long, but tokens are shorter. */
const longestJwt = 16_384;

export interface UnverifiedJwt {
  readonly header: Readonly<Record<string, unknown>>;
  readonly payload: Readonly<Record<string, unknown>>;
}

/**
 * Parses header and payload of a compact JWS. Returns `undefined` for other text, for repeated members, and if the signature is
 * not canonical base64url.
 */
export function readJwt(text: string): UnverifiedJwt | undefined {
  if (text.length > longestJwt || !/^[\w-]+\.[\w-]+\.[\w-]*$/.test(text)) return undefined;
  const [first, second, signature] = text.split('.') as [string, string, string];
  // RFC 4648 3.5: nonzero trailing bits would allow several encodings of one signature.
  if (Buffer.from(signature, 'base64url').toString('base64url') !== signature) return undefined;
  const header = readObject(first);
  const payload = header && readObject(second);
  return payload && { header, payload };
}

function readObject(part: string): Readonly<Record<string, unknown>> | undefined {
  try {
    const json = new TextDecoder('utf-8', { fatal: true }).decode(Buffer.from(part, 'base64url'));
    // RFC 7519 4: if a member is repeated, parsers differ in which value they use.
    if (hasDuplicateMembers(json)) return undefined;
    const value: unknown = JSON.parse(json);
    return typeof value === 'object' && value !== null && !Array.isArray(value)
      ? (value as Record<string, unknown>)
      : undefined;
  } catch {
    // A text with invalid UTF-8 or JSON is no JWT.
    return undefined;
  }
}

export interface JwtExpectations {
  /** Claims that must be present. */
  readonly required: readonly string[];
  /** Required media type in the header, such as `at+jwt`. */
  readonly typ?: string;
}

/** Verifies signature, `exp`, `nbf`, required claims, and the types of registered claims. @throws LwsError `invalid-token` */
export async function verifyJwt(text: string, key: CryptoKey, { required, typ }: JwtExpectations): Promise<JWTPayload> {
  assertNoPrivateKey(text);
  let payload: JWTPayload;
  try {
    ({ payload } = await jwtVerify(text, key, {
      algorithms: [...accepted] as string[],
      clockTolerance: clockSkew,
      requiredClaims: [...required],
      ...(typ === undefined ? {} : { typ }),
    }));
  } catch (error) {
    // The library throws a TypeError if the type of key does not match the algorithm.
    if (error instanceof errors.JOSEError || error instanceof TypeError)
      throw refusedCredential(
        describe(error),
        `${(error as { code?: string }).code ?? error.name}: ${error.message}`,
        error,
      );
    throw error;
  }
  assertTypes(payload);
  return payload;
}

/** Rejects a token with a private key in its header: the server does not use it, but the key is exposed. */
function assertNoPrivateKey(text: string): void {
  const jwk = readJwt(text)?.header['jwk'];
  if (typeof jwk === 'object' && jwk !== null && privateMembers.some((member) => member in jwk))
    throw refusedCredential('The header of the credential contains a private key.', 'header.jwk has private members');
}

/** Returns the thumbprint of the key to which a credential is bound. @throws LwsError `invalid-token` for other bindings */
export function boundKey({ cnf }: JWTPayload): { readonly boundTo?: string } {
  if (cnf === undefined) return {};
  const { jkt } = (cnf ?? {}) as { jkt?: unknown };
  if (typeof jkt === 'string') return { boundTo: jkt };
  throw refusedCredential(
    'The credential uses an unsupported kind of key binding.',
    `cnf is ${String(JSON.stringify(cnf)).slice(0, 200)}`,
  );
}

function describe(error: Error): string {
  if (error instanceof errors.JWTExpired) return 'The credential has expired.';
  if (error instanceof errors.JWTClaimValidationFailed) return `The claim ${error.claim} is missing or wrong.`;
  return 'The signature of the credential is not valid.';
}

/**
 * Asserts the types of registered claims. Otherwise, for example, a number sent as a string could pass a check.
 * @throws LwsError `invalid-token`, also for a token issued in the future
 */
export function assertTypes(payload: JWTPayload): void {
  for (const name of ['exp', 'iat', 'nbf'])
    if (payload[name] !== undefined && (typeof payload[name] !== 'number' || !Number.isFinite(payload[name])))
      throw refusedCredential(
        `The claim ${name} is not a number.`,
        `${name} is ${JSON.stringify(payload[name]).slice(0, 100)}`,
      );
  for (const name of ['sub', 'iss', 'client_id', 'azp', 'jti'])
    if (payload[name] !== undefined && (typeof payload[name] !== 'string' || payload[name] === ''))
      throw refusedCredential(
        `The claim ${name} is not a string.`,
        `${name} is ${JSON.stringify(payload[name]).slice(0, 100)}`,
      );
  const now = Date.now() / 1000;
  if (payload.iat !== undefined && payload.iat > now + clockSkew)
    throw refusedCredential(
      'The credential was issued in the future.',
      `iat is ${payload.iat}, now is ${Math.floor(now)}`,
    );
}
