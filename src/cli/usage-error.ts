/** What was asked for cannot be meant: exit code 2. The message is for people and names the argument. */
export class UsageError extends Error {
  override readonly name = 'UsageError';
}

/** The command cannot do what it was asked for: exit code 1. The message is for people. */
export class CommandError extends Error {
  override readonly name = 'CommandError';
}
