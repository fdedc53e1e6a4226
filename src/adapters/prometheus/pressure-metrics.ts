import type { PressureSnapshot, PressureTotalsSnapshot } from '../../workers/snapshot.js';
import { labelValue } from './label-value.js';
import { type About, histogramSamples, type MetricSpec, single } from './metric-spec.js';

function total(
  type: 'counter' | 'gauge',
  about: About,
  read: (totals: PressureTotalsSnapshot) => number,
): MetricSpec {
  return single(type, about, ({ pressureTotals }) => read(pressureTotals));
}

function perBucket(about: About, read: (window: PressureSnapshot) => number): MetricSpec {
  return {
    ...about,
    type: 'gauge',
    labels: ['bucket'],
    read: ({ snapshot }) =>
      snapshot.pressure.map((window) => ({
        labels: { bucket: labelValue(window.bucket) },
        value: read(window),
      })),
  };
}

/** Of pressure windows. Buckets are shown while theirs is open, and no more of them than a snapshot has. */
export const PRESSURE_METRICS: readonly MetricSpec[] = [
  total(
    'gauge',
    { name: 'pressure_windows', help: 'Buckets that are left alone now.' },
    (t) => t.open,
  ),
  perBucket(
    {
      name: 'pressure',
      together: 'max',
      help: 'Pressure that opened the window of a bucket, above 0 and at most 1.',
    },
    (window) => window.pressure,
  ),
  perBucket(
    {
      name: 'pressure_window_remaining_seconds',
      together: 'max',
      help: 'How long a bucket is still left alone.',
    },
    ({ remainingMs }) => remainingMs / 1e3,
  ),
  single(
    'gauge',
    {
      name: 'pressure_windows_not_shown',
      help: 'Buckets left alone beyond the number that is shown one by one.',
    },
    ({ pressure, pressureTotals }) => pressureTotals.open - pressure.length,
  ),
  total(
    'counter',
    {
      name: 'pressure_signals_total',
      help: 'Reports of pressure that opened, changed or lifted a window.',
    },
    (t) => t.signals,
  ),
  total(
    'counter',
    {
      name: 'pressure_untracked_total',
      help: 'Reports of buckets that there was no room for.',
    },
    (t) => t.untracked,
  ),
  total(
    'counter',
    {
      name: 'pressure_refused_total',
      help: 'Calls that were refused because the window would have lasted longer than they wait.',
    },
    (t) => t.refused,
  ),
  total(
    'gauge',
    { name: 'pressure_waiting_calls', help: 'Calls that wait for the end of a window now.' },
    (t) => t.waiting,
  ),
  {
    name: 'pressure_wait_seconds',
    type: 'histogram',
    help: 'Waits for the end of a window.',
    labels: [],
    read: ({ snapshot }) => histogramSamples({}, snapshot.pressureTotals.wait),
  },
];
