/** Services that only a few components need. */
import type { AudiencePolicy } from '../authentication/audience.js';
import type { IdentifierResolver } from '../authentication/controlled-identifier.js';
import type { DpopVerifier } from '../authentication/dpop.js';
import type { AddedOwners } from '../authorization/added-owners.js';
import type { Access } from '../authorization/principal.js';
import type { Reply } from '../http/reply.js';
import type { RouteRequest } from '../http/route.js';
import type { ExplainedRequest, Explanation } from '../resources/explanation.js';
import type { FolderSize } from '../resources/folder-size.js';
import type { DescribedSetting } from '../settings/settings.js';
import type { Metric } from '../tools/metrics.js';

/** Services for authentication suites and token issuers. */
export interface Authentication {
  /** Accepted audiences of credentials, and whether credentials must have an audience. */
  readonly audience: AudiencePolicy;
  /** Resolves the keys and identity providers in the document of a subject. */
  readonly identifiers: IdentifierResolver;
  /** Verifies DPoP proofs. `required`: access tokens must be used with a proof. */
  readonly dpop: DpopVerifier & { readonly required: boolean };
}

/** Services for pages that users and controllers use. */
export interface Administration {
  /** Owners that other owners added. Absent under Web Access Control. */
  readonly addedOwners: AddedOwners | undefined;
  /** Handles a GET or HEAD of a resource for another caller than the caller of the request. @throws LwsError as the request */
  readonly read: (request: Pick<RouteRequest, 'req' | 'access'>, iri: string) => Promise<Reply>;
  /** Returns the decision for a hypothetical request. @throws LwsError `bad-request` */
  readonly explain: (request: ExplainedRequest) => Promise<Explanation>;
  /** Returns the size of a container with all descendants that the caller can read. @throws LwsError as GET, `too-busy` */
  readonly folderSize: (access: Access, iri: string) => Promise<FolderSize>;
  /** Returns the current metrics of the server and of all components. */
  readonly metrics: () => Promise<readonly Metric[]>;
  /** Version of the Quadpod package. */
  readonly version: string;
  /** Command with which users start the server: `npx quadpod`, `npm start --` or `quadpod`. */
  readonly executable: string;
  /** Returns all effective settings, without values of secrets. In a deployment: only settings of the storage. */
  readonly describeSettings: () => readonly DescribedSetting[];
}
