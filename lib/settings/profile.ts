/**
 * Changes of the protocol by `lws.profile` (chapter 20 of the rules). Each change has a name here and is queried where it
 * applies. Without a profile there are none.
 */
export interface Profile {
  /** Default values of settings, by name. */
  readonly settings: Readonly<Record<string, unknown>>;
  /** A write creates missing containers above its target. */
  readonly makesParents: boolean;
  /** Media types of RDF patches in addition to SPARQL Update. */
  readonly patches: readonly string[];
  /** A patch that only inserts requires append only. */
  readonly appendsByPatch: boolean;
  /** DELETE also requires write on the container. */
  readonly deletesFromContainers: boolean;
  /** If errors reveal existence, they do so for nonexistent resources too. */
  readonly refusesAbsent: boolean;
  /** POST to a data resource returns 403 to callers without append before it returns 405. */
  readonly refusesPosts: boolean;
  /** A body requires a Content-Type. */
  readonly requiresContentType: boolean;
  /** A new container may have a body of white space. */
  readonly takesBlankBodies: boolean;
  /** A preflight allows the requested fields. */
  readonly echoesFields: boolean;
  /** Type of the root, and the relation of every resource to it. */
  readonly storageLinks: { readonly type: string; readonly relation: string };
  /** Scopes of accepted access tokens of OpenID providers (rule 20.11). */
  readonly tokenScopes: string;
}

/** The setting that names the profile. */
export const profileSetting = 'lws.profile';

/** Every origin. Distinguished from an explicit `*` by identity of this list: the origin is echoed, with credentials (rule 20.2). */
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

/** By value of `lws.profile`. */
export const profiles = { solid } as const satisfies Readonly<Record<string, Profile>>;

export type ProfileName = keyof typeof profiles;

/** Settings that a profile may set. `null` counts as not set. */
export const governed: ReadonlySet<string> = new Set(
  Object.values(profiles).flatMap(({ settings }) => Object.keys(settings)),
);
