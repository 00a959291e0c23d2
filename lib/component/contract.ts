/**
 * What a component is: a feature on top of the floors that can be switched off. It returns what it adds, as data, and
 * never receives the application. A third party's module default-exports one and is named in `lws.components`.
 */
import type { KeyObject } from 'node:crypto';
import type { IncomingMessage } from 'node:http';
import type { Duplex } from 'node:stream';
import type { Source } from '@rdfjs/types';
import type { TrustedIssuer } from '../authentication/access-token.js';
import type { IdentifierResolver } from '../authentication/controlled-identifier.js';
import type { DpopVerifier } from '../authentication/dpop.js';
import type { Suite } from '../authentication/suite.js';
import type { Tally } from '../authentication/tally.js';
import type { Throttle } from '../authentication/throttle.js';
import type { AddedOwners } from '../authorization/added-owners.js';
import type { Authorizer, PermissionSource } from '../authorization/authorizer.js';
import type { Documents } from '../documents/documents.js';
import type { Reply } from '../http/reply.js';
import type { ResourceQuery, Route, RouteRequest } from '../http/route.js';
import type { CapabilityEntry, ServiceEntry } from '../http/storage-description.js';
import type { SystemContainer } from '../http/system-container.js';
import type { Log } from '../log.js';
import type { Answered, Metric } from '../metrics.js';
import type { AdmissionOptions } from '../outbound/admission.js';
import type { GuardedFetch } from '../outbound/guarded-fetch.js';
import type { BulkOptions, BulkStaging } from '../resources/bulk.js';
import type { ExplainedRequest, Explanation } from '../resources/explanation.js';
import type { Storage } from '../resources/storage.js';
import type { GraphsRequest, UpdatedGraph } from '../resources/update-graphs.js';
import type { DescribedSetting, SettingsOf, SettingsTable } from '../settings.js';
import type { BlobLocation, BlobPlace } from '../storage/blobs/blobs.js';
import type { JoinServers } from '../storage/transactions/coordination.js';
import type { Store } from '../storage/transactions/store.js';
import type { Transaction } from '../storage/transactions/transaction.js';
import type { MakeCertificateSource, TlsFacts } from './certificates.js';
import type { Deployment, Storages } from './deployment.js';

/**
 * Shows how far some work is.
 * @param note what is said besides, such as a rate
 */
export type Progress = (done: number, total: number, note?: string) => void;

