/** The part of the WebAssembly interface that is used here, typed without the DOM library. */

/** A compiled module; can be cloned to other threads. */
export type WasmModule = object & { readonly kind?: 'module' };
/** A shared memory; cloning it shares it. */
export interface WasmMemory {
  readonly buffer: SharedArrayBuffer;
}

interface WasmApi {
  readonly Module: new (bytes: Uint8Array) => WasmModule;
  readonly Instance: new (module: WasmModule, imports: object) => { readonly exports: object };
  readonly Memory: new (limits: { initial: number; maximum: number; shared: true }) => WasmMemory;
}

export function wasmApi(): WasmApi {
  return (globalThis as unknown as { WebAssembly: WasmApi }).WebAssembly;
}
