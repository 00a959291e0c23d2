/** Turns names of files into segments of IRIs and back, and says which files are no content. Pure. */

/** A name of a file as a segment of an IRI: everything but what RFC 3986 has as `pchar` is percent-encoded. */
export const segmentOf = (name: string): string =>
  encodeURIComponent(name).replace(/%(?:24|26|2B|2C|3A|3B|3D|40)/g, decodeURIComponent);

/**
 * The name of the file for a segment of an IRI: decoded where that can be undone, and else as it is. No two segments have the same.
 */
export function nameOfSegment(segment: string): string {
  try {
    const name = decodeURIComponent(segment);
    return segmentOf(name) === segment && !/[%\\/]/.test(name) ? name : segment;
  } catch {
    // The percent-encoded bytes are no UTF-8: the segment stays as it is.
    return segment;
  }
}

const clutter: ReadonlySet<string> = new Set('.ds_store thumbs.db desktop.ini __macosx .git .svn .hg'.split(' '));

/** Whether a file is one that systems and programs leave in folders: `.DS_Store`, `__MACOSX/`, folders of version control. */
export const isClutter = (path: string): boolean =>
  path.split('/').some((name) => name.startsWith('._') || clutter.has(name.toLowerCase()));

/** Whether the storage reserves a name for auxiliary resources (access list, linkset). */
export const isAuxiliary = (path: string): boolean => /\.(?:acl|meta)\/?$/i.test(path);

/** The last segment, without a slash. */
export const lastSegment = (path: string): string => path.replace(/\/$/, '').replace(/^.*\//s, '');