/** All that a component may use of the house. */
export interface Platform {
  /** `lws.base-uri`, without a slash at its end. */
  readonly baseUri: string;
  /** The storage's URI: the base URI with a slash. */
  readonly rootIri: string;
  readonly systemPrefix: string;
  readonly store: Store;
  /** All quads of the store, whoever may read them: what is made of them has to be authorized. */
  readonly quads: Source;
  readonly authorizer: Authorizer;
  /** Owners that owners add; absent where access control lists say who controls. */
  readonly addedOwners: AddedOwners | undefined;
  /** Answers a GET or HEAD of a resource for somebody else than the request's own principal. @throws LwsError as that would */
  readonly read: (request: Pick<RouteRequest, 'req' | 'access'>, iri: string) => Promise<Reply>;
  /** Answers GET and HEAD of a container that a component keeps. @throws LwsError as for every container */
  readonly listContainer: (request: Pick<RouteRequest, 'req' | 'query'>, container: SystemContainer) => Promise<Reply>;
  /** `lws.mask-forbidden-as-not-found` */
  readonly mask: boolean;
  /** What `lws.profile` changes; `undefined`: nothing. */
  readonly profile: Storage['profile'];
  /** The folder of everything that is kept; secrets in it have mode 0600. */
  readonly dataDir: string;
  readonly documents: Documents;
  /** For every URL that somebody else named. */
  readonly fetch: GuardedFetch;
  /** What the documents of subjects say of their keys and providers. */
  readonly identifiers: IdentifierResolver;
  /** The same under another address policy. */
  readonly fetchUnder: (policy: Pick<AdmissionOptions, 'blockPrivateAddresses' | 'allowedHosts'>) => GuardedFetch;
  /** The key of the storage's verification method. */
  readonly signingKey: { readonly keyId: string; readonly key: KeyObject };
  readonly dpop: DpopVerifier;
  /** `lws.dpop.require` */
  readonly dpopRequired: boolean;
  /** The installed suites; to be asked when requests come, not while components are installed. */
  readonly suites: () => readonly Suite[];
  /** Asks whoever delivers whether an inbox may be told anything. @throws LwsError `malformed-body` */
  readonly admitInbox: (inbox: string) => Promise<void>;
  /** Asks whoever keeps state of that space what a value from elsewhere would be. @param id its name in the space */
  readonly readState: (space: string, id: string, value: unknown) => ForeignState | undefined;
  /** The limit of a name on attempts of one address in a minute, over all storages of the process. @param perMinute 0: none */
  readonly throttle: (name: string, perMinute: number) => Throttle;
  /** Counts what strangers have of a kind in all storages of the process. */
  readonly tally: (kind: string) => Tally;
  /** Where tokens are exchanged, whether or not there is such an endpoint. */
  readonly tokenEndpoint: string;
  /** Milliseconds since the epoch. */
  readonly clock: () => number;
  readonly log: Log;
  /** Shows how far long work is. */
  readonly progress: (label: string) => Progress;
  /** The audiences that a credential may name, and whether it has to. */
  readonly audience: { readonly accepted: ReadonlySet<string>; readonly required: boolean };
  /** Stages many resources in one transaction. */
  readonly bulk: (tx: Transaction, options: BulkOptions) => BulkStaging;
  /** Changes several graphs in one transaction. @throws LwsError, OutdatedGraph */
  readonly updateGraphs: (request: GraphsRequest) => Promise<readonly UpdatedGraph[]>;
  /** The decision about a request that nobody made. @throws LwsError `bad-request` */
  readonly explain: (request: ExplainedRequest) => Promise<Explanation>;
  /** The numbers of the house and of all components, as they are now. */
  readonly metrics: () => Promise<readonly Metric[]>;
  /** The URLs of modules of exchange formats (`FormatModule`) that components give; plain data, for threads too. */
  readonly formats: readonly string[];
  /** The root IRI of the storage of `lws.base-uri`, where the process serves others too; absent: there is one storage. */
  readonly home?: string | undefined;
  /** The other storages that the process serves; absent: there are none, or this is one of them. */
  readonly deployment?: Deployment | undefined;
  /** Version of Quadpod. */
  readonly version: string;
  /** How users call the executable: `npx quadpod`, `npm start --` or `quadpod`. */
  readonly executable: string;
  /** All settings in force, for controllers; the values of secret ones are left out. Of a storage of a deployment, its own. */
  readonly describeSettings: () => readonly DescribedSetting[];
}

/** State of a component, such as a grant, that somebody wrote elsewhere. */
export interface ForeignState {
  /** The IRIs that it is about. */
  readonly targets: readonly string[];
  /** What it gives, and to whom: sentences for people. */
  readonly gives: readonly string[];
  /** Whether that subject may have one more, besides those of the same space that are taken with it; absent: it may. */
  hasRoom?(subject: string, taken: number): boolean;
  /** The value that is kept of it as that subject's own. */
  keptBy(subject: string): object;
}

/** What an installed component adds. */
export interface Installation {
  readonly routes?: readonly Route[];
  readonly services?: readonly ServiceEntry[];
  readonly capabilities?: readonly CapabilityEntry[];
  readonly suites?: readonly Suite[];
  /** Links that every resource of the storage has. */
  readonly links?: Storage['links'];
  /** Answers QUERY on resources. */
  readonly resourceQuery?: ResourceQuery;
  /** What allows more than the base model does. */
  readonly permissions?: readonly PermissionSource[];
  /** An authorization server of our own, whose tokens are accepted. */
  readonly authorizationServer?: TrustedIssuer;
  /** Whether what the storage tells may go to an inbox. @throws LwsError `malformed-body` where it may not */
  admitInbox?(inbox: string): Promise<void>;
  /** What a value would be as state that the component keeps in that space of entries; `undefined`: what is imported is none. */
  readState?(space: string, id: string, value: unknown): ForeignState | undefined;
  /** Numbers of the component, as they are now. */
  metrics?(): Promise<readonly Metric[]> | readonly Metric[];
  /** Notified of every request that was answered. */
  onAnswered?(answered: Answered): void;
  /**
   * Takes a connection that is to become a WebSocket. Whoever takes it authorizes it, and answers on the socket.
   * @param head what came after the request already
   * @returns whether it takes it
   */
  upgrade?(req: IncomingMessage, socket: Duplex, head: Buffer): boolean;
  start?(): Promise<void> | void;
  /** Loads ahead what the first requests seldom need; called some seconds after the first request. */
  warm?(): void;
  stop?(): Promise<void> | void;
  /** Whether there is work that nobody waits for: the storage of a deployment is not closed meanwhile. */
  isBusy?(): boolean;
  /** Whether somebody listens: the storage of a deployment is closed for another one, and not for being idle. */
  isFollowed?(): boolean;
  /** Ends answers that would continue for ever; called when the server is told to stop, before it waits for the others. */
  drain?(): void;
}

