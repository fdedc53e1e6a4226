import type { ChildProcess } from 'node:child_process';

/** A process that ends with this one, whatever happens. */
export interface OwnedProcess {
  readonly child: ChildProcess;
  readonly exited: Promise<void>;
  /** Rejects when the process ends, or cannot be started; never resolves. */
  readonly lost: Promise<never>;
  /** Ends the process at once, also one that is frozen, and cleans up; safe at any time, also twice. */
  kill(): void;
  /** Once it has ended by itself: cleans up. */
  release(): void;
}

/** `cleanUp` removes what the process leaves behind; it may be called twice. */
export function ownProcess(
  child: ChildProcess,
  name: string,
  cleanUp: () => void = () => undefined,
): OwnedProcess {
  const kill = () => {
    child.kill('SIGKILL');
    cleanUp();
  };
  process.once('exit', kill);
  const exited = new Promise<void>((resolve) => child.once('exit', () => resolve()));
  const lost = Promise.race([
    exited,
    new Promise<never>((_, reject) => child.once('error', reject)),
  ]).then((): never => {
    throw new Error(`${name} ended early (exit code ${child.exitCode})`);
  });
  lost.catch(() => undefined);
  return {
    child,
    exited,
    lost,
    kill,
    release() {
      process.off('exit', kill);
      cleanUp();
    },
  };
}
