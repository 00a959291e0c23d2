/** Keys of access tokens, in a file (mode 0600). One key signs. A retired key verifies until tokens with it have expired. */
import { createPrivateKey, createPublicKey, type KeyObject } from 'node:crypto';
import { existsSync, readFileSync, statSync } from 'node:fs';
import { type CryptoKey, calculateJwkThumbprint, importJWK, type JWK } from 'jose';
import { SettingsError } from '../../lib/settings/settings.js';
import { writeWhole } from '../../lib/storage/level/synced-files.js';
import { getOrMake } from '../../lib/tools/collections.js';
import { newPrivateKey } from '../../lib/tools/private-keys.js';

/** Private key, and time of its retirement in seconds since the epoch. */
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
  /** Called for an unknown key: another server of the storage may have created it. */
  onUnknown: (() => Promise<void>) | undefined;
  private readonly imported = new Map<string, { sign: KeyObject; verify: Promise<CryptoKey> }>();

  private constructor(
    private readonly file: string,
    /** Time in seconds for which a retired key still verifies tokens. */
    private readonly retention: number,
    private readonly onTrouble: ((error: Error) => void) | undefined,
  ) {}

  /** Opens the key file. Creates it with a first key if it does not exist. @throws SettingsError if it is not valid */
  static async open(file: string, retention: number, onTrouble?: (error: Error) => void): Promise<SigningKeys> {
    const keys = new SigningKeys(file, retention, onTrouble);
    if (existsSync(file)) keys.read();
    else await keys.rotate();
    return keys;
  }

  /** Creates the key that signs all tokens from now on. @returns the ID of the key */
  async rotate(): Promise<string> {
    if (existsSync(this.file)) this.read();
    const now = Math.floor(Date.now() / 1000);
    const jwk = newPrivateKey('P-256').export({ format: 'jwk' }) as JWK;
    const kid = await calculateJwkThumbprint(jwk);
    const old = this.keys
      .map((key) => ({ ...key, retired: key.retired ?? now }))
      .filter(({ retired }) => retired + this.retention > now);
    writeWhole(this.file, `${JSON.stringify({ keys: [{ kid, jwk }, ...old] })}\n`);
    this.read();
    return kid;
  }

  /** Returns the key that signs, and the ID of the key. */
  signingKey(): { readonly kid: string; readonly key: KeyObject } {
    this.refresh();
    const { kid } = this.keys[0]!;
    return { kid, key: this.keyPair(this.keys[0]!).sign };
  }

  /** Returns the public key with an id, as long as tokens signed with it may be valid. */
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

  /** Returns the public keys as a JWKS. */
  jwks(): { readonly keys: readonly PublicKey[] } {
    this.refresh();
    return { keys: this.current().map(publicOf) };
  }

  private current(): readonly KeptKey[] {
    const now = Date.now() / 1000;
    return this.keys.filter(({ retired }) => retired === undefined || retired + this.retention > now);
  }

  /** Reads the file again if it has changed: a command may have rotated the keys. */
  private refresh(): void {
    try {
      if (statSync(this.file).mtimeMs !== this.readAt) this.read();
    } catch (error) {
      // The keys in memory stay valid. A damaged file only prevents the next start of the server.
      this.onTrouble?.(error as Error);
    }
  }

  private read(): void {
    try {
      const { mtimeMs } = statSync(this.file);
      const { keys } = JSON.parse(readFileSync(this.file, 'utf8')) as { keys: readonly KeptKey[] };
      for (const key of keys) createPrivateKey({ key: key.jwk as never, format: 'jwk' });
      if (keys.length === 0 || keys[0]!.retired !== undefined) throw new Error('it has no active key');
      this.keys = keys;
      this.readAt = mtimeMs;
    } catch (cause) {
      throw new SettingsError(
        `${this.file} does not contain valid signing keys for access tokens: ${(cause as Error).message}. ` +
          'Restore it, or delete it: a new key is created, and existing tokens become invalid.',
      );
    }
  }

  private keyPair(key: KeptKey): { sign: KeyObject; verify: Promise<CryptoKey> } {
    return getOrMake(this.imported, key.kid, () => {
      const sign = createPrivateKey({ key: key.jwk as never, format: 'jwk' });
      return { sign, verify: importJWK(publicOf(key), algorithm) as Promise<CryptoKey> };
    });
  }
}

function publicOf({ kid, jwk }: KeptKey): PublicKey {
  const { kty, crv, x, y } = createPublicKey({ key: jwk as never, format: 'jwk' }).export({ format: 'jwk' }) as Record<
    string,
    string
  >;
  return { kty: kty!, crv: crv!, alg: algorithm, use: 'sig', kid, x: x!, y: y! };
}