/** What a command of a component works with. */
export interface CommandContext {
  readonly baseUri: string;
  readonly systemPrefix: string;
  /** What the command is about, and its own flags. */
  readonly operands: readonly string[];
  readonly flags: Readonly<Record<string, string>>;
  /**
   * A credential of an owner: of the key in a file, or of the owner that this server made.
   * @throws SettingsError when there is no such key, or nobody controls the storage
   */
  readonly ownerCredential: (keyFile?: string) => Promise<string>;
  /** Verifies the storage of the folder as `quadpod check` does, and prints what is wrong. @returns the exit code */
  readonly check: () => Promise<number>;
  readonly dataDir: string;
  /** Where the contents of JSON and binary resources are, with the credentials for it. */
  readonly blobs: BlobLocation;
  /** @throws SettingsError where `lws.data-dir` has no storage; nothing is made there */
  readonly assertStorage: () => void;
  /** Runs work on the store that is there. @throws SettingsError as `assertStorage`, StoreUnavailableError while a server has it open */
  readonly onStore: <T>(work: (store: Store) => Promise<T>) => Promise<T>;
  /**
   * Runs work on the house with everything that is installed, as if the server ran, but nobody is answered.
   * @throws StoreUnavailableError while a server has it open
   */
  readonly onPlatform: <T>(work: (platform: Platform, owner: string | undefined) => Promise<T>) => Promise<T>;
  readonly progress: Platform['progress'];
  readonly formats: Platform['formats'];
  /** The other storages of the deployment; absent: there are none. */
  readonly storages?: Storages | undefined;
  /** Prints a line of the result. */
  readonly print: (line: string) => void;
}

/** A command as it is explained to people. */
export interface CommandHelp {
  /** One line for `quadpod help`. */
  readonly help: string;
  /** Flags that are the command's and no settings: what stands for the value, then what it is for: `{key: 'FILE the key of an owner'}`. */
  readonly flags?: Readonly<Record<string, string>>;
  /** Flags that take no value. */
  readonly switches?: Readonly<Record<string, string>>;
  /** What it takes beside flags, for people: `DIR`; in brackets when it may be absent. */
  readonly operand?: string;
  /** A line as it is typed after `quadpod`. */
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
  /** It is about the process: of a deployment, the storage of `lws.base-uri` has it alone. */
  readonly isOfProcess?: boolean;
  /** It imports what lies in `templateFolder` when it starts. */
  readonly takesTemplates?: boolean;
  /** The path, below the base URI, of a page that signs in whoever has a credential in its fragment: `#token=`. */
  readonly page?: string;
  /** Checks what parsers of settings cannot, such as contents of files; not called where it is off. @throws SettingsError */
  assertUsable?(settings: SettingsOf<T>): void;
  /** Heavy imports happen here, so that a component that is off costs nothing. */
  install(platform: Platform, settings: SettingsOf<T>): Promise<Installation> | Installation;
  /**
   * Where the contents of JSON and binary resources are, for every command and thread that reads them; `undefined`: not here.
   * @throws SettingsError where its settings cannot work
   */
  blobs?(settings: SettingsOf<T>): BlobPlace | undefined;
  /**
   * What makes the source of the server's certificate; `undefined`: it does not come from here.
   * @throws SettingsError where its settings cannot work
   */
  certificates?(settings: SettingsOf<T>, tls: TlsFacts): MakeCertificateSource | undefined;
  /** Joins the servers that serve the same storage through a database (`lws.store`), for every command that opens the store. */
  readonly joinServers?: JoinServers;
  /** The URL of a module that exports exchange formats (`FormatModule`), for every command and thread; `undefined`: none now. */
  formats?(settings: SettingsOf<T>): string | undefined;
  /** Called instead of `install` at a start at which it is off: what it keeps is not maintained from here on. */
  onDisabled?(platform: Platform): Promise<void>;
  /** What `quadpod check` finds wrong with what the component keeps: one sentence each. */
  check?(store: Store): AsyncIterable<string>;
  readonly commands?: Readonly<Record<string, Command>>;
}

/** Checks the shape of a component while keeping the type of its settings. */
export const defineComponent = <T extends SettingsTable>(component: Component<T>): Component<T> => component;
