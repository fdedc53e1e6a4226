import { fileURLToPath } from 'node:url';
import type { ServiceDefinition } from '@grpc/grpc-js';
import { loadSync } from '@grpc/proto-loader';

export interface RowsetRequest {
  readonly tableId: string;
}

export interface RowsetResponse {
  readonly version: string;
}

/** The service definition; the proto file stays beside the sources, one level above the build. */
export function loadServiceDefinition(): ServiceDefinition {
  const file = fileURLToPath(new URL('../../proto/metadata.proto', import.meta.url));
  const definition = loadSync(file, { longs: String, defaults: true });
  return definition['spillway.demo.MetadataService'] as ServiceDefinition;
}
