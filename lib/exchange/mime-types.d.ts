declare module 'mime-types' {
  /** The media type for an extension without its full stop. */
  export function lookup(extension: string): string | false;
  /** The extension, without its full stop, for a media type. */
  export function extension(mediaType: string): string | false;
}
