// npm run screenshots: takes the pictures of docs/images from a live runtime under load. Takes about 70 s; needs Chromium.
import { mkdirSync, statSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { openChromium } from './open-chromium.mjs';
import { startScreenshotLoad } from './screenshot-load.mjs';

const CALM_MS = 20_000;
const FLOOD_MS = 35_000;
const folder = fileURLToPath(new URL('../docs/images/', import.meta.url));

/** @type {{ name: string, width: number, height: number, scale: number, colorScheme: 'light' | 'dark' }[]} */
const pictures = [
  { name: 'dashboard', width: 1180, height: 1180, scale: 1, colorScheme: 'light' },
  { name: 'dashboard-dark', width: 1180, height: 1180, scale: 1, colorScheme: 'dark' },
  { name: 'dashboard-phone', width: 360, height: 760, scale: 2, colorScheme: 'light' },
];

mkdirSync(folder, { recursive: true });
const browser = await openChromium();
const load = await startScreenshotLoad(CALM_MS);
try {
  const { url } = await load.runtime.admin.listen({ port: 0 });
  const pages = [];
  for (const { width, height, scale, colorScheme } of pictures) {
    const context = await browser.newContext({
      viewport: { width, height },
      deviceScaleFactor: scale,
      colorScheme,
      locale: 'en-GB',
      timezoneId: 'UTC',
    });
    const page = await context.newPage();
    await page.goto(url);
    pages.push(page);
  }
  await sleep(CALM_MS + FLOOD_MS);
  for (const [i, page] of pages.entries()) {
    const path = `${folder}${pictures[i]?.name}.png`;
    await page.waitForSelector('#slowed-tables tbody tr');
    // The name of no machine belongs in a picture.
    await page.evaluate(
      `document.querySelector('#who bdi').textContent = 'backend 10001, process 4711 on be-1'`,
    );
    await page.screenshot({ path });
    console.log(`${path}: ${Math.round(statSync(path).size / 1024)} KiB`);
  }
} finally {
  await browser.close();
  await load.stop();
}
