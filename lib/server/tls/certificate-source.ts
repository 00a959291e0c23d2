/** Where the certificate of the server comes from, as the server sees it. */
import type { KeyPair } from './key-pair.js';

export interface CertificateSource {
  /** The pair to serve with; undefined while there is none yet. */
  current(): KeyPair | undefined;
  /** Goes on to look for newer pairs. @param use puts one to use; throws when it cannot */
  start(use: (pair: KeyPair) => void): void;
  /** Looks for a newer pair now. */
  reload(): void;
  stop(): void;
}
