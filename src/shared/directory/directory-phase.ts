/**
 * The phase word: bit 0 is the table in which every search begins, bits 1 and 2 say what the other table is, the rest
 * counts the changes. Written by the control thread alone, so that the one that comes after a killed one knows where it
 * stopped:
 *
 *     clean (other table empty) -> migrating (into the other) -> dirty (flipped; the other is the old one) -> clean
 */
export type Phase = 'clean' | 'migrating' | 'dirty';

const PHASES: readonly Phase[] = ['clean', 'migrating', 'dirty'];

/** The table in which a search begins, 0 or 1. */
export const firstTable = (word: number): number => word & 1;
export const phaseOf = (word: number): Phase => PHASES[(word >>> 1) & 3] as Phase;

/** The word of the next phase. The end of a migration is the flip. */
export function nextPhase(word: number): number {
  const phase = phaseOf(word);
  const table = phase === 'migrating' ? 1 - firstTable(word) : firstTable(word);
  const next = (PHASES.indexOf(phase) + 1) % PHASES.length;
  return (((word >>> 3) + 1) << 3) | (next << 1) | table;
}
