/**
 * A component: a feature that can be switched off. It returns its contributions as data and never receives the application. A
 * third-party module default-exports one and is named in `lws.components`.
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
import type { Access } from '../authorization/principal.js';
import type { Documents } from '../documents/documents.js';
import type { Reply } from '../http/reply.js';
import type { FactsForCaller } from '../http/resource-facts.js';
import type { InnerRequest } from '../http/resources.js';
import type { ResourceMethods, ResourceQuery, Route, RouteRequest } from '../http/route.js';
import type { CapabilityEntry, ServiceEntry } from '../http/storage-description.js';
import type { SystemContainer } from '../http/system-container.js';
import type { TextAnswer, TextCall } from '../query/parse/text-patterns.js';
import type { BulkOptions, BulkStaging } from '../resources/bulk.js';
import type { ExplainedRequest, Explanation } from '../resources/explanation.js';
import type { FolderSize } from '../resources/folder-size.js';
import type { Storage } from '../resources/storage.js';
import type { Trash } from '../resources/trash.js';
import type { GraphsRequest, UpdatedGraph } from '../resources/update-graphs.js';
import type { DescribedSetting, SettingsOf, SettingsTable } from '../settings/settings.js';
import type { BlobLocation, BlobPlace } from '../storage/blobs/blobs.js';
import type { JoinServers } from '../storage/transactions/coordination.js';
import type { Store } from '../storage/transactions/store.js';
import type { Transaction } from '../storage/transactions/transaction.js';
import type { Log } from '../tools/log.js';
import type { Answered, Metric } from '../tools/metrics.js';
import type { AdmissionOptions } from '../tools/outbound/admission.js';
import type { GuardedFetch } from '../tools/outbound/guarded-fetch.js';
import type { MakeCertificateSource, TlsFacts } from './certificates.js';
import type { Deployment, Storages } from './deployment.js';
import type { Tool, ToolCaller } from './tools.js';

/** Shows the progress of long work. @param note additional text, such as a rate */
export type Progress = (done: number, total: number, note?: string) => void;

/** Services that a component may use. */
export interface Platform {
  /** `lws.base-uri`, without a trailing slash. */
  readonly baseUri: string;
  /** Storage URI: the base URI with a trailing slash. */
  readonly rootIri: string;
  readonly systemPrefix: string;
  readonly store: Store;
  /** All quads of the store, without access control: the component must authorize its results. */
  readonly quads: Source;
  readonly authorizer: Authorizer;
  /** Owners added by other owners. Absent if access control lists decide. */
  readonly addedOwners: AddedOwners | undefined;
  /** Answers a GET or HEAD of a resource for another principal than that of the request. @throws LwsError as the request would */
  readonly read: (request: Pick<RouteRequest, 'req' | 'access'>, iri: string) => Promise<Reply>;
  /** Answers a request for a resource in the name of a caller, with the same checks as over HTTP. @throws LwsError */
  readonly request: (caller: ToolCaller, request: InnerRequest) => Promise<Reply>;
  /** Returns the facts about a resource and its members that a caller may know. @throws LwsError as for GET */
  readonly facts: (access: Access, iri: string) => Promise<FactsForCaller>;
  /** Answers GET and HEAD of a container that a component maintains. @throws LwsError as for every container */
  readonly listContainer: (request: Pick<RouteRequest, 'req' | 'query'>, container: SystemContainer) => Promise<Reply>;
  /** `lws.mask-forbidden-as-not-found` */
  readonly mask: boolean;
  /** Changes by `lws.profile`, if any. */
  readonly profile: Storage['profile'];
  /** The data directory. Secrets in it have mode 0600. */
  readonly dataDir: string;
  readonly documents: Documents;
  /** For every URL supplied by a caller. */
  readonly fetch: GuardedFetch;
  /** Keys and identity providers from the documents of subjects. */
  readonly identifiers: IdentifierResolver;
  /** Guarded fetch under another address policy. */
  readonly fetchUnder: (policy: Pick<AdmissionOptions, 'blockPrivateAddresses' | 'allowedHosts'>) => GuardedFetch;
  /** Key of the storage's verification method. */
  readonly signingKey: { readonly keyId: string; readonly key: KeyObject };
  readonly dpop: DpopVerifier;
  /** `lws.dpop.require` */
  readonly dpopRequired: boolean;
  /** Installed suites. Call it when requests come, not while components are installed. */
  readonly suites: () => readonly Suite[];
  /** Tools of the installed components for a caller; with a name, at most the one of that name. Call it when requests come. */
  readonly tools: (caller: ToolCaller, name?: string) => Promise<readonly Tool[]>;
  /** Asks the delivering component if an inbox is acceptable. @throws LwsError `malformed-body` */
  readonly admitInbox: (inbox: string) => Promise<void>;
  /** Asks the component that owns an entry space to read imported state. @param id its name in the space */
  readonly readState: (space: string, id: string, value: unknown) => ForeignState | undefined;
  /** Text search of the component that maintains the text index, if any. Call it when requests come, not while components are installed. */
  readonly searchTexts: () => Installation['searchTexts'];
  /** Returns the named rate limit on attempts per address and minute, shared by all storages of the process. @param perMinute 0 for no limit */
  readonly throttle: (name: string, perMinute: number) => Throttle;
  /** Counts resources of unprivileged callers, by kind, in all storages of the process. */
  readonly tally: (kind: string) => Tally;
  /** URL of the token endpoint, even if there is none. */
  readonly tokenEndpoint: string;
  /** Milliseconds since the epoch. */
  readonly clock: () => number;
  readonly log: Log;
  /** Shows the progress of long work. */
  readonly progress: (label: string) => Progress;
  /** Audiences that a credential may name, and whether one is required. */
  readonly audience: { readonly accepted: ReadonlySet<string>; readonly required: boolean };
  /** Stages many resources in one transaction. */
  readonly bulk: (tx: Transaction, options: BulkOptions) => BulkStaging;
  /** Deleted resources that can be restored. */
  readonly trash: Trash;
  /** Changes several graphs in one transaction. @throws LwsError, OutdatedGraph */
  readonly updateGraphs: (request: GraphsRequest) => Promise<readonly UpdatedGraph[]>;
  /** Returns the decision about a hypothetical request. @throws LwsError `bad-request` */
  readonly explain: (request: ExplainedRequest) => Promise<Explanation>;
  /** Returns the size of a container with everything below it that the caller can read. @throws LwsError as GET, `too-busy` */
  readonly folderSize: (access: Access, iri: string) => Promise<FolderSize>;
  /** Returns the current metrics of the server and of all components. */
  readonly metrics: () => Promise<readonly Metric[]>;
  /** URLs of modules with exchange formats (`FormatModule`) that components contribute. Plain data, also for worker threads. */
  readonly formats: readonly string[];
  /** Root IRI of the storage of `lws.base-uri`, if the process serves other storages too. */
  readonly home?: string | undefined;
  /** The other storages of the process. Absent if there are none, or this is one of them. */
  readonly deployment?: Deployment | undefined;
  /** Version of Quadpod. */
  readonly version: string;
  /** How users call the executable: `npx quadpod`, `npm start --` or `quadpod`. */
  readonly executable: string;
  /** Returns all effective settings, for controllers, without the values of secrets. For a storage of a deployment, its own settings. */
  readonly describeSettings: () => readonly DescribedSetting[];
}

