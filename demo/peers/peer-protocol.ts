/** What a peer process is told, and what it says. The blocks themselves go over TCP: `get KEY\n`, a line of JSON back. */
export type PeerCommand =
  | { readonly kind: 'start'; readonly delayMs: number; readonly backlog: number }
  /** From now on every answer is, or is not, an internal error; the transport works either way. */
  | { readonly kind: 'misbehave'; readonly errors: boolean }
  | { readonly kind: 'stop' };

export type PeerEvent =
  | { readonly kind: 'listening'; readonly port: number }
  | { readonly kind: 'misbehaving'; readonly errors: boolean }
  | { readonly kind: 'stopped'; readonly served: number; readonly failed: number };

export type Answer =
  | { readonly status: 'ok'; readonly block: string }
  | { readonly status: 'internal_error' };
