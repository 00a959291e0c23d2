/** Names of the actors that process an operation, in the order of processing. */
export interface Pipeline {
  readonly optimizers: readonly string[];
  readonly operators: readonly string[];
}

/** Actors of both engines: an operation has the same result in the HTTP thread and in query threads. */
export const pipeline: Pipeline = {
  optimizers: ['describe-to-constructs-subject', 'assign-sources-exhaustive'],
  operators: ['source'],
};
