/** Maps the host and path of a request to a storage of a deployment. */
import { SettingsError } from '../../settings/settings.js';

/** One lower-case label of a host name (RFC 1035 2.3.1). Other alphabets are excluded, since their names could look alike. */
const label = /^(?!xn--)[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?$/;
export const isStorageName = (name: string): boolean => label.test(name);

/** Target of a request: the storage of `lws.base-uri`, a named storage, a path of the deployment without a storage, or another host. */
export type Addressee = { readonly name: string } | 'home' | 'nobody' | 'elsewhere';

/** Placeholder for a name when a template is parsed as URL. */
const stand = 'quadpod-name';

export class Addresses {
  private readonly host: string;
  /** True if the name is the first label of the host. False if it is the first segment of the path. */
  private readonly isByHost: boolean;
  /** Matches the default port, which a Host field may omit (RFC 9110 4.2.3). */
  private readonly usualPort: RegExp;

  /**
   * Parses an address template.
   * @param template `lws.storages.address`
   * @param home root IRI of the storage of `lws.base-uri`
   * @throws SettingsError for an invalid template, or one that nests storages
   */
  constructor(
    private readonly template: string,
    private readonly home: URL,
  ) {
    const refuse = (why: string): never => {
      throw new SettingsError(`lws.storages.address is ${JSON.stringify(template)}; ${why}.`);
    };
    const text = template.replace('{name}', stand);
    const url = URL.canParse(text) ? new URL(text) : refuse('use a URI such as https://{name}.pods.example/');
    this.isByHost = url.hostname.startsWith(`${stand}.`);
    const path = this.isByHost ? '/' : `/${stand}/`;
    if (!/^https?:$/.test(url.protocol) || text === template || url.href !== `${url.origin}${path}`)
      refuse(
        '{name} must occur once: as the first label of the host, or as the only path segment, followed by a slash',
      );
    this.host = this.isByHost ? url.host.slice(stand.length + 1) : url.host;
    if (!this.isByHost && url.host === home.host && home.pathname === '/')
      refuse(
        `the storage of lws.base-uri (${home.href}) would contain all others. Give it a separate path, such as ${home.href}home/`,
      );
    this.usualPort = url.protocol === 'https:' ? /:443$/ : /:80$/;
    if (url.protocol !== home.protocol)
      refuse(`lws.base-uri is ${home.protocol.slice(0, -1)}, and all storages use the same scheme`);
  }

  /** True if the pages of all storages have one origin. */
  get isOneOrigin(): boolean {
    return !this.isByHost;
  }

  /** Returns the base URI of a storage, without a trailing slash. */
  of(name: string): string {
    return this.template.replace('{name}', name).slice(0, -1);
  }

  /** Returns true if the storage of `lws.base-uri` has the address of a name, or an address below it. */
  isOfHome(name: string): boolean {
    return this.home.href.startsWith(`${this.of(name)}/`);
  }

  /** Returns the origin of the storage at a host, or `undefined`. Ignores the port of the host. */
  originAt(host: string): string | undefined {
    const asked = host.toLowerCase().replace(/:\d*$/, '');
    const { hostname, origin } = this.home;
    if (asked === hostname) return origin;
    const name = this.isByHost ? asked.split('.', 1)[0]! : stand;
    const url = new URL(this.of(name));
    return isStorageName(name) && url.hostname === asked ? url.origin : undefined;
  }

  /**
   * Returns the target of a request.
   * @param host value of the Host field or of :authority
   * @param path path of the target; a document at `/.well-known/` may name a storage at its end (RFC 8414 3.1)
   */
  find(host: string, path: string): Addressee {
    const asked = host.toLowerCase().replace(this.usualPort, '');
    const { home } = this;
    if (this.isByHost) {
      if (asked === home.host) return 'home';
      const dot = asked.indexOf('.');
      if (dot < 0 || asked.slice(dot + 1) !== this.host) return 'elsewhere';
      return named(asked.slice(0, dot));
    }
    if (asked !== this.host) return asked === home.host ? 'home' : 'elsewhere';
    const behind = path.replace(/^\/\.well-known\/[^/]+(?=\/|$)/, '');
    if (home.host === this.host && `${behind}/`.startsWith(home.pathname)) return 'home';
    return named(behind.split('/', 2)[1] ?? '');
  }
}

const named = (name: string): Addressee => (isStorageName(name) ? { name } : 'nobody');
