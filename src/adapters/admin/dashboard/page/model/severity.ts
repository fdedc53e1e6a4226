import type { ThrottledPair } from '../../../../../workers/state/runtime-state.js';

/** Share of its rate that a pair may still send, 0 to 1: of what it sent before, or of what it asks for now if that is more. */
export function shareLeft({ qpsLimit, currentQps, qpsBefore }: ThrottledPair): number {
  const before = Math.max(qpsBefore ?? 0, currentQps, qpsLimit);
  return before === 0 ? 1 : qpsLimit / before;
}

/** The most severe first: what loses the largest share, then the lower limit, then by name. */
export function bySeverity(a: ThrottledPair, b: ThrottledPair): number {
  return (
    shareLeft(a) - shareLeft(b) ||
    a.qpsLimit - b.qpsLimit ||
    compareText(a.rpc, b.rpc) ||
    compareText(a.table, b.table)
  );
}

function compareText(a: string, b: string): number {
  return a < b ? -1 : a > b ? 1 : 0;
}
