/**
 * Publishes to whoever listens, in order of subscription. A listener that throws harms neither the publisher nor the
 * other listeners; it is counted.
 */
export class EventStream<Event> {
  readonly #listeners = new Set<(event: Event) => void>();
  #listenerFailures = 0;

  /** How often a listener has thrown. */
  get listenerFailures(): number {
    return this.#listenerFailures;
  }

  /** Returns the function that ends the subscription; calling it twice is fine. */
  subscribe(listener: (event: Event) => void): () => void {
    // A wrapper of its own, so that one function subscribed twice is two subscriptions.
    const subscription = (event: Event): void => listener(event);
    this.#listeners.add(subscription);
    return () => {
      this.#listeners.delete(subscription);
    };
  }

  publish(event: Event): void {
    for (const listener of [...this.#listeners]) {
      try {
        listener(event);
      } catch {
        this.#listenerFailures += 1;
      }
    }
  }
}
