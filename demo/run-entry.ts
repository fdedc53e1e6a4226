import { DemoOptionError } from './option-values.js';

export interface DemoEntry<Options extends { readonly help: boolean }> {
  readonly usage: string;
  /** Throws DemoOptionError. */
  readonly parse: (args: readonly string[]) => Options;
  /** What did not add up; empty when all is well. */
  readonly run: (options: Options, signal: AbortSignal) => Promise<readonly string[]>;
}

/** A demo as a program. Exit codes: 0 well, 1 something did not add up or failed, 2 bad options, 130 interrupted. */
export async function runEntry<Options extends { readonly help: boolean }>({
  usage,
  parse,
  run,
}: DemoEntry<Options>): Promise<void> {
  const interrupt = new AbortController();
  const onSignal = () => {
    // The second time at once; what the first left is ended and removed on exit.
    if (interrupt.signal.aborted) process.exit(130);
    interrupt.abort();
  };
  process.on('SIGINT', onSignal);
  process.on('SIGTERM', onSignal);
  try {
    const options = parse(process.argv.slice(2));
    if (options.help) {
      console.log(usage);
      return;
    }
    const faults = await run(options, interrupt.signal);
    for (const fault of faults) console.error(`fault: ${fault}`);
    process.exitCode = faults.length === 0 ? 0 : 1;
  } catch (error) {
    if (interrupt.signal.aborted) process.exitCode = 130;
    else if (error instanceof DemoOptionError) {
      console.error(`${error.message}\n\n${usage}`);
      process.exitCode = 2;
    } else {
      console.error(error);
      process.exitCode = 1;
    }
  } finally {
    process.off('SIGINT', onSignal);
    process.off('SIGTERM', onSignal);
  }
}
