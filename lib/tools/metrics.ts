/** Metrics of the running server. A metric never names a resource or a subject. */

export interface Metric {
  /** Prometheus name without the product prefix: `outbox_deliveries_total`. */
  readonly name: string;
  readonly help: string;
  readonly kind: 'counter' | 'gauge';
  readonly values: readonly { readonly labels?: Readonly<Record<string, string>>; readonly value: number }[];
}

/** Creates a metric with a single value. */
export const metric = (kind: Metric['kind'], name: string, help: string, value: number): Metric => ({
  name,
  help,
  kind,
  values: [{ value }],
});

/** Creates a metric with one label, for a small set of label values. */
export const metricBy = (
  { kind, name, help }: Pick<Metric, 'kind' | 'name' | 'help'>,
  label: string,
  values: Iterable<readonly [string, number]>,
): Metric => ({ kind, name, help, values: [...values].map(([of, value]) => ({ labels: { [label]: of }, value })) });

/** A completed request. */
export interface Answered {
  readonly method: string;
  /** Class of its route: `resource`, `linkset`, `acl`, or the name of an endpoint. */
  readonly route: string;
  /** Status code; 499 if the client disconnected. */
  readonly status: number;
  readonly seconds: number;
}

/** A batch that LevelDB has synced. */
export interface WrittenBatch {
  readonly transactions: number;
  /** Approximate size of the batch. */
  readonly bytes: number;
  readonly seconds: number;
}
