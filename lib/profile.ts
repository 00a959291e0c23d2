/**
 * What `lws.profile` changes of the interface (chapter 20 of the rules): each departure has one name here, and who has to depart asks for it.
 * Without a profile there is none of them.
 */
export interface Profile {
  /** Values of settings, by name, where nobody gives one. */
  readonly settings: Readonly<Record<string, unknown>>;
  /** A write makes the containers that are missing above its name. */
  readonly makesParents: boolean;
  /** Media types of patches of RDF, beside SPARQL Update. */
  readonly patches: readonly string[];
  /** A patch that only inserts needs no more than append. */
  readonly appendsByPatch: boolean;
  /** DELETE needs write on the container as well. */
  readonly deletesFromContainers: boolean;
  /** Where refusals are told, they are told of what is absent as well. */
  readonly refusesAbsent: boolean;
  /** POST to a data resource is refused to who may not append to it, before it is told that there is no such method. */
  readonly refusesPosts: boolean;
  /** A body says what it is. */
  readonly requiresContentType: boolean;
  /** A container that is created may have a body of white space. */
  readonly takesBlankBodies: boolean;
  /** A preflight allows the fields that it asks for. */
  readonly echoesFields: boolean;
  /** The type of the root, and the relation of every resource to it. */
  readonly storageLinks: { readonly type: string; readonly relation: string };
}

/** The setting that names the profile. */
export const profileSetting = 'lws.profile';

/** Every origin. It is told from a `*` that somebody gave by being this list: it is echoed, with credentials (rule 20.2). */
export const everyOrigin: readonly string[] = ['*'];

export const n3Patch = 'text/n3';

const pim = 'http://www.w3.org/ns/pim/space#';

/** What applications of Solid expect (Solid Protocol, Web Access Control). */
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
};

/** By the value of `lws.profile`. */
export const profiles = { solid } as const satisfies Readonly<Record<string, Profile>>;

export type ProfileName = keyof typeof profiles;

/** The settings that a profile may set; to give `null` for one is to give nothing. */
export const governed: ReadonlySet<string> = new Set(
  Object.values(profiles).flatMap(({ settings }) => Object.keys(settings)),
);
