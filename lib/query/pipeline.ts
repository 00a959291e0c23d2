/** Names of the actors that an operation passes, in their order. */
export interface Pipeline {
  readonly optimizers: readonly string[];
  readonly operators: readonly string[];
}

/** The actors of both engines: the same operation has the same result in the HTTP thread and in threads of queries. */
export const pipeline: Pipeline = {
  optimizers: ['describe-to-constructs-subject', 'assign-sources-exhaustive'],
  operators: ['source'],
};
