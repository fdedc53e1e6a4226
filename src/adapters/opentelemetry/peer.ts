/** The optional peer, loaded when it is first used: importing this adapter without it fails nobody. */
import { createRequire } from 'node:module';

export type OpenTelemetryApi = typeof import('@opentelemetry/api');

/** @throws Error when it is not installed. */
export function loadOpenTelemetry(): OpenTelemetryApi {
  try {
    // Its state is global, one for all copies of it.
    return createRequire(import.meta.url)('@opentelemetry/api') as OpenTelemetryApi;
  } catch (cause) {
    throw new Error('@opentelemetry/api 1.9 or newer must be installed for this adapter', {
      cause,
    });
  }
}
