/** Records of a batch: all of them are there, or none. */
export const batchKeys = 5;

export interface GroupFinding {
  readonly lost: number;
  /** Batches of which a part is there. */
  readonly torn: number;
  readonly unknown: number;
}

/** Batches of one bucket: number n writes the keys of group n mod `groups`, one batch under way at a time. */
export class BatchGroups {
  readonly groups: number;
  readonly #acknowledged: number[];
  #sent = 0;

  constructor(groups: number) {
    this.groups = groups;
    this.#acknowledged = Array.from({ length: groups }, () => 0);
  }

  get sent(): number {
    return this.#sent;
  }

  send(): number {
    this.#sent += 1;
    return this.#sent;
  }

  acknowledge(number: number): void {
    this.#acknowledged[number % this.groups] = number;
  }

  /** `found`: for each group the number that each of its keys holds; 0: the key is not there. */
  check(found: readonly (readonly number[])[]): GroupFinding {
    let lost = 0;
    let torn = 0;
    let unknown = 0;
    for (let group = 0; group < this.groups; group += 1) {
      const numbers = found[group] ?? [];
      const least = Math.min(...numbers);
      const most = Math.max(...numbers);
      if (most > this.#sent || numbers.some((one) => one > 0 && one % this.groups !== group)) {
        unknown += 1;
      } else if (least !== most || numbers.length !== batchKeys) torn += 1;
      else if (least < (this.#acknowledged[group] ?? 0)) lost += 1;
    }
    return { lost, torn, unknown };
  }
}
