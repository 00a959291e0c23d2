/** What a query wants of other endpoints, in the words of SERVICE. */

/** What a query asks of another endpoint. */
export interface ServiceCall {
  readonly endpoint: string;
  readonly query: string;
}

/** Its answer as it came, or why there is none, in words that the client may read. */
export type ServiceAnswer =
  | { readonly body: Uint8Array }
  | { readonly code: 'service-failed' | 'query-limit'; readonly message: string };
