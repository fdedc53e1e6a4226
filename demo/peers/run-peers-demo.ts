import type { PeerDemoOptions } from './peer-options.js';
import {
  findPeerFaults,
  type PeersReport,
  renderPeersTable,
  renderPhase,
  summarisePeers,
} from './peers-report.js';
import { createPeersScenario, phases } from './peers-scenario.js';
import { type PeersRun, runPeers } from './run-peers.js';

export interface PeersDemoResult {
  readonly report: PeersReport;
  readonly table: string;
  /** What did not add up; empty when all is well. */
  readonly faults: readonly string[];
}

/** The same story twice, first with the breaker switched off, then with it. */
export async function runPeersDemo(
  options: PeerDemoOptions,
  signal: AbortSignal,
): Promise<PeersDemoResult> {
  const scenario = createPeersScenario(options);
  const print = (line: string) => {
    if (!options.quiet) console.log(line);
  };
  const run = async (breaker: boolean): Promise<PeersRun> => {
    print(breaker ? '\nwith the breaker' : 'without the breaker');
    const record = await runPeers({
      scenario,
      breaker,
      signal,
      onPhase: (phase) => print(`  ${phase} for ${scenario.durationsMs[phase] / 1000} s ...`),
    });
    print(`  a connect to the stopped peer hung once ${record.backlogTaken} had been taken`);
    for (const phase of phases) print(renderPhase(phase, record.phases[phase]));
    return record;
  };
  const without = await run(false);
  const held = await run(true);
  const report = {
    without: summarisePeers(without, scenario),
    with: summarisePeers(held, scenario),
  };
  return {
    report,
    table: renderPeersTable(report, scenario),
    faults: [...findPeerFaults(without, scenario, false), ...findPeerFaults(held, scenario, true)],
  };
}
