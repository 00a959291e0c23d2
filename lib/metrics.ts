/** Numbers of the running server for those who watch it. A measure never names a resource or a subject. It must not know who asks. */

export interface Metric {
  /** As in Prometheus, without the prefix of the product: `outbox_deliveries_total`. */
  readonly name: string;
  readonly help: string;
  readonly kind: 'counter' | 'gauge';
  readonly values: readonly { readonly labels?: Readonly<Record<string, string>>; readonly value: number }[];
}

/** A measure of one value. */
export const metric = (kind: Metric['kind'], name: string, help: string, value: number): Metric => ({
  name,
  help,
  kind,
  values: [{ value }],
});

/** A measure with one label, whose values are few and known. */
export const metricBy = (
  { kind, name, help }: Pick<Metric, 'kind' | 'name' | 'help'>,
  label: string,
  values: Iterable<readonly [string, number]>,
): Metric => ({ kind, name, help, values: [...values].map(([of, value]) => ({ labels: { [label]: of }, value })) });

/** A request that was answered. */
export interface Answered {
  readonly method: string;
  /** The class of its route: `resource`, `linkset`, `acl`, or the name of an endpoint. */
  readonly route: string;
  /** 499: the client went away. */
  readonly status: number;
  readonly seconds: number;
}

/** A batch that LevelDB has synced. */
export interface WrittenBatch {
  readonly transactions: number;
  /** About. */
  readonly bytes: number;
  readonly seconds: number;
}
