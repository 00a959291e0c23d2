/** Nonces for DPoP without a memory of them: a time under a key that all servers of a storage have (RFC 9449 8; rule 15.15). */
import { createHmac, timingSafeEqual } from 'node:crypto';

export interface DpopNonces {
  issue(): string;
  accepts(nonce: string): boolean;
}

const validMs = 300_000;
/** The time in six bytes, then so much of its MAC. */
const macBytes = 16;

export function dpopNonces(clock: () => number, secret: Uint8Array): DpopNonces {
  const mac = (time: Uint8Array): Buffer => createHmac('sha256', secret).update(time).digest().subarray(0, macBytes);
  return {
    issue() {
      const time = Buffer.alloc(6);
      time.writeUIntBE(clock(), 0, 6);
      return Buffer.concat([time, mac(time)]).toString('base64url');
    },
    accepts(nonce) {
      const bytes = Buffer.from(nonce, 'base64url');
      if (bytes.length !== 6 + macBytes) return false;
      const time = bytes.subarray(0, 6);
      if (!timingSafeEqual(bytes.subarray(6), mac(time))) return false;
      const age = clock() - time.readUIntBE(0, 6);
      return age >= 0 && age <= validMs;
    },
  };
}
