/**
 * JSON Web Tokens as they come from strangers: read strictly before anything is believed, and verified with a key that somebody else has
 * chosen.
 */
import { type CryptoKey, errors, type JWTPayload, jwtVerify } from 'jose';
import { clockSkew } from './audience.js';
import { refusedCredential } from './suite.js';

/** Whether a JSON text gives a member of an object twice, which JSON.parse would not tell. Pure; linear. */
export function hasDuplicateMembers(json: string): boolean {
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
        // Escapes are undone: "sub" and "s\u0075b" are one name.
        const name = nameOf(json.slice(at, end + 1));
        if (name === undefined || names.has(name)) return true;
        names.add(name);
      }
      at = end;
    }
  }
  return false;
}

/** Whether what ends here is followed by a colon, after any white space. */
function isMemberName(json: string, from: number): boolean {
  let at = from;
  while (json[at] === ' ' || json[at] === '\t' || json[at] === '\n' || json[at] === '\r') at++;
  return json[at] === ':';
}

function nameOf(text: string): string | undefined {
  try {
    return JSON.parse(text) as string;
  } catch {
    // Malformed: the parser will say so of the whole text.
    return undefined;
  }
}

function endOfString(json: string, start: number): number {
  let at = start + 1;
  while (at < json.length && json[at] !== '"') at += json[at] === '\\' ? 2 : 1;
  return at;
}

/** The `typ` of the credential in a sign-in link. */
export const signInType = 'sign-in+jwt';

/** The ten algorithms of the challenge (rule 15.9); never `none`, never a shared secret. */
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

// RFC 9864 calls EdDSA with Ed25519 by its name; both names are one algorithm here.
const accepted: readonly string[] = [...signatureAlgorithms, 'Ed25519'];

/** Members of a JWK that only its owner may have. */
export const privateMembers = ['d', 'p', 'q', 'dp', 'dq', 'qi', 'oth', 'k'] as const;

/** Longer ones have no purpose; a header field may be four times as long. */
const longestJwt = 16_384;

export interface UnverifiedJwt {
  readonly header: Readonly<Record<string, unknown>>;
  readonly payload: Readonly<Record<string, unknown>>;
}

/**
 * Header and payload of a compact JWS; `undefined` for any other text, for members that are given twice, and for a signature that is not
 * in its canonical spelling.
 */
export function readJwt(text: string): UnverifiedJwt | undefined {
  if (text.length > longestJwt || !/^[\w-]+\.[\w-]+\.[\w-]*$/.test(text)) return undefined;
  const [first, second, signature] = text.split('.') as [string, string, string];
  // RFC 4648 3.5: with other bits at its end the same signature would pass in several spellings.
  if (Buffer.from(signature, 'base64url').toString('base64url') !== signature) return undefined;
  const header = readObject(first);
  const payload = header && readObject(second);
  return payload && { header, payload };
}

function readObject(part: string): Readonly<Record<string, unknown>> | undefined {
  try {
    const json = new TextDecoder('utf-8', { fatal: true }).decode(Buffer.from(part, 'base64url'));
    // RFC 7519 4: parsers differ in which of two equal names they take.
    if (hasDuplicateMembers(json)) return undefined;
    const value: unknown = JSON.parse(json);
    return typeof value === 'object' && value !== null && !Array.isArray(value)
      ? (value as Record<string, unknown>)
      : undefined;
  } catch {
    // Neither UTF-8 nor JSON: no JWT.
    return undefined;
  }
}

export interface JwtExpectations {
  /** Claims that must be there. */
  readonly required: readonly string[];
  /** The media type in the header, such as `at+jwt`. */
  readonly typ?: string;
}

/**
 * Verifies signature, `exp` and `nbf`, the presence of claims, and the types of the registered ones.
 * @throws LwsError `invalid-token`
 */
export async function verifyJwt(text: string, key: CryptoKey, { required, typ }: JwtExpectations): Promise<JWTPayload> {
  assertNoPrivateKey(text);
  let payload: JWTPayload;
  try {
    ({ payload } = await jwtVerify(text, key, {
      algorithms: [...accepted],
      clockTolerance: clockSkew,
      requiredClaims: [...required],
      ...(typ === undefined ? {} : { typ }),
    }));
  } catch (error) {
    // A key of another kind than the algorithm is a TypeError of the library.
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

/** A key in the header is not what verifies, but who sends a private one has lost it. */
function assertNoPrivateKey(text: string): void {
  const jwk = readJwt(text)?.header['jwk'];
  if (typeof jwk === 'object' && jwk !== null && privateMembers.some((member) => member in jwk))
    throw refusedCredential('The header of the credential reveals a private key.', 'header.jwk has private members');
}

/** The thumbprint of the key that a credential is bound to. @throws LwsError `invalid-token` for another kind of binding */
export function boundKey({ cnf }: JWTPayload): { readonly boundTo?: string } {
  if (cnf === undefined) return {};
  const { jkt } = (cnf ?? {}) as { jkt?: unknown };
  if (typeof jkt === 'string') return { boundTo: jkt };
  throw refusedCredential(
    'The credential is bound in a way that is not supported.',
    `cnf is ${String(JSON.stringify(cnf)).slice(0, 200)}`,
  );
}

function describe(error: Error): string {
  if (error instanceof errors.JWTExpired) return 'The credential has expired.';
  if (error instanceof errors.JWTClaimValidationFailed) return `The claim ${error.claim} is missing or wrong.`;
  return 'The signature of the credential does not hold.';
}

/** Numbers as strings and the like pass no check by accident. */
function assertTypes(payload: JWTPayload): void {
  for (const name of ['exp', 'iat', 'nbf'])
    if (payload[name] !== undefined && (typeof payload[name] !== 'number' || !Number.isFinite(payload[name])))
      throw refusedCredential(
        `The claim ${name} is no number.`,
        `${name} is ${JSON.stringify(payload[name]).slice(0, 100)}`,
      );
  for (const name of ['sub', 'iss', 'client_id', 'azp', 'jti'])
    if (payload[name] !== undefined && (typeof payload[name] !== 'string' || payload[name] === ''))
      throw refusedCredential(
        `The claim ${name} is no text.`,
        `${name} is ${JSON.stringify(payload[name]).slice(0, 100)}`,
      );
  const now = Date.now() / 1000;
  if (payload.iat !== undefined && payload.iat > now + clockSkew)
    throw refusedCredential(
      'The credential was issued in the future.',
      `iat is ${payload.iat}, now is ${Math.floor(now)}`,
    );
}
