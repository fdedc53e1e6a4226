import {
  type Client,
  credentials,
  makeGenericClientConstructor,
  type ServiceError,
} from '@grpc/grpc-js';
import {
  type GetKvResponse,
  loadKvService,
  type PutKvResponse,
  type ScanKvResponse,
} from 'spillway/kv/protocol';

type Method<Response> = (
  request: object,
  options: { readonly deadline?: number },
  done: (error: ServiceError | null, response: Response) => void,
) => void;

type Methods = Client & {
  readonly PutKv: Method<PutKvResponse>;
  readonly GetKv: Method<GetKvResponse>;
  readonly ScanKv: Method<ScanKvResponse>;
};

/** The calls of `spillway.kv.v1` as they are. */
export class KvStub {
  readonly #methods: Methods;
  readonly #timeoutMs: number;

  constructor(address: string, timeoutMs = 30_000) {
    const Kv = makeGenericClientConstructor(loadKvService(), 'Kv');
    this.#methods = new Kv(address, credentials.createInsecure(), {
      'grpc.use_local_subchannel_pool': 1,
      'grpc.max_receive_message_length': 64 * 1024 * 1024,
    }) as unknown as Methods;
    this.#timeoutMs = timeoutMs;
  }

  putKv(request: object): Promise<PutKvResponse> {
    return this.#call((done) => this.#methods.PutKv(request, this.#options(), done));
  }

  getKv(request: object): Promise<GetKvResponse> {
    return this.#call((done) => this.#methods.GetKv(request, this.#options(), done));
  }

  scanKv(request: object): Promise<ScanKvResponse> {
    return this.#call((done) => this.#methods.ScanKv(request, this.#options(), done));
  }

  close(): void {
    this.#methods.close();
  }

  #options(): { readonly deadline: number } {
    return { deadline: Date.now() + this.#timeoutMs };
  }

  #call<Response>(
    begin: (done: (error: ServiceError | null, response: Response) => void) => void,
  ): Promise<Response> {
    return new Promise((resolve, reject) => {
      begin((error, response) => {
        if (error === null) resolve(response);
        else reject(error);
      });
    });
  }
}
