/** Pages in headless Chromium, and what went wrong in them. */
import type { Browser, Page } from 'playwright-core';

export interface WatchedPage {
  readonly page: Page;
  /** Errors of scripts and of the console, dialogs, and what the content security policy refused. */
  problems(): Promise<readonly string[]>;
  /** Addresses that were asked for. */
  readonly asked: readonly string[];
}

export interface PageSetting {
  readonly width?: number;
  readonly colorScheme?: 'light' | 'dark';
  readonly locale?: string;
}

/** A page in a browser context of its own, in English and UTC. */
export async function openPage(
  browser: Browser,
  { width = 1200, colorScheme = 'light', locale = 'en-GB' }: PageSetting = {},
): Promise<WatchedPage> {
  const context = await browser.newContext({
    viewport: { width, height: 800 },
    colorScheme,
    reducedMotion: 'reduce',
    locale,
    timezoneId: 'UTC',
  });
  const page = await context.newPage();
  const problems: string[] = [];
  const asked: string[] = [];
  page.on('pageerror', ({ message }) => problems.push(message));
  page.on('console', (message) => {
    // That a backend is gone is in the console of every browser.
    const isNetwork = message.text().startsWith('Failed to load resource');
    if (message.type() !== 'log' && !isNetwork) problems.push(message.text());
  });
  page.on('dialog', (dialog) => {
    problems.push(`dialog ${dialog.message()}`);
    void dialog.dismiss();
  });
  page.on('request', (request) => asked.push(request.url()));
  await page.addInitScript(
    `globalThis.refused = [];
     addEventListener('securitypolicyviolation', (event) => refused.push(event.violatedDirective));`,
  );
  return {
    page,
    asked,
    problems: async () => [
      ...problems,
      ...((await page.evaluate('globalThis.refused')) as string[]).map((what) => `refused ${what}`),
    ],
  };
}
