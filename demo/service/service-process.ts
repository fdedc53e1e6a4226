// Entry of the metadata service's own process. It obeys its parent's messages and ends with it.
import { rmSync } from 'node:fs';
import { performance } from 'node:perf_hooks';
import { type handleUnaryCall, Server, ServerCredentials, status } from '@grpc/grpc-js';
import { type RpcName, rpcNames } from '../scenario.js';
import { type CapacityParams, type CapacityState, decideAdmission } from './capacity-meter.js';
import { loadServiceDefinition, type RowsetRequest, type RowsetResponse } from './definition.js';
import type { ServiceCommand, ServiceEvent } from './protocol.js';
import { RowsetStore } from './rowset-store.js';

class MetadataService {
  readonly #capacity: CapacityParams;
  readonly #store: RowsetStore;
  readonly #server = new Server();
  #meter: CapacityState = { busyUntilMs: 0 };
  #accepted = 0;
  #refused = 0;

  constructor(storeDir: string, capacity: CapacityParams) {
    this.#capacity = capacity;
    this.#store = new RowsetStore(storeDir);
    this.#server.addService(
      loadServiceDefinition(),
      Object.fromEntries(rpcNames.map((rpc) => [rpc, this.#handler(rpc)])),
    );
  }

  #handler(rpc: RpcName): handleUnaryCall<RowsetRequest, RowsetResponse> {
    return (call, reply) => {
      const decision = decideAdmission(this.#capacity, this.#meter, performance.now());
      this.#meter = decision.state;
      if (!decision.accepted) {
        this.#refused += 1;
        reply({ code: status.RESOURCE_EXHAUSTED, details: 'metadata service is busy' });
        return;
      }
      this.#accepted += 1;
      this.#store.change(call.request.tableId, rpc).then(
        (version) => reply(null, { version: String(version) }),
        (error: unknown) => reply({ code: status.INTERNAL, details: String(error) }),
      );
    };
  }

  listen(): Promise<number> {
    return new Promise((resolve, reject) => {
      this.#server.bindAsync('127.0.0.1:0', ServerCredentials.createInsecure(), (error, port) => {
        if (error === null) resolve(port);
        else reject(error);
      });
    });
  }

  async stop(): Promise<ServiceEvent> {
    this.#server.forceShutdown();
    const storedChanges = await this.#store.countChanges();
    await this.#store.close();
    const { user, system } = process.cpuUsage();
    const cpuMs = (user + system) / 1000;
    return {
      kind: 'stopped',
      account: { accepted: this.#accepted, refused: this.#refused, storedChanges, cpuMs },
    };
  }
}

function tell(event: ServiceEvent): void {
  process.send?.(event);
}

let service: MetadataService | undefined;
let storeDir: string | undefined;

async function obey(command: ServiceCommand): Promise<void> {
  if (command.kind === 'start') {
    storeDir = command.storeDir;
    service = new MetadataService(command.storeDir, command.capacity);
    tell({ kind: 'listening', port: await service.listen() });
  } else if (service !== undefined) {
    tell(await service.stop());
    process.disconnect();
  }
}

process.on('message', (command: ServiceCommand) => {
  obey(command).catch((error: unknown) => {
    console.error(error);
    process.exit(1);
  });
});
// Ctrl-C reaches the whole process group; the parent decides when the service ends.
process.on('SIGINT', () => undefined);
process.on('disconnect', () => {
  // The parent is gone or done; if it was killed, nobody else removes the store.
  if (storeDir !== undefined) rmSync(storeDir, { recursive: true, force: true });
  process.exit(0);
});
