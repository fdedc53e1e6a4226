/** What was thrown, or given as the reason of an abort, as a text: anything can be. Never throws. */
export function thrownText(thrown: unknown): string {
  try {
    return String(thrown instanceof Error ? thrown.message : thrown);
  } catch {
    return 'something without a text';
  }
}
