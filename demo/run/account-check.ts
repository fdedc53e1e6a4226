import type { RunRecord } from './run-record.js';

/**
 * What the clients, the service and its store say must be one story. An attempt without an answer
 * may have been done or not, so it widens the bounds. Gives what does not add up.
 */
export function findDiscrepancies(name: string, run: RunRecord): string[] {
  const { service, sent, busy, unanswered, cold, hot } = run;
  const compare = (what: string, told: number, least: number, most: number) =>
    told >= least && told <= most
      ? []
      : [
          `${name}: ${what}: ${told}, it should be ${least === most ? least : `${least} to ${most}`}`,
        ];
  const ok = cold.ok + hot.ok;
  const arrived = cold.arrived + hot.arrived;
  const ended = ok + cold.failed + hot.failed;
  return [
    ...compare('calls that ended', ended, arrived, arrived),
    ...compare(
      'calls that the service saw',
      service.accepted + service.refused,
      sent - unanswered,
      sent,
    ),
    ...compare('refusals by the service', service.refused, busy, busy + unanswered),
    ...compare('calls that the service accepted', service.accepted, ok, ok + unanswered),
    ...compare(
      "changes in the service's store",
      service.storedChanges,
      service.accepted,
      service.accepted,
    ),
  ];
}
