/** What is wrong with what a server has. */
export interface Finding {
  /** Acknowledged, and neither there nor overwritten by a later one. */
  readonly lost: number;
  /** A later put is there, and one before it is not. */
  readonly reordered: number;
  /** Was never sent, or is damaged. */
  readonly unknown: number;
}

export const nothingWrong: Finding = Object.freeze({ lost: 0, reordered: 0, unknown: 0 });

export function addFindings(one: Finding, other: Finding): Finding {
  return {
    lost: one.lost + other.lost,
    reordered: one.reordered + other.reordered,
    unknown: one.unknown + other.unknown,
  };
}
