// tsc never deletes what it wrote for a source that is gone; a stale module would still be packed.
import { existsSync, readdirSync, rmSync } from 'node:fs';
import { join, relative } from 'node:path';
import { fileURLToPath } from 'node:url';

const root = fileURLToPath(new URL('..', import.meta.url));
const dist = join(root, 'dist');

for (const entry of readdirSync(dist, { recursive: true, withFileTypes: true })) {
  if (!entry.isFile()) continue;
  const file = join(entry.parentPath, entry.name);
  const stem = relative(dist, file).replace(/(\.d\.ts|\.js|\.js\.map)$/, '');
  if (!existsSync(join(root, 'src', `${stem}.ts`))) rmSync(file, { force: true });
}
