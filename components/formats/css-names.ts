/**
 * Names of files in the data folder of a Community Solid Server 7, and names of resources: both ways, as that server has them. Pure.
 *
 * A file is named as its resource, decoded. Where the extension does not say the media type, one that does stands after `$.`.
 */
import { extension, lookup } from 'mime-types';
import { TransferError } from '../../lib/plugin/formats.js';

/** Media types of the server's table (mime-db 1.52) that are others in ours (1.54); those that ours alone has are none there. */
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
  // Of the server itself.
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
/** The extension where there is none for a media type: the metadata says it. */
const unknown = 'unknown';

const extensionOf = (name: string): string => /\.([^./]+)$/.exec(name)?.[1] ?? '';

/** The media type that the server takes from the name of a file. */
export function cssTypeOf(name: string): string {
  const found = extensionOf(name).toLowerCase();
  if (Object.hasOwn(itsTypes, found)) return itsTypes[found]!;
  return (found !== '' && !notItsTypes.has(found) && lookup(found)) || anyType;
}

/** The name without the extension after `$.`. */
export function withoutMark(name: string): string {
  const found = extensionOf(name);
  return found !== '' && name.endsWith(`$.${found}`) ? name.slice(0, -found.length - 2) : name;
}

/** What the server decodes in no name: slashes and backslashes, however often they are encoded. The odd parts of a split. */
const delimiter = /(\\|%(?:25)*(?:2f|5c))/i;
/** Characters that Windows has in no name are encoded in those of files. */
const forbidden = /[<>:"|?*]/g;
const encodedForbidden = /%25(3C|3E|3A|22|7C|3F|2A)/g;
const escapeOf = (character: string): string => `%${character.charCodeAt(0).toString(16).toUpperCase()}`;

/** @param change of what lies between the delimiters; those are normalised */
const betweenDelimiters = (segment: string, change: (part: string) => string): string =>
  segment
    .split(delimiter)
    .map((part, index) => (index % 2 === 0 ? change(part) : part === '\\' ? '%5C' : part.toUpperCase()))
    .join('');

/** A name of a file as a segment of an IRI, which is spelled as the server spells it: nothing is encoded that `encodeURIComponent` is not. */
export const cssSegmentOf = (name: string): string =>
  betweenDelimiters(name, (part) =>
    encodeURIComponent(part).replace(encodedForbidden, (_, code: string) => (code === '2A' ? '*' : `%${code}`)),
  );

/** A path in the folder, with its marks taken away, as a path of an IRI. */
export const cssPathOf = (path: string): string => path.split('/').map(cssSegmentOf).join('/');

/** An IRI such that all spellings of it that are one to the server are the same. */
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

/** The name of the file for a segment, without a mark. @throws TransferError for what that server cannot have */
export function cssNameOf(segment: string): string {
  try {
    return betweenDelimiters(segment, (part) => decodeURIComponent(part).replace(forbidden, escapeOf));
  } catch (cause) {
    throw new TransferError(`${segment} is no name that a Community Solid Server can have: it is no UTF-8.`, { cause });
  }
}

/** The name of a file, with its mark where it needs one. @param essence the media type, without parameters */
export function cssFileName(name: string, essence: string): { readonly name: string; readonly isUnknown: boolean } {
  // What looks like a mark would be taken for one.
  if (cssTypeOf(name) === essence && withoutMark(name) === name) return { name, isUnknown: false };
  const found = extension(essence);
  const isUnknown = found === false || cssTypeOf(`.${found}`) !== essence;
  return { name: `${name}$.${isUnknown ? unknown : found}`, isUnknown };
}

/** Which names were there, of each folder around the last one: files come folder by folder. */
export class FolderNames {
  private readonly folders: { readonly path: string; readonly names: Set<string> }[] = [];

  /** Whether nothing was so named in its folder. @param path without a slash at its end */
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
