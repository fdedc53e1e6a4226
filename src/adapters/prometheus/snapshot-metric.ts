import type { MetricSpec, Sample } from './metric-spec.js';

/** What prom-client's register asks of a metric. Values are set as they are: prom-client's own counters can only be added to. */
export class SnapshotMetric {
  /** prom-client renames counters when it writes OpenMetrics. */
  name: string;
  readonly help: string;
  readonly type: MetricSpec['type'];
  readonly labelNames: readonly string[];
  readonly aggregator: 'sum' | NonNullable<MetricSpec['together']>;
  readonly #read: () => readonly Sample[] | Promise<readonly Sample[]>;

  constructor(
    prefix: string,
    { name, help, type, labels, together }: Omit<MetricSpec, 'read'>,
    read: () => readonly Sample[] | Promise<readonly Sample[]>,
  ) {
    this.name = prefix + name;
    this.help = help;
    this.type = type;
    this.labelNames = labels;
    this.aggregator = together ?? 'sum';
    this.#read = read;
  }

  async get(): Promise<object> {
    const { name, help, type, aggregator } = this;
    const values = (await this.#read()).map(({ labels, value, suffix }) => ({
      labels,
      value,
      ...(suffix !== undefined && { metricName: name + suffix }),
    }));
    return { name, help, type, aggregator, values };
  }

  /** Totals belong to the runtime. */
  reset(): void {}
}
