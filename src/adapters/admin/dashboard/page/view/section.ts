import type { RuntimeState } from '../../../../../workers/state/runtime-state.js';
import type { Board } from '../model/board.js';
import type { Formats } from '../model/formats.js';
import { el } from './dom.js';

/** What every part of the page is drawn from. */
export interface Scene {
  readonly board: Board;
  readonly state: RuntimeState;
  readonly formats: Formats;
  /** The backend's now by what is known of it, ms since the runtime's start, and the same in ms since 1970. */
  readonly nowMs: number;
  readonly wallMs: number;
}

export interface Section {
  readonly element: HTMLElement;
  draw(scene: Scene): void;
}

/** A part of the page under its heading. */
export function section(title: string, ...children: readonly (Node | string)[]): HTMLElement {
  const id = title.toLowerCase().replaceAll(/[^a-z0-9]+/g, '-');
  return el(
    'section',
    { 'aria-labelledby': `${id}-title`, id },
    el('h2', { id: `${id}-title` }, title),
    ...children,
  );
}

/** `14:02:31 (3 min)`. */
export function whenText(atMs: number | null | undefined, scene: Scene): string {
  if (atMs === null || atMs === undefined) return 'not known';
  const { formats, nowMs, wallMs } = scene;
  const ageMs = Math.max(0, nowMs - atMs);
  return `${formats.time(wallMs - ageMs, wallMs)} (${formats.duration(Math.floor(ageMs / 1000) * 1000)})`;
}
