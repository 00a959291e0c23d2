/** Converts file names to IRI segments and back, and recognizes files that programs have added. Has no side effects. */

/** Returns the IRI segment for a file name: everything except `pchar` (RFC 3986 3.3) is percent-encoded. */
export const segmentOf = (name: string): string =>
  encodeURIComponent(name).replace(/%(?:24|26|2B|2C|3A|3B|3D|40)/g, decodeURIComponent);

/**
 * Returns the file name for an IRI segment: decoded if the encoding is reversible, otherwise unchanged. Distinct segments have
 * distinct names.
 */
export function nameOfSegment(segment: string): string {
  try {
    const name = decodeURIComponent(segment);
    return segmentOf(name) === segment && !/[%\\/]/.test(name) ? name : segment;
  } catch {
    // The percent-encoded bytes are not UTF-8: return the segment unchanged.
    return segment;
  }
}

const clutter: ReadonlySet<string> = new Set('.ds_store thumbs.db desktop.ini __macosx .git .svn .hg'.split(' '));

/** Returns true for files that operating systems and programs create in directories: `.DS_Store`, `__MACOSX/`, version control directories. */
export const isClutter = (path: string): boolean =>
  path.split('/').some((name) => name.startsWith('._') || clutter.has(name.toLowerCase()));

/** Returns true if the storage reserves the name for auxiliary resources (access list, linkset). */
export const isAuxiliary = (path: string): boolean => /\.(?:acl|meta)\/?$/i.test(path);

/** Returns the last segment, without a slash. */
export const lastSegment = (path: string): string => path.replace(/\/$/, '').replace(/^.*\//s, '');
