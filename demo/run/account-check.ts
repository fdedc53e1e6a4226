import type { RunRecord } from './run-record.js';

/** What the clients, the service and its store say must be one story. Gives what does not add up. */
export function findDiscrepancies(name: string, run: RunRecord): string[] {
  const { service, sent, busy, cold, hot } = run;
  const differ = (what: string, left: number, right: number) =>
    left === right ? [] : [`${name}: ${what}: ${left} against ${right}`];
  const arrived = cold.arrived + hot.arrived;
  const ended = cold.ok + cold.failed + hot.ok + hot.failed;
  return [
    ...differ('calls that arrived and calls that ended', arrived, ended),
    ...differ(
      'attempts sent and calls that the service saw',
      sent,
      service.accepted + service.refused,
    ),
    ...differ('BUSY replies received and refusals by the service', busy, service.refused),
    ...differ(
      'calls that the service accepted and changes in its store',
      service.accepted,
      service.storedChanges,
    ),
    ...differ(
      'calls that ended well and calls that the service accepted',
      cold.ok + hot.ok,
      service.accepted,
    ),
  ];
}