/** Imported state of a component, such as a grant. */
export interface ForeignState {
  /** IRIs that it concerns. */
  readonly targets: readonly string[];
  /** Access that it gives, and to whom, as sentences for users. */
  readonly gives: readonly string[];
  /** True if the subject may have one more, in addition to `taken` ones imported in the same space. Absent: no limit. */
  hasRoom?(subject: string, taken: number): boolean;
  /** Returns the value to store for that subject. */
  keptBy(subject: string): object;
}

/** Contributions of an installed component. */
export interface Installation {
  readonly routes?: readonly Route[];
  readonly services?: readonly ServiceEntry[];
  readonly capabilities?: readonly CapabilityEntry[];
  readonly suites?: readonly Suite[];
  /** Tools for agents. */
  readonly tools?: readonly Tool[];
  /** Returns more tools that the caller can use; with a name, at most the one of that name. */
  toolsFor?(caller: ToolCaller, name?: string): Promise<readonly Tool[]>;
  /** Links of every resource of the storage. */
  readonly links?: Storage['links'];
  /** Returns `Link` values for one resource and caller; `undefined` if there are none, without delay. */
  readonly linksOf?: Storage['linksOf'];
  /** Answers QUERY on resources. */
  readonly resourceQuery?: ResourceQuery;
  /** Answers more methods of resources. */
  readonly resourceMethods?: ResourceMethods;
  /** Permissions in addition to the base model. */
  readonly permissions?: readonly PermissionSource[];
  /** An authorization server of this process; its tokens are accepted. */
  readonly authorizationServer?: TrustedIssuer;
  /** Checks that notifications may be sent to an inbox. @throws LwsError `malformed-body` if not */
  admitInbox?(inbox: string): Promise<void>;
  /** Reads imported state of the component's entry space. Returns `undefined` if the value is not valid. */
  readState?(space: string, id: string, value: unknown): ForeignState | undefined;
  /** Returns the literals that a `text:query` pattern matches, best first. @param call `within` is a container or resource */
  searchTexts?(access: Access, call: TextCall & { readonly within?: string | undefined }): Promise<TextAnswer>;
  /** Returns the current metrics of the component. */
  metrics?(): Promise<readonly Metric[]> | readonly Metric[];
  /** Called after every response. */
  onAnswered?(answered: Answered): void;
  /**
   * Accepts a connection upgrade to WebSocket. The component then authorizes it and responds on the socket.
   * @param head bytes received after the request
   * @returns false if the component does not handle it
   */
  upgrade?(req: IncomingMessage, socket: Duplex, head: Buffer): boolean;
  start?(): Promise<void> | void;
  /** Preloads optional modules; called a few seconds after the first request. */
  warm?(): void;
  stop?(): Promise<void> | void;
  /** True while background work is running: the storage of a deployment is then not closed. */
  isBusy?(): boolean;
  /** True while clients are subscribed: the storage of a deployment is then closed for another one, but not for being idle. */
  isFollowed?(): boolean;
  /** Ends endless responses. Called when the server is told to stop, before it waits for the other responses. */
  drain?(): void;
}

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

/** What the names of resources of a storage depend on. */
export interface NamesOfStorage {
  readonly rootIri: string;
  readonly systemPrefix: string;
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
  assertUsable?(settings: SettingsOf<T>, names: NamesOfStorage): void;
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
