/**
 * @typedef {{ readonly from: number, readonly to: number, readonly rpc: string, readonly table: string, readonly qps: number }} Load
 */

/** Calls that are announced ahead and recorded when the clock has passed them. */
export class AnnouncedLoads {
  /** @type {{ load: Load, recorded: number }[]} */
  #loads = [];

  /** @param {Load} load calls at `from + (i + 0.5) * 1000 / qps` while below `to` */
  announce(load) {
    this.#loads.push({ load, recorded: 0 });
  }

  /**
   * @param {number} nowMs
   * @param {(rpc: string, table: string, n: number) => void} record
   */
  pass(nowMs, record) {
    for (const entry of this.#loads) {
      const { load } = entry;
      let calls = 0;
      for (;;) {
        const at = load.from + ((entry.recorded + calls + 0.5) * 1000) / load.qps;
        if (!(at < load.to) || at > nowMs) break;
        calls += 1;
      }
      if (calls > 0) record(load.rpc, load.table, calls);
      entry.recorded += calls;
    }
  }
}
