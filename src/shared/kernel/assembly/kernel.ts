// The compare-and-swap loops, and nothing else. Every export is one straight line but for its loop: a thread that is
// terminated dies at a loop turn, where nothing has been taken yet, or after the export has finished.
//
// A bucket is GCRA in one u64 word: config epoch (top 6 bits) and theoretical arrival time in ns (58 bits, 9.1 years).
// The epoch indexes one of the immutable slots behind the word. A slot is written while no word names it, and published
// by the compare-and-swap that moves the word to its epoch; whoever read an older slot fails its own swap.
// Layout and return codes are those of layout.ts and port.ts; a test compares them.

const STATE: usize = 0 // u32: not 0 once the runtime closes
const CLOCK: usize = 64 // u64: coarse clock in ns, 0 when it must not be used

const EPOCH_SHIFT: u64 = 58
const EPOCHS: u64 = 64
const TIME: u64 = 0x3ffffffffffffff
const MAX_DEBT: u64 = 31536000000000000 // a year: no sum of debts reaches the epoch bits
const MAX_COST: u64 = 0x4000000000000000 // beyond any debt and any burst, and no sum with a time wraps

// Turns after a lost swap, about 0.3 us: measured, two cores on one bucket take twice as many this way. The look at a
// word that others may write keeps the compiler from dropping the loop.
const BACKOFF: i32 = 1024
const NEVER: u64 = 1

const REFUSED: i32 = 0
const GRANTED: i32 = 1
const NOT_ENFORCED: i32 = 2
const STALE: i32 = 3
const IMPOSSIBLE: i32 = 4
const CLOSED: i32 = 5

const SLOTS: usize = 64 // byte offset of a bucket's slots
// Copies of the slot in force beside the word, each marked with its epoch: the common case need not wait for the word
// to know where its slot is. A copy of another epoch is not used.
const HOT_INTERVAL: usize = 8
const HOT_TAU: usize = 16
const INTERVAL: usize = 0
const TAU: usize = 8
const CHANGED_AT: usize = 16
const PLAN: usize = 24
const QPS: usize = 32
const BURST: usize = 40

const CELL_WORD: usize = 8
const CELL_SLOTS: usize = 16
const PLAN_SHIFT: u64 = 54
const INTERVAL_MASK: u64 = 0x3fffffffffffff

const RESERVED: usize = 8 // f64 counters of a thread's stats block; DIRECT is at 0
const RETURNED: usize = 24
const REFUSALS: usize = 40

@inline function slotOf(bucket: usize, word: u64): usize {
  return bucket + SLOTS + (<usize>((word >> EPOCH_SHIFT) & 7) << 6)
}

@inline function cellSlot(cell: usize, word: u64): usize {
  return cell + CELL_SLOTS + (<usize>((word >> EPOCH_SHIFT) & 3) << 4)
}

@inline function count(counter: usize, n: f64): void {
  store<f64>(counter, load<f64>(counter) + n)
}

// interval x n, up to MAX_COST: a product that wraps would be cheap.
@inline function costOf(interval: u64, n: f64): u64 {
  if (n == 1) return interval
  return <f64>interval * n < <f64>MAX_COST ? interval * <u64>n : MAX_COST
}

@inline function leaveUndo(out: usize, begin: u64, end: u64): void {
  store<u64>(out, begin)
  store<u64>(out, end, 8)
}

// `out` 0: what is taken is never given back.
@inline function take(bucket: usize, counter: usize, out: usize, now: u64, n: f64): i32 {
  let word = atomic.load<u64>(bucket)
  while (true) {
    let interval = load<u64>(bucket, HOT_INTERVAL)
    let tau = load<u64>(bucket, HOT_TAU)
    if (((word ^ interval) | (word ^ tau)) > TIME) {
      const slot = slotOf(bucket, word)
      interval = load<u64>(slot, INTERVAL)
      tau = load<u64>(slot, TAU)
    }
    interval &= TIME
    tau &= TIME
    if (interval == 0) return NOT_ENFORCED
    const cost = costOf(interval, n)
    const arrival = word & TIME
    const begin = arrival > now ? arrival : now
    const next = begin + cost
    if (next > now + tau) return cost > tau ? IMPOSSIBLE : REFUSED
    const epoch = word & ~TIME
    const seen = atomic.cmpxchg<u64>(bucket, word, epoch | next)
    if (seen == word) {
      count(counter, n)
      if (out) leaveUndo(out, epoch | begin, epoch | next)
      return GRANTED
    }
    // Another core has the line: let it take a few more before fetching it back, instead of fighting over each one.
    for (let turn = 0; turn < BACKOFF; turn++) if (atomic.load<u64>(CLOCK) == NEVER) break
    word = atomic.load<u64>(bucket)
  }
}

