/** Certificate and key in two files, which another program renews. */
import { readFileSync, unwatchFile, watchFile } from 'node:fs';
import { type CertificateSource, type KeyPair, keyPair } from '../../component/certificates.js';
import { SettingsError } from '../../settings/settings.js';
import type { Log } from '../../tools/log.js';

/** Polling interval in milliseconds: file system events miss a symbolic link that changes its target. */
const watchMs = 2_000;
/** Time without a change in milliseconds after which both files are considered complete. */
const settleMs = 1_000;

export interface CertificateFilesOptions {
  readonly certificate: string;
  readonly key: string;
  /** Host of the base URI. */
  readonly host: string;
  readonly log: Log;
  readonly watchMs?: number;
  readonly settleMs?: number;
}

/** Loads certificate and key from files and reloads them on change. @throws SettingsError if there is no valid pair */
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
      log.info({ certificate, until: new Date(pair.notAfter) }, 'the TLS certificate was reloaded');
      warnOf(pair, host, log);
    } catch (error) {
      log.error({ certificate, key, err: error }, 'the TLS certificate is not valid; the previous one stays in use');
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
      `lws.tls.certificate is ${certificate} and lws.tls.key is ${key}, which cannot be used: ${(error as Error).message}.`,
    );
  }
}

function warnOf(pair: KeyPair, host: string, log: Log): void {
  if (pair.notAfter < Date.now())
    log.error({ until: new Date(pair.notAfter) }, 'the TLS certificate has expired; clients will reject it');
  if (!pair.isFor(host)) log.warn({ host }, 'the TLS certificate is not for the host of lws.base-uri');
}

/** Reads certificate and key. @throws Error with the name of the file */
function readKeyPair(certificateFile: string, keyFile: string): KeyPair {
  return keyPair(readFileSync(certificateFile, 'utf8'), readFileSync(keyFile, 'utf8'));
}
