/** The one block of shared memory of a runtime, with its kernel. Created by the owner, opened by every other thread. */
import type { Kernel } from './kernel/port.js';
import { createTwin } from './kernel/twin.js';
import { type WasmMemory, type WasmModule, wasmApi } from './kernel/wasm-api.js';
import { compileKernel, instantiateKernel } from './kernel/wasm-kernel.js';
import { type Capacity, type Layout, layOut } from './layout.js';

/** The arena as one thread sees it. */
export interface Arena {
  readonly layout: Layout;
  readonly kernel: Kernel;
  readonly buffer: SharedArrayBuffer;
  readonly i32: Int32Array;
  readonly u64: BigUint64Array;
  readonly f64: Float64Array;
}

/** What another thread needs to open the arena; can be cloned. Either memory and module, or a plain buffer. */
export interface ArenaHandle {
  readonly capacity: Capacity;
  readonly memory?: WasmMemory;
  readonly module?: WasmModule;
  readonly buffer?: SharedArrayBuffer;
}

export interface CreatedArena {
  readonly arena: Arena;
  readonly handle: ArenaHandle;
  /** Why the twin serves it, where WebAssembly memory was refused. */
  readonly fallback: Error | undefined;
}

const PAGE = 65_536;

/** @param twin do not even try WebAssembly. */
export function createArena(capacity: Capacity, twin: boolean): CreatedArena {
  const layout = layOut(capacity);
  let fallback: Error | undefined;
  if (!twin) {
    try {
      const pages = Math.ceil(layout.bytes / PAGE);
      const memory = new (wasmApi().Memory)({ initial: pages, maximum: pages, shared: true });
      const module = compileKernel();
      const handle = { capacity, memory, module };
      return { arena: openArena(handle), handle, fallback };
    } catch (error) {
      fallback = error as Error;
    }
  }
  const handle = { capacity, buffer: new SharedArrayBuffer(layout.bytes) };
  return { arena: openArena(handle), handle, fallback };
}

export function openArena({ capacity, memory, module, buffer }: ArenaHandle): Arena {
  const words = memory?.buffer ?? buffer;
  if (words === undefined)
    throw new TypeError('an arena handle has a memory or a buffer, got neither');
  return {
    layout: layOut(capacity),
    kernel:
      memory === undefined ? createTwin(words) : instantiateKernel(module as WasmModule, memory),
    buffer: words,
    i32: new Int32Array(words),
    u64: new BigUint64Array(words),
    f64: new Float64Array(words),
  };
}
