// Headless Chromium as the system has it; playwright-core brings none of its own.
import { accessSync, constants } from 'node:fs';
import { delimiter, join } from 'node:path';
import { chromium } from 'playwright-core';

const FLAGS = [
  '--no-sandbox',
  '--disable-gpu',
  '--no-first-run',
  '--disable-background-networking',
  '--disable-sync',
];

/** Fails where there is none: a test of the page must not pass for want of a browser. */
function findChromium() {
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

/** @returns {Promise<import('playwright-core').Browser>} */
export async function openChromium() {
  return chromium.launch({ executablePath: findChromium(), headless: true, args: FLAGS });
}
