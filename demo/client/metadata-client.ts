import {
  type Client,
  credentials,
  makeGenericClientConstructor,
  type ServiceError,
  status,
} from '@grpc/grpc-js';
import type { RpcName } from '../scenario.js';
import {
  loadServiceDefinition,
  type RowsetRequest,
  type RowsetResponse,
} from '../service/definition.js';

type UnaryMethod = (
  request: RowsetRequest,
  options: { deadline: number },
  done: (error: ServiceError | null, response?: RowsetResponse) => void,
) => void;

/** One gRPC channel to the metadata service, for one thread. */
export class MetadataClient {
  readonly #client: Client & Record<RpcName, UnaryMethod>;
  readonly #timeoutMs: number;

  constructor(address: string, timeoutMs: number) {
    const MetadataService = makeGenericClientConstructor(
      loadServiceDefinition(),
      'MetadataService',
    );
    this.#client = new MetadataService(address, credentials.createInsecure(), {
      'grpc.use_local_subchannel_pool': 1,
    }) as unknown as Client & Record<RpcName, UnaryMethod>;
    this.#timeoutMs = timeoutMs;
  }

  connect(): Promise<void> {
    return new Promise((resolve, reject) => {
      this.#client.waitForReady(Date.now() + 10_000, (error) =>
        error === undefined || error === null ? resolve() : reject(error),
      );
    });
  }

  call(rpc: RpcName, tableId: string): Promise<void> {
    return new Promise((resolve, reject) => {
      this.#client[rpc]({ tableId }, { deadline: Date.now() + this.#timeoutMs }, (error) =>
        error === null ? resolve() : reject(error),
      );
    });
  }

  close(): void {
    this.#client.close();
  }
}

export function isBusy(error: unknown): boolean {
  return codeOf(error) === status.RESOURCE_EXHAUSTED;
}

/** The attempt has no answer: whether the service did it is not known. */
export function isUnanswered(error: unknown): boolean {
  const code = codeOf(error);
  return code === status.DEADLINE_EXCEEDED || code === status.UNAVAILABLE;
}

/** What the usual retry loop tries again: the service said busy, or was not there. */
export function isRetriable(error: unknown): boolean {
  return isBusy(error) || codeOf(error) === status.UNAVAILABLE;
}

function codeOf(error: unknown): unknown {
  return error instanceof Error && 'code' in error ? error.code : undefined;
}
