// Runs one row once and prints what it measured.
const [, , module] = process.argv;
if (module === undefined) throw new TypeError('usage: sample-process.mjs MODULE');
const { measure } = await import(new URL(module, new URL('../rows/', import.meta.url)).href);
const sample = await measure();
process.stdout.write(JSON.stringify(sample));
