/**
 * Converts between resource names and file names in the data directory of Community Solid Server 7, as that server does.
 * A file has the percent-decoded name of its resource. If its extension does not imply the media type, `$.` and
 * another extension follow.
 */
import { extension, lookup } from 'mime-types';
import { TransferError } from '../../lib/plugin/formats.js';

/**
 * Media types by extension, where Community Solid Server (mime-db 1.52) and this server (1.54) differ. Extensions that only
 * this server knows have no type there.
 */
const itsTypes: Readonly<Record<string, string>> = {
  aac: 'audio/x-aac',
  es: 'application/ecmascript',
  fdf: 'application/vnd.fdf',
  hsj2: 'image/hsj2',
  jpgm: 'video/jpm',
  js: 'application/javascript',
  mjs: 'application/javascript',
  mts: 'model/vnd.mts',
  prc: 'application/x-mobipocket-ebook',
  sql: 'application/x-sql',
  wav: 'audio/wave',
  xfdf: 'application/vnd.adobe.xfdf',
  // Extensions that Community Solid Server itself defines.
  acl: 'text/turtle',
  acr: 'text/turtle',
  meta: 'text/turtle',
};
const notItsTypes: ReadonlySet<string> = new Set(
  (
    '210 adts aml amlx appinstaller appx appxbundle bary bdo blend brush brushset btf cld cwl dcm dcmp dib dng dpx drm fbx gdraw ' +
    'gform ggs gjam gmap gscript gsite ipynb jaii jais jfif jt jxl lottie m2t m2ts m4b mht mhtml msix msixbundle one onea p21 pyo ' +
    'pyox step stp stpnc u3d uo usda vdx vsdx vtx wgsl xdcf xhtm xsf'
  ).split(' '),
);

export const anyType = 'application/octet-stream';
/** Extension of files whose media type has no extension. The metadata file then contains the type. */
const unknown = 'unknown';

const extensionOf = (name: string): string => /\.([^./]+)$/.exec(name)?.[1] ?? '';

/** Returns the media type that Community Solid Server derives from a file name. */
export function cssTypeOf(name: string): string {
  const found = extensionOf(name).toLowerCase();
  if (Object.hasOwn(itsTypes, found)) return itsTypes[found]!;
  return (found !== '' && !notItsTypes.has(found) && lookup(found)) || anyType;
}

/** Returns a file name without `$.` and its extension. */
export function withoutMark(name: string): string {
  const found = extensionOf(name);
  return found !== '' && name.endsWith(`$.${found}`) ? name.slice(0, -found.length - 2) : name;
}

/** Matches (encoded) slashes and backslashes, which the server never decodes. `split` returns the matches at odd indexes. */
const delimiter = /(\\|%(?:25)*(?:2f|5c))/i;
/** Matches characters that are encoded in file names, because Windows does not allow them. */
const forbidden = /[<>:"|?*]/g;
const encodedForbidden = /%25(3C|3E|3A|22|7C|3F|2A)/g;
const escapeOf = (character: string): string => `%${character.charCodeAt(0).toString(16).toUpperCase()}`;

/** Normalizes delimiters in a segment. @param change applied to the text between the delimiters */
const betweenDelimiters = (segment: string, change: (part: string) => string): string =>
  segment
    .split(delimiter)
    .map((part, index) => (index % 2 === 0 ? change(part) : part === '\\' ? '%5C' : part.toUpperCase()))
    .join('');

/** Converts a file name to an IRI segment as the server does, which encodes no more than `encodeURIComponent` does. */
const cssSegmentOf = (name: string): string =>
  betweenDelimiters(name, (part) =>
    encodeURIComponent(part).replace(encodedForbidden, (_, code: string) => (code === '2A' ? '*' : `%${code}`)),
  );

/** Converts a file path to an IRI path. */
export const cssPathOf = (path: string): string => path.split('/').map(cssSegmentOf).join('/');

/** Normalizes an IRI: IRIs that the server treats as equal become equal. */
export function canonicalIri(iri: string): string {
  const [, start = '', path = '', rest = ''] = /^([^:/?#]+:\/\/[^/?#]*)([^?#]*)(.*)$/s.exec(iri) ?? [];
  try {
    return start === '' ? iri : start + path.split('/').map(canonicalSegment).join('/') + rest;
  } catch {
    return iri;
  }
}

const canonicalSegment = (segment: string): string =>
  betweenDelimiters(segment, (part) => encodeURIComponent(decodeURIComponent(part)));

/** Returns the file name of an IRI segment, without `$.` extension. @throws TransferError for a name that the server rejects */
export function cssNameOf(segment: string): string {
  try {
    return betweenDelimiters(segment, (part) => decodeURIComponent(part).replace(forbidden, escapeOf));
  } catch (cause) {
    throw new TransferError(`${segment} is not a valid name for a Community Solid Server: it is not UTF-8.`, { cause });
  }
}

/** Returns the file name, with a `$.` extension if needed. @param essence media type without parameters */
export function cssFileName(name: string, essence: string): { readonly name: string; readonly isUnknown: boolean } {
  // If the name already ends in a `$.` extension, add another: the server would read it as a media type.
  if (cssTypeOf(name) === essence && withoutMark(name) === name) return { name, isUnknown: false };
  const found = extension(essence);
  const isUnknown = found === false || cssTypeOf(`.${found}`) !== essence;
  return { name: `${name}$.${isUnknown ? unknown : found}`, isUnknown };
}

/** Names in each directory on the path of the last file. Files arrive directory by directory, so other names are dropped. */
export class FolderNames {
  private readonly folders: { readonly path: string; readonly names: Set<string> }[] = [];

  /** Returns true if the name is new in its directory. @param path without a trailing slash */
  add(path: string): boolean {
    const names = this.namesAround(path);
    const isNew = !names.has(path);
    names.add(path);
    return isNew;
  }

  has(path: string): boolean {
    return this.namesAround(path).has(path);
  }

  private namesAround(path: string): Set<string> {
    const folder = path.slice(0, path.lastIndexOf('/') + 1);
    while (this.folders.length > 0 && !folder.startsWith(this.folders.at(-1)!.path)) this.folders.pop();
    if (this.folders.at(-1)?.path !== folder) this.folders.push({ path: folder, names: new Set() });
    return this.folders.at(-1)!.names;
  }
}
