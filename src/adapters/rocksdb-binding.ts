/** The part of `rocksdb-native` (3.18), which ships no types, that is used here. */
export interface RocksDbBatch {
  tryPut(key: Uint8Array, value: Uint8Array): void;
  tryDelete(key: Uint8Array): void;
  get(key: Uint8Array): Promise<Uint8Array | null>;
  tryFlush(): void;
  flush(): Promise<void>;
  destroy(): void;
}

export interface RocksDb {
  ready(): Promise<void>;
  close(): Promise<void>;
  flush(): Promise<void>;
  get(key: Uint8Array): Promise<Uint8Array | null>;
  read(options: { readonly capacity: number; readonly autoDestroy: boolean }): RocksDbBatch;
  write(options: { readonly capacity: number; readonly autoDestroy: boolean }): RocksDbBatch;
  iterator(
    range: { readonly gte: Uint8Array; readonly lt: Uint8Array },
    options: { readonly limit: number; readonly capacity: number },
  ): AsyncIterable<{ readonly key: Uint8Array; readonly value: Uint8Array }>;
  /** Always a string; read on the calling thread. */
  getProperty(name: string): Promise<string | undefined>;
}

export interface RocksDbOptions {
  readonly writeBufferSize: number;
  readonly maxWriteBufferNumber: number;
  readonly maxBackgroundJobs: number;
}

type RocksDbClass = new (path: string, options: RocksDbOptions) => RocksDb;

/** Loads the peer. It needs `libatomic.so.1` (Debian: libatomic1). */
export async function loadRocksDb(): Promise<RocksDbClass> {
  // Not a literal: the package has no declarations to resolve.
  const name: string = 'rocksdb-native';
  try {
    return ((await import(name)) as { readonly default: RocksDbClass }).default;
  } catch (error) {
    throw new Error(
      'rocksdb-native cannot be loaded: install it (and on Debian libatomic1) to use this engine',
      { cause: error },
    );
  }
}
