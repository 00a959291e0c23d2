/** Services that only some components need. */
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

/** For authentication suites, and those who issue tokens. */
export interface Authentication {
  /** Audiences that a credential may name, and whether one is required. */
  readonly audience: AudiencePolicy;
  /** Keys and identity providers from the documents of subjects. */
  readonly identifiers: IdentifierResolver;
  /** Verifier of proofs, and whether access tokens need one. */
  readonly dpop: DpopVerifier & { readonly required: boolean };
}

/** For pages of the server for users and controllers. */
export interface Administration {
  /** Owners added by other owners. Absent if access control lists decide. */
  readonly addedOwners: AddedOwners | undefined;
  /** Answers a GET or HEAD of a resource for another principal than that of the request. @throws LwsError as the request would */
  readonly read: (request: Pick<RouteRequest, 'req' | 'access'>, iri: string) => Promise<Reply>;
  /** Returns the decision about a hypothetical request. @throws LwsError `bad-request` */
  readonly explain: (request: ExplainedRequest) => Promise<Explanation>;
  /** Returns the size of a container with everything below it that the caller can read. @throws LwsError as GET, `too-busy` */
  readonly folderSize: (access: Access, iri: string) => Promise<FolderSize>;
  /** Returns the current metrics of the server and of all components. */
  readonly metrics: () => Promise<readonly Metric[]>;
  /** Version of Quadpod. */
  readonly version: string;
  /** How users call the executable: `npx quadpod`, `npm start --` or `quadpod`. */
  readonly executable: string;
  /** Returns all effective settings, for controllers, without the values of secrets. For a storage of a deployment, its own settings. */
  readonly describeSettings: () => readonly DescribedSetting[];
}
