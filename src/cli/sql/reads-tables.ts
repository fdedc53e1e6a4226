/**
 * Whether a statement may look at a table. False only for single statements that surely do not: `BEGIN` must not already
 * settle which state its transaction sees.
 */
export function mayReadTables(sql: string): boolean {
  const quiet =
    /^\s*(?:begin|start|commit|end|rollback|abort|set|reset|show|discard|deallocate|close|savepoint|release)\b/i;
  if (!quiet.test(sql)) return true;
  return /;\s*\S/.test(sql);
}