export function tryAcquire(bucket: usize, stats: usize, now: f64, n: f64): i32 {
  if (load<u32>(STATE)) return CLOSED
  const code = take(bucket, stats, 0, <u64>now, n)
  if (code == REFUSED) count(stats + REFUSALS, 1)
  return code
}

// As tryAcquire, for a call that has not started: to be spent, or given back.
export function hold(bucket: usize, stats: usize, out: usize, now: f64, n: f64): i32 {
  if (load<u32>(STATE)) return CLOSED
  return take(bucket, stats + RESERVED, out, <u64>now, n)
}

// No look at the state: closing clears the clock.
export function tryAcquireCoarse(bucket: usize, stats: usize): i32 {
  const now = atomic.load<u64>(CLOCK)
  return now == 0 ? STALE : take(bucket, stats, 0, now, 1)
}

// Wait in ns; below 0: -(wait) - 1 of a refusal; NaN: not enforced; -Infinity: more debt than can be held.
export function reserve(bucket: usize, stats: usize, out: usize, now: f64, n: f64, maxWait: f64): f64 {
  const at = <u64>now
  let word = atomic.load<u64>(bucket)
  while (true) {
    const slot = slotOf(bucket, word)
    const interval = load<u64>(slot, INTERVAL)
    if (interval == 0) return NaN
    const tau = load<u64>(slot, TAU)
    const arrival = word & TIME
    const begin = arrival > at ? arrival : at
    const next = begin + costOf(interval, n)
    if (next - at > MAX_DEBT) return -Infinity
    const wait: f64 = next > at + tau ? <f64>(next - at - tau) : 0
    if (wait > maxWait) return -wait - 1
    const epoch = word & ~TIME
    const seen = atomic.cmpxchg<u64>(bucket, word, epoch | next)
    if (seen == word) {
      count(stats + RESERVED, n)
      leaveUndo(out, epoch | begin, epoch | next)
      return wait
    }
    word = seen
  }
}

// Sound when nothing was taken behind: the word is still at our end. Behind others' backs only while nobody is in debt,
// under the same configuration, and before our own permit would have overflowed the bucket (`begin` has not passed):
// later, what we give back would be a permit more than the bucket ever held.
export function giveBack(bucket: usize, stats: usize, out: usize, now: f64, n: f64): i32 {
  const begin = load<u64>(out)
  const end = load<u64>(out, 8)
  let word = atomic.load<u64>(bucket)
  while (true) {
    let back = begin
    if (word != end) {
      if ((word ^ end) > TIME || (begin & TIME) < <u64>now) return 0
      const arrival = word & TIME
      if (arrival > <u64>now + load<u64>(slotOf(bucket, word), TAU)) return 0
      const cost = end - begin
      back = (word & ~TIME) | (arrival > cost ? arrival - cost : 0)
    }
    const seen = atomic.cmpxchg<u64>(bucket, word, back)
    if (seen == word) {
      count(stats + RETURNED, n)
      return 1
    }
    word = seen
  }
}

export function refund(bucket: usize, n: f64): void {
  let word = atomic.load<u64>(bucket)
  while (true) {
    const cost = costOf(load<u64>(slotOf(bucket, word), INTERVAL), n)
    const arrival = word & TIME
    const seen = atomic.cmpxchg<u64>(bucket, word, (word & ~TIME) | (arrival > cost ? arrival - cost : 0))
    if (seen == word) return
    word = seen
  }
}

// Tokens, negative in debt; NaN: not enforced.
export function available(bucket: usize, now: f64): f64 {
  const word = atomic.load<u64>(bucket)
  const slot = slotOf(bucket, word)
  const interval = <f64>load<u64>(slot, INTERVAL)
  const tau = <f64>load<u64>(slot, TAU)
  const left = now + tau - <f64>(word & TIME)
  return interval == 0 ? NaN : min(left, tau) / interval
}

