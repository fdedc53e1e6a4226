/** 1, 2 or 5 times a power of ten, at least `raw`. */
export function niceStep(raw: number): number {
  const power = 10 ** Math.floor(Math.log10(raw));
  const factor = [1, 2, 5, 10].find((candidate) => candidate * power >= raw * (1 - 1e-9)) ?? 10;
  return factor * power;
}

/** Marks of an axis from 0 that is to hold `max`, in about `count` steps. @returns ascending; the last is the axis' end. */
export function valueTicks(max: number, count: number, finest: number): number[] {
  const step = Math.max(finest, niceStep(Math.max(max, finest) / count));
  const steps = Math.max(1, Math.ceil(max / step - 1e-9));
  return Array.from({ length: steps + 1 }, (_, i) => Number((i * step).toPrecision(12)));
}
