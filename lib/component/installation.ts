/** Contributions of components. */
import type { IncomingMessage } from 'node:http';
import type { Duplex } from 'node:stream';
import type { TrustedIssuer } from '../authentication/access-token.js';
import type { Suite } from '../authentication/suite.js';
import type { PermissionSource } from '../authorization/authorizer.js';
import type { Access } from '../authorization/principal.js';
import type { ResourcePages } from '../http/problem-page.js';
import type { EarlierStates } from '../http/resource-exchange.js';
import type { ResourceMethods, ResourceQuery, Route } from '../http/route.js';
import type { CapabilityEntry, ServiceEntry } from '../http/storage-description.js';
import type { TextAnswer, TextCall } from '../query/parse/text-patterns.js';
import type { PastFact, PastTask } from '../query/past-graphs.js';
import type { Storage } from '../resources/storage.js';
import type { Answered, Metric } from '../tools/metrics.js';
import type { Tool, ToolCaller } from './tools.js';

/** Imported state of a component, such as an access grant. */
export interface ForeignState {
  /** IRIs that the state concerns. */
  readonly targets: readonly string[];
  /** Access that the state gives and its assignees, as sentences for users. */
  readonly gives: readonly string[];
  /** True if the subject may have another entry besides `taken` imported entries of the same space. Absent: no limit. */
  hasRoom?(subject: string, taken: number): boolean;
  /** Returns the value to store for the subject. */
  keptBy(subject: string): object;
}

/** Queries over earlier states of graphs. */
export interface PastQueries {
  /**
   * Returns the state that `Accept-Datetime` selects, and response fields. `undefined` without the field, or without versions.
   * @throws LwsError `bad-request`
   */
  asked(date: unknown): { readonly task: PastTask; readonly fields: Readonly<Record<string, string>> } | undefined;
  /** Returns for each state whether the caller may read it. The resources are readable in their present state, or deleted. */
  admits(access: Access, states: readonly PastFact[]): Promise<readonly boolean[]>;
}

/** Contributions of an installed component. */
export interface Installation {
  readonly routes?: readonly Route[];
  readonly services?: readonly ServiceEntry[];
  readonly capabilities?: readonly CapabilityEntry[];
  readonly suites?: readonly Suite[];
  /** Tools for agents. */
  readonly tools?: readonly Tool[];
  /** Returns more tools that the caller can use. With a name, returns at most the tool with this name. */
  toolsFor?(caller: ToolCaller, name?: string): Promise<readonly Tool[]>;
  /** Links of every resource of the storage. */
  readonly links?: Storage['links'];
  /** Returns `Link` values for one resource and caller, or `undefined` (not a promise) if there are none. */
  readonly linksOf?: Storage['linksOf'];
  /** URLs of pages for people with a browser. */
  readonly pages?: ResourcePages;
  /** Handles QUERY requests for resources. */
  readonly resourceQuery?: ResourceQuery;
  /** Handles more methods of resources. */
  readonly resourceMethods?: ResourceMethods;
  /** Handles requests for earlier states of resources. */
  readonly earlierStates?: EarlierStates;
  /** Runs queries over earlier states. */
  readonly pastQueries?: PastQueries;
  /** Sources of permissions in addition to the base model. */
  readonly permissions?: readonly PermissionSource[];
  /** Authorization server of this process, whose tokens are accepted. */
  readonly authorizationServer?: TrustedIssuer;
  /** Asserts that notifications may be sent to an inbox. @throws LwsError `malformed-body` if not */
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
   * Accepts a connection upgrade to WebSocket. The component then authorizes the request and responds on the socket.
   * @param head bytes received after the request
   * @returns false if the component does not handle the request
   */
  upgrade?(req: IncomingMessage, socket: Duplex, head: Buffer): boolean;
  start?(): Promise<void> | void;
  /** Preloads optional modules. Called a few seconds after the first request. */
  warm?(): void;
  stop?(): Promise<void> | void;
  /** True while background work is running. The storage of a deployment is then not closed. */
  isBusy?(): boolean;
  /** True while clients are subscribed. The storage may then be closed to open another one, but not for being idle. */
  isFollowed?(): boolean;
  /** Ends endless responses. Called when the server shuts down, before it waits for the other responses. */
  drain?(): void;
}

/** Contribution of one component to a member of `Installation`. */
export type Offer<K extends keyof Installation> =
  NonNullable<Installation[K]> extends readonly (infer T)[] ? T : NonNullable<Installation[K]>;
