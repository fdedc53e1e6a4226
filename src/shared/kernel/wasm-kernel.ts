/** The kernel in WebAssembly: compiled once, then instantiated per thread over the one shared memory. */
import type { Kernel } from './port.js';
import { type WasmMemory, type WasmModule, wasmApi } from './wasm-api.js';
import { KERNEL_BASE64 } from './wasm-bytes.js';

/** Decodes without `Buffer`: this folder knows no Node. */
function decode(base64: string): Uint8Array<ArrayBuffer> {
  const text = atob(base64);
  const bytes = new Uint8Array(text.length);
  for (let i = 0; i < text.length; i++) bytes[i] = text.charCodeAt(i);
  return bytes;
}

/** Compiles the embedded kernel. The module can be cloned to other threads. */
export function compileKernel(): WasmModule {
  return new (wasmApi().Module)(decode(KERNEL_BASE64));
}

export function instantiateKernel(module: WasmModule, memory: WasmMemory): Kernel {
  const { exports } = new (wasmApi().Instance)(module, { env: { memory } });
  const kernel = exports as unknown as Omit<Kernel, 'kind'>;
  return {
    kind: 'wasm',
    tryAcquire: kernel.tryAcquire,
    hold: kernel.hold,
    tryAcquireCoarse: kernel.tryAcquireCoarse,
    reserve: kernel.reserve,
    giveBack: kernel.giveBack,
    refund: kernel.refund,
    available: kernel.available,
    configure: kernel.configure,
    enter: kernel.enter,
    strictReserve: kernel.strictReserve,
    strictGiveBack: kernel.strictGiveBack,
    strictConfigure: kernel.strictConfigure,
    publishClock: kernel.publishClock,
    clock: kernel.clock,
    retireClock: kernel.retireClock,
    close: kernel.close,
    addLoop: kernel.addLoop,
  };
}
