/**
 * Changes of the protocol that `lws.profile` selects (chapter 20 of the rules). Each change is a member, which is read where
 * the change applies. Without a profile there are no changes.
 */
export interface Profile {
  /** Default values that replace the defaults of settings, by setting name. */
  readonly settings: Readonly<Record<string, unknown>>;
  /** True if a write creates missing containers above its target. */
  readonly makesParents: boolean;
  /** Media types of RDF patches in addition to SPARQL Update. */
  readonly patches: readonly string[];
  /** True if a patch that only inserts triples requires append access only. */
  readonly appendsByPatch: boolean;
  /** True if DELETE also requires write access to the container. */
  readonly deletesFromContainers: boolean;
  /** True if errors for nonexistent resources equal errors for unreadable resources, when errors are not masked. */
  readonly refusesAbsent: boolean;
  /** True if POST to a data resource requires append access before it returns 405. Otherwise, read access suffices. */
  readonly refusesPosts: boolean;
  /** True if a body requires a Content-Type. */
  readonly requiresContentType: boolean;
  /** True if the body that creates a container may consist of white space. */
  readonly takesBlankBodies: boolean;
  /** True if a CORS preflight allows all requested fields. */
  readonly echoesFields: boolean;
  /** Type of the root container, and relation from every resource to it. */
  readonly storageLinks: { readonly type: string; readonly relation: string };
  /** Scopes of accepted access tokens of OpenID providers (rule 20.11). */
  readonly tokenScopes: string;
}

/** Name of the setting that selects the profile. */
export const profileSetting = 'lws.profile';

/** Allows every origin. Unlike an explicit `*` (compared by identity), the origin is echoed, with credentials (rule 20.2). */
export const everyOrigin: readonly string[] = ['*'];

export const n3Patch = 'text/n3';

const pim = 'http://www.w3.org/ns/pim/space#';

/** Behaviour that Solid applications expect (Solid Protocol, Web Access Control). */
const solid: Profile = {
  settings: {
    'lws.access-control': 'wac',
    'lws.mask-forbidden-as-not-found': false,
    'lws.require-conditional-writes': false,
    'lws.cors.allowed-origins': everyOrigin,
  },
  makesParents: true,
  patches: [n3Patch],
  appendsByPatch: true,
  deletesFromContainers: true,
  refusesAbsent: true,
  refusesPosts: true,
  requiresContentType: true,
  takesBlankBodies: true,
  echoesFields: true,
  storageLinks: { type: `${pim}Storage`, relation: `${pim}storage` },
  tokenScopes: 'openid webid',
};

/** Profiles by value of `lws.profile`. */
export const profiles = { solid } as const satisfies Readonly<Record<string, Profile>>;

export type ProfileName = keyof typeof profiles;

/** Settings that a profile can set. The value `null` leaves them to the profile. */
export const governed: ReadonlySet<string> = new Set(
  Object.values(profiles).flatMap(({ settings }) => Object.keys(settings)),
);
