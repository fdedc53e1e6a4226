import type { EngineFactory } from '../workers/kv/engine-messages.js';
import type { KvStoreOptions } from '../workers/kv/kv-options.js';
import { KvStore } from '../workers/kv/kv-store.js';
import type { RocksDbEngineOptions } from './rocksdb.js';

export interface OpenKvStoreOptions extends Omit<KvStoreOptions, 'engineOptions'> {
  /** Of the RocksDB stores. */
  readonly rocksdb?: Omit<RocksDbEngineOptions, 'dir'>;
  /** Another engine: a module that exports `(options) => Promise<EnginePort>`; gets `dir` and `engineOptions`. */
  readonly engine?: EngineFactory;
  readonly engineOptions?: Readonly<Record<string, unknown>>;
}

/**
 * Opens a directory as a key-value store, on RocksDB (peer `rocksdb-native`) unless another engine is given. Replays what
 * the log has and the stores lack.
 *
 * @throws ConfigError, DirectoryInUseError, DirectoryVersionError, LogCorruptError; then nothing was changed.
 */
export function openKvStore(options: OpenKvStoreOptions): Promise<KvStore> {
  const { rocksdb, engine, engineOptions, ...rest } = options;
  const factory = engine ?? {
    // By name, so that it is found beside this file in the built package.
    module: new URL('./rocksdb.js', import.meta.url).href,
    exportName: 'openRocksDbEngine',
  };
  return KvStore.open({ ...rest, engineOptions: { ...rocksdb, ...engineOptions } }, factory);
}
