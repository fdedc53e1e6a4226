/**
 * `no-control-thread`: it has died and its successor is not there yet; limits in force stay in force. `closing`: the
 * runtime takes no more calls, or is closed.
 */
export type RuntimeHealth = 'ok' | 'no-control-thread' | 'closing';
