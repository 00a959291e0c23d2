/** A certificate in two files, which something outside renews. */
import { readFileSync, unwatchFile, watchFile } from 'node:fs';
import { type CertificateSource, type KeyPair, keyPair } from '../../component/certificates.js';
import type { Log } from '../../log.js';
import { SettingsError } from '../../settings.js';

/** Milliseconds between two looks at the files: a watch of the system would miss the target of a link that is put elsewhere. */
const watchMs = 2_000;
/** Milliseconds without a change after which both files are taken to be written. */
const settleMs = 1_000;

export interface CertificateFilesOptions {
  readonly certificate: string;
  readonly key: string;
  /** The host of the base URI. */
  readonly host: string;
  readonly log: Log;
  readonly watchMs?: number;
  readonly settleMs?: number;
}

/**
 * The pair in two files, read again when they change.
 * @throws SettingsError when there is no usable pair
 */
export function certificateFiles(options: CertificateFilesOptions): CertificateSource {
  const { certificate, key, host, log } = options;
  let current = firstPair(options);
  let use: (pair: KeyPair) => void = () => {};
  let settling: NodeJS.Timeout | undefined;
  warnOf(current, host, log);
  const reload = (): void => {
    clearTimeout(settling);
    try {
      const pair = readKeyPair(certificate, key);
      if (pair.certificate === current.certificate && pair.key === current.key) return;
      if (pair.notAfter < Date.now() && current.notAfter > Date.now()) throw new Error('the certificate has expired');
      use(pair);
      current = pair;
      log.info({ certificate, until: new Date(pair.notAfter) }, 'the TLS certificate was read again');
      warnOf(pair, host, log);
    } catch (error) {
      log.error({ certificate, key, err: error }, 'the TLS certificate cannot be used: the one before stays');
    }
  };
  const onChange = (): void => {
    clearTimeout(settling);
    settling = setTimeout(reload, options.settleMs ?? settleMs).unref();
  };
  return {
    current: () => current,
    start(useIt) {
      use = useIt;
      for (const file of [certificate, key])
        watchFile(file, { persistent: false, interval: options.watchMs ?? watchMs }, onChange);
    },
    reload,
    stop() {
      clearTimeout(settling);
      for (const file of [certificate, key]) unwatchFile(file, onChange);
    },
  };
}

function firstPair({ certificate, key }: CertificateFilesOptions): KeyPair {
  try {
    return readKeyPair(certificate, key);
  } catch (error) {
    throw new SettingsError(
      `lws.tls.certificate is ${certificate} and lws.tls.key is ${key}, and they cannot be used: ${(error as Error).message}.`,
    );
  }
}

function warnOf(pair: KeyPair, host: string, log: Log): void {
  if (pair.notAfter < Date.now())
    log.error({ until: new Date(pair.notAfter) }, 'the TLS certificate has expired: clients will refuse it');
  if (!pair.isFor(host)) log.warn({ host }, 'the TLS certificate is not for the host of lws.base-uri');
}

/** Reads both files. @throws Error with a sentence that names the file */
function readKeyPair(certificateFile: string, keyFile: string): KeyPair {
  return keyPair(readFileSync(certificateFile, 'utf8'), readFileSync(keyFile, 'utf8'));
}
