// Entry of `npm run chaos:kv`.
import { percentile } from '../report/figures.js';
import { runEntry } from '../run-entry.js';
import { type ChaosOptions, chaosUsage, parseChaosOptions } from './chaos-options.js';
import { type ReplayedLog, replayLog } from './replay-log.js';
import { type ChaosRun, runChaos } from './run-chaos.js';

/** Within which a server with a log of 100 MB is to serve again, ms. */
const restartGoalMs = 2000;

async function run(options: ChaosOptions, signal: AbortSignal): Promise<readonly string[]> {
  const print = (line: string) => {
    if (!options.quiet) console.log(line);
  };
  print(`seed ${options.seed}, ${options.kills} kills`);
  const chaos = await runChaos(options, signal, (kill, restartMs, check) => {
    const { records, lost, reordered, torn } = check;
    print(
      `kill ${String(kill).padStart(3)}: served again after ${restartMs.toFixed(0)} ms; ${records} records looked at, ${lost} lost, ${reordered} reordered, ${torn} torn`,
    );
  });
  print(`\nwriting a log of ${options.logMb} MB`);
  const log = await replayLog(options.logMb, options.seed, signal);
  print(`\n${renderChaos(chaos, log)}`);
  return findFaults(chaos, log).map((fault) => `${fault} (--seed ${options.seed})`);
}

function findFaults(chaos: ChaosRun, log: ReplayedLog): string[] {
  const { lost, reordered, torn, unknown, acknowledged, batches, failures } = chaos;
  const faults: string[] = [];
  const expect = (holds: boolean, fault: string) => {
    if (!holds) faults.push(fault);
  };
  expect(lost === 0, `${lost} acknowledged records were lost`);
  expect(reordered === 0, `${reordered} records were reordered`);
  expect(torn === 0, `${torn} batches were torn`);
  expect(unknown === 0, `${unknown} records were never sent`);
  expect(acknowledged > 0 && batches > 0, 'nothing was written');
  expect(failures.length === 0, `${failures.length} puts failed: ${failures[0]}`);
  expect(log.lost === 0, `${log.lost} of ${log.records} records of the long log were lost`);
  return faults;
}

function renderChaos(chaos: ChaosRun, log: ReplayedLog): string {
  const row = (name: string, value: number | string) =>
    `${name.padEnd(46)}${String(value).padStart(12)}`;
  const ms = (value: number) => `${value.toFixed(0)} ms`;
  const goal = (value: number) => (value < restartGoalMs ? 'met' : 'MISSED');
  return [
    row('kill -9 under load', chaos.kills),
    row('  and of these again while it started', chaos.killsAtStart),
    row('puts acknowledged', chaos.acknowledged),
    row('batches sent', chaos.batches),
    row('records looked at', chaos.records),
    row('acknowledged records lost', chaos.lost),
    row('reordered within a bucket', chaos.reordered),
    row('torn batches', chaos.torn),
    row('restart, median', ms(percentile(chaos.restartsMs, 0.5))),
    row('restart, longest', ms(Math.max(...chaos.restartsMs))),
    '-'.repeat(58),
    row('long log, MB', (log.logBytes / 1e6).toFixed(1)),
    row('records in it', log.records),
    `${row('restart after kill -9', ms(log.killedMs))}  below ${restartGoalMs}: ${goal(log.killedMs)}`,
    `${row('restart without stores, all replayed', ms(log.emptyMs))}  below ${restartGoalMs}: ${goal(log.emptyMs)}`,
    row('records of it lost', log.lost),
    '',
  ].join('\n');
}

await runEntry({
  usage: chaosUsage,
  parse: (args) => parseChaosOptions(args, Date.now()),
  run,
});
