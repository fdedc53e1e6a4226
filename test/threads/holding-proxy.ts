import { connect, createServer, type Server, type Socket } from 'node:net';

/** A way to a server that can break a connection and deliver what was sent on it later, as networks do. */
export class HoldingProxy {
  readonly #server: Server;
  readonly #legs: {
    readonly client: Socket;
    readonly upstream: Socket;
    held: Buffer[] | undefined;
  }[] = [];
  #holds = false;
  #onHeld: () => void = () => {};

  private constructor(port: number) {
    this.#server = createServer((client) => {
      const upstream = connect(port, '127.0.0.1');
      const leg: { client: Socket; upstream: Socket; held: Buffer[] | undefined } = {
        client,
        upstream,
        held: undefined,
      };
      this.#legs.push(leg);
      client.on('data', (bytes) => {
        if (this.#holds) leg.held ??= [];
        if (leg.held === undefined) {
          upstream.write(bytes);
          return;
        }
        leg.held.push(bytes);
        this.#onHeld();
      });
      upstream.on('data', (bytes) => client.write(bytes));
      for (const side of [client, upstream]) side.on('error', () => {});
      client.on('close', () => {
        if (leg.held === undefined) upstream.end();
      });
      upstream.on('close', () => client.destroy());
    });
  }

  static async start(port: number): Promise<HoldingProxy> {
    const proxy = new HoldingProxy(port);
    await new Promise<void>((resolve) => proxy.#server.listen(0, '127.0.0.1', resolve));
    return proxy;
  }

  get port(): number {
    const address = this.#server.address();
    if (address === null || typeof address === 'string') throw new Error('does not listen');
    return address.port;
  }

  /** Connections so far. */
  get connections(): number {
    return this.#legs.length;
  }

  /** Keeps back what clients send from now on; resolves when `bytes` of it have come. */
  hold(bytes: number): Promise<void> {
    this.#holds = true;
    return new Promise((resolve) => {
      this.#onHeld = () => {
        const held = this.#legs.flatMap((leg) => leg.held ?? []);
        if (held.reduce((sum, { length }) => sum + length, 0) >= bytes) resolve();
      };
    });
  }

  /** Breaks the connections of the clients whose bytes are kept back; new ones are fine. */
  breakHeld(): void {
    this.#holds = false;
    for (const { client, held } of this.#legs) if (held !== undefined) client.destroy();
  }

  /** Delivers what was kept back. */
  deliver(): void {
    for (const leg of this.#legs) {
      for (const bytes of leg.held ?? []) leg.upstream.write(bytes);
      if (leg.held !== undefined) leg.held = [];
    }
  }

  stop(): void {
    for (const { client, upstream } of this.#legs) {
      client.destroy();
      upstream.destroy();
    }
    this.#server.close();
  }
}
