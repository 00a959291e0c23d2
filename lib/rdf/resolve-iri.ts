/** Resolves relative references (RFC 3986 5.2, strict, without further normalization). */

const form = /^(?:([^:/?#]+):)?(?:\/\/([^/?#]*))?([^?#]*)(?:\?([^#]*))?(?:#(.*))?$/s;

/** Resolves a reference against a base. If the reference has a scheme, only its dot segments are removed. */
export function resolveIri(reference: string, base: string): string {
  const [, scheme, authority, path, query, fragment] = form.exec(reference)! as (string | undefined)[];
  if (scheme !== undefined) return write(scheme, authority, withoutDots(path!), query, fragment);
  const [, ownScheme, ownAuthority, ownPath, ownQuery] = form.exec(base)! as (string | undefined)[];
  if (authority !== undefined) return write(ownScheme, authority, withoutDots(path!), query, fragment);
  if (path === '') return write(ownScheme, ownAuthority, ownPath!, query ?? ownQuery, fragment);
  const merged = path!.startsWith('/')
    ? path!
    : ownAuthority !== undefined && ownPath === ''
      ? `/${path}`
      : ownPath!.slice(0, ownPath!.lastIndexOf('/') + 1) + path;
  return write(ownScheme, ownAuthority, withoutDots(merged), query, fragment);
}

function write(scheme?: string, authority?: string, path?: string, query?: string, fragment?: string): string {
  return [
    scheme === undefined ? '' : `${scheme}:`,
    authority === undefined ? '' : `//${authority}`,
    path,
    query === undefined ? '' : `?${query}`,
    fragment === undefined ? '' : `#${fragment}`,
  ].join('');
}

/** Removes dot segments (RFC 3986 5.2.4). */
function withoutDots(path: string): string {
  if (!/(?:^|\/)\.{1,2}(?:\/|$)/.test(path)) return path;
  let input = path;
  const output: string[] = [];
  while (input !== '') {
    if (/^\.{1,2}(?:\/|$)/.test(input)) input = input.replace(/^\.+\/?/, '');
    else if (/^\/\.(?:\/|$)/.test(input)) input = `/${input.slice(3)}`;
    else if (/^\/\.\.(?:\/|$)/.test(input)) {
      input = `/${input.slice(4)}`;
      output.pop();
    } else {
      const [segment] = /^\/?[^/]*/.exec(input)!;
      output.push(segment);
      input = input.slice(segment.length);
    }
  }
  return output.join('');
}
