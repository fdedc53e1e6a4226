/** What an engine's thread and its owner say to each other. */

/** What a thread starts with. */
export interface EngineSeed {
  /** A data directory in which the system tables are made. undefined: this thread makes one. */
  readonly template: Blob | undefined;
  /** Whether to hand one out. */
  readonly wantsTemplate: boolean;
  readonly maxMemoryBytes: number;
}

export interface EngineTask {
  /** Rows to show from now on: name of the file, and its text. */
  readonly files: readonly (readonly [name: string, text: string])[];
  /** Whole messages of the frontend. */
  readonly bytes: Uint8Array;
}

export type EngineReport =
  | { readonly kind: 'template'; readonly template: Blob }
  /** It takes tasks. */
  | { readonly kind: 'ready' }
  /** A part of the backend's answer to the task in hand. */
  | { readonly kind: 'data'; readonly bytes: Uint8Array }
  | { readonly kind: 'done' }
  /** It cannot go on. */
  | { readonly kind: 'broken'; readonly reason: string };
