import { fileURLToPath } from 'node:url';
import type { ServiceDefinition } from '@grpc/grpc-js';
import { loadPeer } from './load-peer.js';

/** Messages of `spillway.kv.v1` as objects. A field that is optional in the protocol is undefined when it is absent. */
export interface PutKvRequest {
  readonly table: string;
  readonly buckets: readonly {
    readonly bucket: number;
    readonly records: readonly { readonly key: Uint8Array; readonly value?: Uint8Array }[];
  }[];
  readonly completion: 'COMPLETION_LOG' | 'COMPLETION_FLUSH';
  /** Empty: the attempts are not numbered. */
  readonly writer?: string;
  readonly attempt?: number;
}

export interface BucketResult {
  readonly bucket: number;
  readonly errorCode: number;
  readonly errorMessage: string;
  readonly logEndOffset?: number;
  readonly pressure?: number;
}

export interface PutKvResponse {
  readonly buckets: readonly BucketResult[];
}

export interface GetKvRequest {
  readonly table: string;
  readonly bucket: number;
  readonly keys: readonly Uint8Array[];
}

export interface GetKvResponse {
  readonly errorCode: number;
  readonly errorMessage: string;
  readonly values: readonly { readonly value?: Uint8Array }[];
}

export interface ScanKvRequest {
  readonly table: string;
  readonly bucket: number;
  readonly start: Uint8Array;
  readonly end?: Uint8Array;
  readonly limit: number;
}

export interface ScanKvResponse {
  readonly errorCode: number;
  readonly errorMessage: string;
  readonly rows: readonly { readonly key: Uint8Array; readonly value: Uint8Array }[];
  readonly hasMore: boolean;
}

export interface DescribeRequest {
  readonly tables: readonly string[];
}

export interface DescribeResponse {
  readonly tables: readonly {
    readonly name: string;
    readonly buckets: readonly { readonly bucket: number; readonly leader: string }[];
  }[];
}

/** Where the package has the protocol. */
export function kvProtoFile(): string {
  return fileURLToPath(new URL('../../proto/spillway/kv/v1/kv.proto', import.meta.url));
}

type ProtoLoader = typeof import('@grpc/proto-loader');

/** The service as `@grpc/grpc-js` takes it, for a server or a client. @throws Error without `@grpc/proto-loader`. */
export function loadKvService(): ServiceDefinition {
  const { loadSync } = loadPeer<ProtoLoader>('@grpc/proto-loader', '', 'the protocol');
  const definition = loadSync(kvProtoFile(), {
    keepCase: false,
    longs: Number,
    enums: String,
    defaults: true,
    arrays: true,
    oneofs: false,
  });
  return definition['spillway.kv.v1.Kv'] as ServiceDefinition;
}
