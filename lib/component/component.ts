/**
 * A component: a feature that can be switched off. It returns its contributions as data and never receives the application. A
 * third-party module default-exports one and is named in `lws.components`.
 */
import type { SettingsOf, SettingsTable } from '../settings/settings.js';
import type { BlobLocation, BlobPlace } from '../storage/blobs/blobs.js';
import type { JoinServers } from '../storage/transactions/coordination.js';
import type { Store } from '../storage/transactions/store.js';
import type { MakeCertificateSource, TlsFacts } from './certificates.js';
import type { Platform } from './contract.js';
import type { Storages } from './deployment.js';
import type { Installation } from './installation.js';

/** Context of a command of a component. */
export interface CommandContext {
  readonly baseUri: string;
  readonly systemPrefix: string;
  /** Operands and flags of the command. */
  readonly operands: readonly string[];
  readonly flags: Readonly<Record<string, string>>;
  /**
   * Returns a credential of an owner: of the given key file, or of the owner that this server created.
   * @throws SettingsError if there is no such key, or no owner
   */
  readonly ownerCredential: (keyFile?: string) => Promise<string>;
  /** Verifies the storage like `quadpod check` and prints the problems. @returns the exit code */
  readonly check: () => Promise<number>;
  readonly dataDir: string;
  /** Location of the contents of JSON and binary resources, with credentials. */
  readonly blobs: BlobLocation;
  /** @throws SettingsError if `lws.data-dir` has no storage; nothing is created */
  readonly assertStorage: () => void;
  /** Runs work on the existing store. @throws SettingsError as `assertStorage`, StoreUnavailableError while a server has it open */
  readonly onStore: <T>(work: (store: Store) => Promise<T>) => Promise<T>;
  /**
   * Runs work on the platform with all installed components, as if the server were running, but without serving requests.
   * @throws StoreUnavailableError while a server has it open
   */
  readonly onPlatform: <T>(work: (platform: Platform, owner: string | undefined) => Promise<T>) => Promise<T>;
  readonly progress: Platform['progress'];
  readonly formats: Platform['formats'];
  /** The other storages of the deployment, if any. */
  readonly storages?: Storages | undefined;
  /** Prints a line of the result. */
  readonly print: (line: string) => void;
}

/** Help of a command. */
export interface CommandHelp {
  /** One line for `quadpod help`. */
  readonly help: string;
  /** Flags of the command that are not settings: placeholder of the value and description, as in `{key: 'FILE the key of an owner'}`. */
  readonly flags?: Readonly<Record<string, string>>;
  /** Flags without a value. */
  readonly switches?: Readonly<Record<string, string>>;
  /** Operand as shown in the help: `DIR`, in brackets if it is optional. */
  readonly operand?: string;
  /** Example, as typed after `quadpod`. */
  readonly example: string;
}

export interface Command extends CommandHelp {
  /** @returns the exit code */
  run(context: CommandContext): Promise<number>;
}

export interface Component<T extends SettingsTable = SettingsTable> {
  readonly name: string;
  readonly settings: T;
  isEnabled(settings: SettingsOf<T>): boolean;
  /** True for components of the process: in a deployment only the storage of `lws.base-uri` has them. */
  readonly isOfProcess?: boolean;
  /** True if it imports the files in `templateFolder` at startup. */
  readonly takesTemplates?: boolean;
  /** Path below the base URI of a page that signs in with a credential in the fragment: `#token=`. */
  readonly page?: string;
  /**
   * Validates settings beyond their parsers, such as contents of files and names in the storage, at the start and before a storage
   * of a deployment gets them. Not called while the component is off.
   * @throws SettingsError
   */
  assertUsable?(settings: SettingsOf<T>, names: Pick<Platform, 'rootIri' | 'systemPrefix'>): void;
  /** Import large modules here, so that a disabled component costs nothing. */
  install(platform: Platform, settings: SettingsOf<T>): Promise<Installation> | Installation;
  /**
   * Returns the location of contents of JSON and binary resources, for every command and thread that reads them, or `undefined`.
   * @throws SettingsError if its settings are not valid
   */
  blobs?(settings: SettingsOf<T>): BlobPlace | undefined;
  /**
   * Returns a function that creates the source of the server's certificate, or `undefined`.
   * @throws SettingsError if its settings are not valid
   */
  certificates?(settings: SettingsOf<T>, tls: TlsFacts): MakeCertificateSource | undefined;
  /** Joins the servers that serve the same storage through a database (`lws.store`), for every command that opens the store. */
  readonly joinServers?: JoinServers;
  /** Returns the URL of a module that exports exchange formats (`FormatModule`), for every command and thread, or `undefined`. */
  formats?(settings: SettingsOf<T>): string | undefined;
  /** Called instead of `install` if the component is off: its data is not maintained from here on. */
  onDisabled?(platform: Platform): Promise<void>;
  /** Yields the problems that `quadpod check` finds in the component's data, one sentence each. */
  check?(store: Store): AsyncIterable<string>;
  /** Makes the next start build derived data again, after `check` found problems in it. */
  rebuild?(store: Store): Promise<void>;
  readonly commands?: Readonly<Record<string, Command>>;
}

/** Declares a component and infers the types of its settings. */
export const defineComponent = <T extends SettingsTable>(component: Component<T>): Component<T> => component;
