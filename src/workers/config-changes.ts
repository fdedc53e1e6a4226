/** Changes of the configuration, one after the other, in the order in which they came; each is taken whole or not at all. */
import { ConfigConflictError } from '../shared/errors.js';
import type { InForce } from './apply-config.js';
import type { requireAddressRoom } from './config/address-room.js';
import type { applyPatch } from './config/apply-patch.js';
import type { reloadConfig } from './config/resolve-config.js';
import { encodeError } from './error-codec.js';
import type { Reply, Request } from './messages.js';

interface ConfigRules {
  readonly requireAddressRoom: typeof requireAddressRoom;
  readonly applyPatch: typeof applyPatch;
  readonly reloadConfig: typeof reloadConfig;
}

export interface ConfigChangesParts {
  readonly inForce: InForce;
  readonly cores: number;
  /** Addresses that the arena has room for. */
  readonly addresses: number;
  /** A change was found good: comes before it is in force. */
  readonly onAccepted: (next: InForce, before: InForce) => void;
}

export class ConfigChanges {
  readonly #parts: ConfigChangesParts;
  #inForce: InForce;
  #last: Promise<void> = Promise.resolve();

  constructor(parts: ConfigChangesParts) {
    this.#parts = parts;
    this.#inForce = parts.inForce;
  }

  get inForce(): InForce {
    return this.#inForce;
  }

  answer(request: Request, answer: (reply: Reply) => void): void {
    this.#last = this.#last.then(async () => {
      try {
        answer({ kind: 'reply', id: request.id, version: await this.#change(request) });
      } catch (error) {
        answer({ kind: 'failed', id: request.id, error: encodeError(error) });
      }
    });
  }

  /** The schema library takes longer to load than all the rest, and nobody needs it before the first change. */
  async load(): Promise<ConfigRules> {
    const [{ requireAddressRoom }, { applyPatch }, { reloadConfig }] = await Promise.all([
      import('./config/address-room.js'),
      import('./config/apply-patch.js'),
      import('./config/resolve-config.js'),
    ]);
    return { requireAddressRoom, applyPatch, reloadConfig };
  }

  async #change(request: Request): Promise<number> {
    const { applyPatch, reloadConfig, requireAddressRoom } = await this.load();
    const before = this.#inForce;
    const { config, version } = before;
    const { cores, addresses, onAccepted } = this.#parts;
    if (request.kind === 'update' && (request.ifVersion ?? version) !== version) {
      const message = `version ${version} of the configuration is in force, not ${request.ifVersion}`;
      throw new ConfigConflictError(message, { version });
    }
    const next =
      request.kind === 'update'
        ? applyPatch(config, request.patch, cores)
        : reloadConfig(config, request.options, cores);
    requireAddressRoom(next, addresses);
    const inForce = { config: next, version: version + 1 };
    onAccepted(inForce, before);
    this.#inForce = inForce;
    return inForce.version;
  }
}
