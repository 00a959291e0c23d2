declare module 'mime-types' {
  /** Returns the media type for an extension without full stop, or false. */
  export function lookup(extension: string): string | false;
  /** Returns the extension without full stop for a media type, or false. */
  export function extension(mediaType: string): string | false;
}
