/** Which storage of a deployment a request is for, by its host and path. It is pure, and must not know what storages there are. */
import { SettingsError } from '../../settings.js';

/** One label of a host name (RFC 1035 2.3.1), in small letters; no name in another alphabet, which could look like this one. */
const label = /^(?!xn--)[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?$/;
export const isStorageName = (name: string): boolean => label.test(name);

/** What a request is for: the storage of `lws.base-uri`, one that is named, a path of the deployment with none, or another host. */
export type Addressee = { readonly name: string } | 'home' | 'nobody' | 'elsewhere';

/** Stands for a name where an address is read as a URL. */
const stand = 'quadpod-name';

export class Addresses {
  private readonly host: string;
  /** Where the name is: the first label of the host, or the first segment of the path. */
  private readonly isByHost: boolean;
  /** The port that a Host field may have or not (RFC 9110 4.2.3). */
  private readonly usualPort: RegExp;

  /**
   * @param template `lws.storages.address`
   * @param home the root IRI of the storage of `lws.base-uri`
   * @throws SettingsError for an address that gives none, or one within another
   */
  constructor(
    private readonly template: string,
    private readonly home: URL,
  ) {
    const refuse = (why: string): never => {
      throw new SettingsError(`lws.storages.address is ${JSON.stringify(template)}; ${why}.`);
    };
    const text = template.replace('{name}', stand);
    const url = URL.canParse(text) ? new URL(text) : refuse('expected an address such as https://{name}.pods.example/');
    this.isByHost = url.hostname.startsWith(`${stand}.`);
    const path = this.isByHost ? '/' : `/${stand}/`;
    if (!/^https?:$/.test(url.protocol) || text === template || url.href !== `${url.origin}${path}`)
      refuse(
        '{name} stands once: as the first label of the host, or as the only segment of the path, and a slash ends it',
      );
    this.host = this.isByHost ? url.host.slice(stand.length + 1) : url.host;
    if (!this.isByHost && url.host === home.host && home.pathname === '/')
      refuse(
        `the storage of lws.base-uri (${home.href}) would hold all others. Give it a path beside theirs, such as ${home.href}home/`,
      );
    this.usualPort = url.protocol === 'https:' ? /:443$/ : /:80$/;
    if (url.protocol !== home.protocol)
      refuse(`lws.base-uri is ${home.protocol.slice(0, -1)}, and all are reached alike`);
  }

  /** Pages of all storages have one origin. */
  get isOneOrigin(): boolean {
    return !this.isByHost;
  }

  /** The base URI of a storage, without a slash at its end. */
  of(name: string): string {
    return this.template.replace('{name}', name).slice(0, -1);
  }

  /** Whether the storage of `lws.base-uri` has the address of a name, or one within it. */
  isOfHome(name: string): boolean {
    return this.home.href.startsWith(`${this.of(name)}/`);
  }

  /** The origin of a storage, or of the home, that is asked at a host on another port; `undefined`: none of them has the host. */
  originAt(host: string): string | undefined {
    const asked = host.toLowerCase().replace(/:\d*$/, '');
    const { hostname, origin } = this.home;
    if (asked === hostname) return origin;
    const name = this.isByHost ? asked.split('.', 1)[0]! : stand;
    const url = new URL(this.of(name));
    return isStorageName(name) && url.hostname === asked ? url.origin : undefined;
  }

  /**
   * Whom a request is for.
   * @param host the value of the Host field, or of :authority
   * @param path the path of the target, where a document at `/.well-known/` may name a storage behind (RFC 8414 3.1)
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
