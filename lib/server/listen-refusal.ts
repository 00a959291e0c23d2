/** Why the server cannot listen, and what to do. Pure. */
import { SettingsError } from '../settings.js';
import type { CoreSettings } from './core-settings.js';

/** The error of a socket as a sentence for the operator; any other error as it is. */
export function listenRefusal(error: unknown, { listenHost }: Pick<CoreSettings, 'listenHost'>, url: URL): unknown {
  const { code, port, address } = error as NodeJS.ErrnoException & { port?: number; address?: string };
  const place = `port ${port}${address === undefined ? '' : ` of ${address}`}`;
  if (code === 'EADDRINUSE') {
    const other = new URL(url);
    other.port = String(((port ?? 8080) % 65535) + 1);
    return new SettingsError(
      `Another program uses ${place}. Stop it, or serve another storage at another address: ` +
        `--base-uri=${other.href.replace(/\/$/, '')} --data-dir=lws-data-${other.port}. ` +
        'A lws.listen-port alone would not do: clients, and the commands that this server prints, would go on ' +
        'sending their credentials to the address of lws.base-uri, which is the other program.',
    );
  }
  if (code === 'EACCES')
    return new SettingsError(
      `The user of this process may not listen on ${place}. Choose a lws.listen-port from 1024 on, behind a proxy that has the port of lws.base-uri.`,
    );
  if (['ENOTFOUND', 'EAI_AGAIN', 'EADDRNOTAVAIL', 'EAFNOSUPPORT', 'EINVAL'].includes(code ?? ''))
    return new SettingsError(
      `lws.listen-host is ${JSON.stringify(listenHost)}; expected a name or an address of this machine, such as 127.0.0.1 or 0.0.0.0 (${code}).`,
    );
  return error;
}
