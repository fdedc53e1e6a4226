/** Headless Chromium as the system has it. */
import { accessSync, constants } from 'node:fs';
import { delimiter, join } from 'node:path';
import { type Browser, chromium, type Page } from 'playwright-core';

const FLAGS = [
  '--no-sandbox',
  '--disable-gpu',
  '--no-first-run',
  '--disable-background-networking',
  '--disable-sync',
];

/** @throws Error: there is none. A test of the page must not pass for want of a browser. */
function findChromium(): string {
  const folders = [...(process.env['PATH'] ?? '').split(delimiter), '/usr/bin'];
  for (const folder of folders) {
    const file = join(folder, 'chromium');
    try {
      accessSync(file, constants.X_OK);
      return file;
    } catch {
      // Not here.
    }
  }
  throw new Error('no chromium on the PATH: install it (apt-get install chromium)');
}

export function openBrowser(): Promise<Browser> {
  return chromium.launch({ executablePath: findChromium(), headless: true, args: FLAGS });
}

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
