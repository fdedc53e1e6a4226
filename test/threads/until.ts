const LOOK_MS = 5;

/** Resolves once `holds` does; fails, saying what was waited for, when it does not within `withinMs`. */
export async function until(
  what: string,
  holds: () => boolean,
  withinMs: number = 10_000,
): Promise<void> {
  const deadline = performance.now() + withinMs;
  while (!holds()) {
    if (performance.now() > deadline) throw new Error(`after ${withinMs} ms still not: ${what}`);
    await new Promise((resolve) => setTimeout(resolve, LOOK_MS));
  }
}

export function pause(ms: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, ms));
}
