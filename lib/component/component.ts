/**
 * Component: a feature that can be switched off. A component contributes data and functions, and has no access to the
 * application. A third-party module exports a component as default, and is named in `lws.components`.
 */
import type { SettingsOf, SettingsTable } from '../settings/settings.js';
import type { BlobLocation, BlobPlace } from '../storage/blobs/blobs.js';
import type { JoinServers } from '../storage/transactions/coordination.js';
import type { Store } from '../storage/transactions/store.js';
import type { MakeCertificateSource, TlsFacts } from './certificates.js';
import type { Platform } from './contract.js';
import type { Storages } from './deployment.js';
import type { Installation } from './installation.js';

/** Context in which a command of a component runs. */
export interface CommandContext {
  readonly baseUri: string;
  readonly systemPrefix: string;
  /** Operands from the command line, without flags. */
  readonly operands: readonly string[];
  readonly flags: Readonly<Record<string, string>>;
  /**
   * Returns a credential of an owner, from the key in a file or from the owner's key that this server created.
   * @throws SettingsError if there is no such key, or no owner
   */
  readonly ownerCredential: (keyFile?: string) => Promise<string>;
  /** Verifies the storage like `quadpod check` and prints the problems. @returns the exit code */
  readonly check: () => Promise<number>;
  readonly dataDir: string;
  /** Location of the contents of JSON and binary resources, with credentials. */
  readonly blobs: BlobLocation;
  /** Asserts that there is a storage, without creating anything. @throws SettingsError if `lws.data-dir` has none */
  readonly assertStorage: () => void;
  /** Runs work on the existing store. @throws SettingsError as `assertStorage`, StoreUnavailableError if it is open */
  readonly onStore: <T>(work: (store: Store) => Promise<T>) => Promise<T>;
  /**
   * Runs work on the platform with all installed components, like a server that accepts no requests.
   * @throws StoreUnavailableError if a server has the store open
   */
  readonly onPlatform: <T>(work: (platform: Platform, owner: string | undefined) => Promise<T>) => Promise<T>;
  readonly progress: Platform['progress'];
  readonly formats: Platform['formats'];
  /** Other storages of the deployment, if any. */
  readonly storages?: Storages | undefined;
  /** Prints a line on standard output. */
  readonly print: (line: string) => void;
}

/** Help text of a command. */
export interface CommandHelp {
  /** Description of the command in `quadpod help`, one line. */
  readonly help: string;
  /** Flags that are not settings. The value has a placeholder and a description: `{key: 'FILE the key of an owner'}`. */
  readonly flags?: Readonly<Record<string, string>>;
  /** Flags without a value, with their descriptions. */
  readonly switches?: Readonly<Record<string, string>>;
  /** Operand in the help text, such as `DIR`, in brackets if optional. */
  readonly operand?: string;
  /** Example of the command line after `quadpod`. */
  readonly example: string;
}

export interface Command extends CommandHelp {
  /** Runs the command. @returns the exit code */
  run(context: CommandContext): Promise<number>;
}

export interface Component<T extends SettingsTable = SettingsTable> {
  readonly name: string;
  readonly settings: T;
  isEnabled(settings: SettingsOf<T>): boolean;
  /** True for components of the process. In a deployment, only the home storage (`lws.base-uri`) has such components. */
  readonly isOfProcess?: boolean;
  /** True if the component imports the files in `templateFolder` at startup. */
  readonly takesTemplates?: boolean;
  /** Path, below the base URI, of a page that signs in with a credential in the fragment (`#token=`). */
  readonly page?: string;
  /**
   * Validates settings beyond their parsers, such as contents of files and names in the storage. Called at startup, and before
   * a storage of a deployment gets new settings, unless the component is off.
   * @throws SettingsError
   */
  assertUsable?(settings: SettingsOf<T>, names: Pick<Platform, 'rootIri' | 'systemPrefix'>): void;
  /** Installs the component. Large modules are imported here, so that a disabled component does not load them. */
  install(platform: Platform, settings: SettingsOf<T>): Promise<Installation> | Installation;
  /**
   * Returns the location of the contents of JSON and binary resources, or `undefined` for the default. Called by every command
   * and thread that reads them.
   * @throws SettingsError if its settings are not valid
   */
  blobs?(settings: SettingsOf<T>): BlobPlace | undefined;
  /**
   * Returns a function that creates the source of the server's certificate. Returns `undefined` if the component has none.
   * @throws SettingsError if its settings are not valid
   */
  certificates?(settings: SettingsOf<T>, tls: TlsFacts): MakeCertificateSource | undefined;
  /** Connects to the other servers of the storage (`lws.store`). Called by every command that opens the storage. */
  readonly joinServers?: JoinServers;
  /** Returns the URL of a module with exchange formats (`FormatModule`), or `undefined`. Called by every command and thread. */
  formats?(settings: SettingsOf<T>): string | undefined;
  /** Called instead of `install` if the component is off. The component's data is then no longer updated. */
  onDisabled?(platform: Platform): Promise<void>;
  /** Yields the problems that `quadpod check` finds in the data of the component, each as a sentence. */
  check?(store: Store): AsyncIterable<string>;
  /** Marks derived data, so that the next start builds them again after `check` found problems. */
  rebuild?(store: Store): Promise<void>;
  readonly commands?: Readonly<Record<string, Command>>;
}

/** Returns the component, with the inferred types of its settings. */
export const defineComponent = <T extends SettingsTable>(component: Component<T>): Component<T> => component;
