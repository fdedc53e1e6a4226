import type { TopArguments } from '../command-line.js';
export async function runTop(_args: TopArguments): Promise<number> {
  return 0;
}
