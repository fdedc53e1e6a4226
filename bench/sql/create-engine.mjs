// What the start of `spillway sql` is compared with: a process that makes one PGlite and asks it once.
import { PGlite } from '@electric-sql/pglite';

const begun = performance.now();
const pg = await PGlite.create();
await pg.query('SELECT 1');
process.stdout.write(`${performance.now() - begun}\n`);
process.exit(0);
