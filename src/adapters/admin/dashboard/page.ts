import { PAGE_HTML, SCRIPT_HASH, STYLE_HASH } from './page-asset.js';

/** The dashboard as one document: it loads nothing but `state` and `events` beside itself, and holds no data. */
export interface DashboardPage {
  /** To be served as `text/html; charset=utf-8`. */
  readonly html: string;
  /** Of its only script and its only style sheet, as a content security policy names them: `sha256-...`. */
  readonly scriptHash: string;
  readonly styleHash: string;
  /** For the header of that name: its own script and style, requests to its own origin, and no sink of HTML. */
  readonly contentSecurityPolicy: string;
}

export function dashboardPage(): DashboardPage {
  const contentSecurityPolicy = [
    "default-src 'none'",
    `script-src '${SCRIPT_HASH}'`,
    `style-src '${STYLE_HASH}'`,
    "connect-src 'self'",
    'img-src data:',
    "base-uri 'none'",
    "form-action 'none'",
    "frame-ancestors 'none'",
    "require-trusted-types-for 'script'",
    "trusted-types 'none'",
  ].join('; ');
  return {
    html: PAGE_HTML,
    scriptHash: SCRIPT_HASH,
    styleHash: STYLE_HASH,
    contentSecurityPolicy,
  };
}
