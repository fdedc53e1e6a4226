/** What a server can say about how hard it is pressed: the built-in sources, and the shape of one's own. */
import { performance } from 'node:perf_hooks';
import { describeValue } from '../../shared/quota.js';
import { checkKnown } from '../../workers/known-options.js';
import { LONGEST_WAIT_MS } from '../../workers/wait-options.js';

export interface PressureSource {
  /**
   * Now: 0, none, to 1; what is out of range counts as the nearer end. `bucket` is of the request that asks, where the server
   * tells buckets apart. Asked twice per request, so it must be cheap.
   */
  pressure(bucket: string | undefined): number;
  /** The server begins; returns what is done when it closes. For sources that measure. */
  start?(): () => void;
}

/** Where the pressure begins, and where it is 1. */
export interface PressureRamp {
  readonly from: number;
  readonly full: number;
}

/**
 * The length of a queue, or any other number that `read` returns: no pressure up to `from`, 1 at `full` and beyond, and
 * evenly rising in between.
 * @throws TypeError, RangeError for a bad ramp.
 */
export function queueLength(
  read: (bucket: string | undefined) => number,
  ramp: PressureRamp,
): PressureSource {
  if (typeof read !== 'function')
    throw new TypeError(`read must be a function, got ${describeValue(read)}`);
  if (typeof ramp !== 'object' || ramp === null)
    throw new TypeError(`ramp must be { from, full }, got ${describeValue(ramp)}`);
  checkKnown(ramp, RAMP_OPTIONS);
  const { from, full } = checkRamp(ramp);
  return {
    pressure(bucket) {
      const length = read(bucket);
      // What is no number is for the server to judge, and to report.
      return typeof length === 'number' ? rise(length, from, full) : length;
    },
  };
}

export interface LoopUtilizationOptions extends Partial<PressureRamp> {
  /** Over which the utilization is measured, ms, 1 to a day. Default: 500. */
  readonly sampleMs?: number;
  /** @internal Since the last call. */
  readonly measure?: () => number;
}

const RAMP_OPTIONS: ReadonlySet<string> = new Set<keyof PressureRamp>(['from', 'full']);
const LOOP_OPTIONS: ReadonlySet<string> = new Set<keyof LoopUtilizationOptions>([
  'from',
  'full',
  'sampleMs',
  'measure',
]);

const SAMPLE_MS = 500;
const FROM = 0.8;
const FULL = 1;

/**
 * The share of its time that the event loop of this thread is busy, measured again every `sampleMs`. Default: pressure from
 * 0.8 on, 1 at a whole one. The timer runs while a server uses it and keeps no process alive.
 * @throws TypeError, RangeError for bad options.
 */
export function eventLoopUtilization(options: LoopUtilizationOptions = {}): PressureSource {
  checkKnown(options, LOOP_OPTIONS);
  const { sampleMs = SAMPLE_MS, measure = loopMeter() } = options;
  const { from, full } = checkRamp({ from: options.from ?? FROM, full: options.full ?? FULL });
  if (typeof sampleMs !== 'number')
    throw new TypeError(`sampleMs must be a number, got ${describeValue(sampleMs)}`);
  if (!(sampleMs >= 1 && sampleMs <= LONGEST_WAIT_MS))
    throw new RangeError(`sampleMs must be from 1 to ${LONGEST_WAIT_MS}, got ${sampleMs}`);
  let users = 0;
  let timer: NodeJS.Timeout | undefined;
  let busy = 0;
  return {
    pressure: () => rise(busy, from, full),
    start() {
      users += 1;
      if (timer === undefined) {
        measure();
        timer = setInterval(() => {
          busy = measure();
        }, sampleMs);
        timer.unref();
      }
      let isUser = true;
      return () => {
        if (!isUser) return;
        isUser = false;
        users -= 1;
        if (users > 0) return;
        clearInterval(timer);
        timer = undefined;
        busy = 0;
      };
    },
  };
}

function loopMeter(): () => number {
  let last = performance.eventLoopUtilization();
  return () => {
    const now = performance.eventLoopUtilization();
    const { utilization } = performance.eventLoopUtilization(now, last);
    last = now;
    return utilization;
  };
}

function checkRamp({ from, full }: PressureRamp): PressureRamp {
  for (const [name, value] of Object.entries({ from, full })) {
    if (typeof value !== 'number')
      throw new TypeError(`${name} must be a number, got ${describeValue(value)}`);
    if (!Number.isFinite(value)) throw new RangeError(`${name} must be finite, got ${value}`);
  }
  if (from >= full) throw new RangeError(`from must be below full (${full}), got ${from}`);
  return { from, full };
}

/** NaN stays what it is: a fault of the source. */
function rise(value: number, from: number, full: number): number {
  if (value <= from) return 0;
  return value >= full ? 1 : (value - from) / (full - from);
}
