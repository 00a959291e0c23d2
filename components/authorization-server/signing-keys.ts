/**
 * The keys that access tokens are signed with: one signs, retired ones verify until no token of them can be left. They are kept in one file
 * of mode 0600.
 */
import { createPrivateKey, createPublicKey, generateKeyPairSync, type KeyObject } from 'node:crypto';
import { existsSync, readFileSync, statSync } from 'node:fs';
import { type CryptoKey, calculateJwkThumbprint, importJWK, type JWK } from 'jose';
import { SettingsError } from '../../lib/settings.js';
import { writeWhole } from '../../lib/storage/level/synced-files.js';

/** A private key, and when it stopped signing (seconds since the epoch). */
interface KeptKey {
  readonly kid: string;
  readonly jwk: JWK;
  readonly retired?: number;
}

const algorithm = 'ES256';

export interface PublicKey {
  readonly [member: string]: string;
}

export class SigningKeys {
  private keys: readonly KeptKey[] = [];
  private readAt = 0;
  /** Called for a key that is not known, which another server of the storage may have made. */
  onUnknown: (() => Promise<void>) | undefined;
  private readonly imported = new Map<string, { sign: KeyObject; verify: Promise<CryptoKey> }>();

  private constructor(
    private readonly file: string,
    /** Seconds that a retired key verifies. */
    private readonly retention: number,
    private readonly onTrouble: ((error: Error) => void) | undefined,
  ) {}

  /** Reads the keys, or makes a first one. @throws SettingsError when the file holds something else */
  static async open(file: string, retention: number, onTrouble?: (error: Error) => void): Promise<SigningKeys> {
    const keys = new SigningKeys(file, retention, onTrouble);
    if (existsSync(file)) keys.read();
    else await keys.rotate();
    return keys;
  }

  /** Makes a new key that signs from now on. @returns its id */
  async rotate(): Promise<string> {
    if (existsSync(this.file)) this.read();
    const now = Math.floor(Date.now() / 1000);
    const { privateKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' });
    const jwk = privateKey.export({ format: 'jwk' }) as JWK;
    const kid = await calculateJwkThumbprint(jwk);
    const old = this.keys
      .map((key) => ({ ...key, retired: key.retired ?? now }))
      .filter(({ retired }) => retired + this.retention > now);
    writeWhole(this.file, `${JSON.stringify({ keys: [{ kid, jwk }, ...old] })}\n`);
    this.read();
    return kid;
  }

  /** The key that signs, and its id. */
  signingKey(): { readonly kid: string; readonly key: KeyObject } {
    this.refresh();
    const { kid } = this.keys[0]!;
    return { kid, key: this.keyPair(this.keys[0]!).sign };
  }

  /** The public key of an id, while tokens of it may be about. */
  async verificationKey(kid: string | undefined, wanted: string): Promise<CryptoKey | undefined> {
    this.refresh();
    const find = (): KeptKey | undefined =>
      wanted === algorithm ? this.current().find((candidate) => candidate.kid === kid) : undefined;
    let key = find();
    if (!key && this.onUnknown) {
      await this.onUnknown();
      this.refresh();
      key = find();
    }
    return key && this.keyPair(key).verify;
  }

  /** The public keys as a JWKS. */
  jwks(): { readonly keys: readonly PublicKey[] } {
    this.refresh();
    return { keys: this.current().map(publicOf) };
  }

  private current(): readonly KeptKey[] {
    const now = Date.now() / 1000;
    return this.keys.filter(({ retired }) => retired === undefined || retired + this.retention > now);
  }

  /** A command may have rotated the keys meanwhile. */
  private refresh(): void {
    try {
      if (statSync(this.file).mtimeMs !== this.readAt) this.read();
    } catch (error) {
      // The keys in memory are as good as ever; what happened to the file matters at the next start.
      this.onTrouble?.(error as Error);
    }
  }

  private read(): void {
    try {
      const { mtimeMs } = statSync(this.file);
      const { keys } = JSON.parse(readFileSync(this.file, 'utf8')) as { keys: readonly KeptKey[] };
      for (const key of keys) createPrivateKey({ key: key.jwk as never, format: 'jwk' });
      if (keys.length === 0 || keys[0]!.retired !== undefined) throw new Error('no key of them signs');
      this.keys = keys;
      this.readAt = mtimeMs;
    } catch (cause) {
      throw new SettingsError(
        `${this.file} does not hold the signing keys of access tokens: ${(cause as Error).message}. ` +
          'Restore it, or remove it: a new key is made, and tokens that are about are refused.',
      );
    }
  }

  private keyPair(key: KeptKey): { sign: KeyObject; verify: Promise<CryptoKey> } {
    let pair = this.imported.get(key.kid);
    if (!pair) {
      const sign = createPrivateKey({ key: key.jwk as never, format: 'jwk' });
      pair = { sign, verify: importJWK(publicOf(key), algorithm) as Promise<CryptoKey> };
      this.imported.set(key.kid, pair);
    }
    return pair;
  }
}

function publicOf({ kid, jwk }: KeptKey): PublicKey {
  const { kty, crv, x, y } = createPublicKey({ key: jwk as never, format: 'jwk' }).export({ format: 'jwk' }) as Record<
    string,
    string
  >;
  return { kty: kty!, crv: crv!, alg: algorithm, use: 'sig', kid, x: x!, y: y! };
}
