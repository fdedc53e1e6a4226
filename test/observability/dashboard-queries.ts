import { readFileSync } from 'node:fs';

export interface Panel {
  readonly id: number;
  readonly type: string;
  readonly title: string;
  readonly description?: string;
  readonly gridPos: {
    readonly x: number;
    readonly y: number;
    readonly w: number;
    readonly h: number;
  };
  readonly datasource?: { readonly type: string; readonly uid: string };
  readonly fieldConfig?: {
    readonly defaults: { readonly unit?: string };
    readonly overrides?: readonly { readonly matcher: { readonly options: string } }[];
  };
  readonly targets?: readonly Target[];
}

export interface Target {
  readonly refId: string;
  readonly expr: string;
  readonly legendFormat: string;
  readonly datasource: { readonly type: string; readonly uid: string };
  readonly format?: string;
}

export interface Variable {
  readonly name: string;
  readonly type: string;
  readonly query: string | { readonly query: string };
}

export interface Dashboard {
  readonly panels: readonly Panel[];
  readonly templating: { readonly list: readonly Variable[] };
}

const FILE = new URL('../../docs/observability/spillway-dashboard.json', import.meta.url);

export const dashboard: Dashboard = JSON.parse(readFileSync(FILE, 'utf8'));

/** Every query of the dashboard, with all of its variables in it, as Grafana asks it. */
export function dashboardQueries(): { readonly panel: string; readonly expr: string }[] {
  return dashboard.panels.flatMap(({ title, targets = [] }) =>
    targets.map(({ expr }) => ({ panel: title, expr: substitute(expr) })),
  );
}

export function substitute(expr: string): string {
  return expr.replaceAll('$__rate_interval', '1m').replace(/\$(instance|rpc)\b/g, '.+');
}