// One writer. interval 0: not enforced. Unless reset, balance and debt are kept in tokens.
export function configure(bucket: usize, now: f64, interval: f64, tau: f64, qps: f64, burst: f64, reset: i32): void {
  const at = <u64>now
  let word = atomic.load<u64>(bucket)
  const old = slotOf(bucket, word)
  const oldInterval = <f64>load<u64>(old, INTERVAL)
  const oldTau = <f64>load<u64>(old, TAU)
  const fresh = reset != 0 || oldInterval == 0
  const epoch = ((word >> EPOCH_SHIFT) + 1) % EPOCHS << EPOCH_SHIFT
  const slot = slotOf(bucket, epoch)
  store<u64>(slot, <u64>interval, INTERVAL)
  store<u64>(slot, <u64>tau, TAU)
  store<u64>(slot, at, CHANGED_AT)
  store<u64>(slot, load<u64>(old, PLAN) + <u64>fresh, PLAN)
  store<f64>(slot, qps, QPS)
  store<f64>(slot, burst, BURST)
  while (true) {
    let next = at
    if (!fresh) {
      const left = min(now + oldTau - <f64>(word & TIME), oldTau)
      const kept = max(min(floor(left * (interval / oldInterval)), tau), -<f64>MAX_DEBT)
      next = <u64>(now + tau - kept)
    }
    const seen = atomic.cmpxchg<u64>(bucket, word, epoch | next)
    if (seen == word) break
    word = seen
  }
  store<u64>(bucket, epoch | <u64>interval, HOT_INTERVAL)
  store<u64>(bucket, epoch | <u64>tau, HOT_TAU)
}

// A pair's strict limiter: the word is the next free time, spacing is the interval, no burst.
export function enter(cell: usize): i32 {
  atomic.add<u64>(cell, 1)
  const word = atomic.load<u64>(cell, CELL_WORD)
  return i32((load<u64>(cellSlot(cell, word)) & INTERVAL_MASK) != 0)
}

export function strictReserve(cell: usize, stats: usize, out: usize, now: f64, maxWait: f64): f64 {
  const at = <u64>now
  let word = atomic.load<u64>(cell, CELL_WORD)
  while (true) {
    const interval = load<u64>(cellSlot(cell, word)) & INTERVAL_MASK
    if (interval == 0) return NaN
    const free = word & TIME
    const begin = free > at ? free : at
    const wait = <f64>(begin - at)
    if (wait > maxWait) return -wait - 1
    if (begin - at > MAX_DEBT) return -Infinity
    const epoch = word & ~TIME
    const seen = atomic.cmpxchg<u64>(cell, word, epoch | (begin + interval), CELL_WORD)
    if (seen == word) {
      count(stats + RESERVED, 1)
      leaveUndo(out, epoch | begin, epoch | (begin + interval))
      return wait
    }
    word = seen
  }
}

export function strictGiveBack(cell: usize, stats: usize, out: usize): i32 {
  const begin = load<u64>(out)
  const end = load<u64>(out, 8)
  if (atomic.cmpxchg<u64>(cell, end, begin, CELL_WORD) != end) return 0
  count(stats + RETURNED, 1)
  return 1
}

// One writer. interval 0 removes the limit. Unless reset, what is queued stays queued.
export function strictConfigure(cell: usize, now: f64, interval: f64, qps: f64, reset: i32): void {
  let word = atomic.load<u64>(cell, CELL_WORD)
  const packed = load<u64>(cellSlot(cell, word))
  const fresh = reset != 0 || (packed & INTERVAL_MASK) == 0 || interval == 0
  const epoch = ((word >> EPOCH_SHIFT) + 1) % EPOCHS << EPOCH_SHIFT
  const slot = cellSlot(cell, epoch)
  store<u64>(slot, <u64>interval | (((packed >> PLAN_SHIFT) + <u64>fresh) << PLAN_SHIFT))
  store<f64>(slot, qps, 8)
  while (true) {
    const seen = atomic.cmpxchg<u64>(cell, word, epoch | (fresh ? <u64>now : word & TIME), CELL_WORD)
    if (seen == word) return
    word = seen
  }
}

export function publishClock(now: f64): void {
  const at = <u64>now
  let word = atomic.load<u64>(CLOCK)
  while (word < at && !atomic.load<u32>(STATE)) {
    const seen = atomic.cmpxchg<u64>(CLOCK, word, at)
    if (seen == word) {
      // A clock of 0 before and after closing looks the same.
      if (atomic.load<u32>(STATE)) atomic.store<u64>(CLOCK, 0)
      return
    }
    word = seen
  }
}

// Closes to all that is new, then takes the coarse clock away; a publisher that comes between takes it away itself.
export function close(): void {
  atomic.store<u32>(STATE, 1)
  atomic.store<u64>(CLOCK, 0)
}

// Takes the coarse clock away if it still reads `stale`.
export function retireClock(stale: f64): void {
  atomic.cmpxchg<u64>(CLOCK, <u64>stale, 0)
}

export function clock(): f64 {
  return <f64>atomic.load<u64>(CLOCK)
}

// For the benchmark: what an atomic add costs in here.
export function addLoop(word: usize, n: i32): void {
  for (let i = 0; i < n; i++) atomic.add<u64>(word, 1)
}
