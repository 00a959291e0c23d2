/** SERVICE requests to another endpoint, and their responses. */

/** Request to another endpoint. */
export interface ServiceCall {
  readonly endpoint: string;
  readonly query: string;
}

/** Unparsed body of the response, or an error with a message for the client. */
export type ServiceAnswer =
  | { readonly body: Uint8Array }
  | { readonly code: 'service-failed' | 'query-limit'; readonly message: string };
