/** A call of SERVICE to another endpoint, and its answer. */

/** What a query asks of another endpoint. */
export interface ServiceCall {
  readonly endpoint: string;
  readonly query: string;
}

/** The unparsed body of the answer, or why there is none, in words that the client may read. */
export type ServiceAnswer =
  | { readonly body: Uint8Array }
  | { readonly code: 'service-failed' | 'query-limit'; readonly message: string };
