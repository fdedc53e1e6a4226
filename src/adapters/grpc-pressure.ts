/** The pressure that a gRPC server reports with an answer: the trailer `spillway-pressure`, else the initial metadata of that name. */
import type { Metadata } from '@grpc/grpc-js';
import { PRESSURE_KEY, parsePressure } from '../shared/pressure/pressure-text.js';

/** undefined: none, or nothing that means anything. Never throws, whatever has come. */
export function grpcPressure(
  trailer: Metadata | undefined,
  headers: Metadata | undefined,
): number | undefined {
  return pressureIn(trailer) ?? pressureIn(headers);
}

function pressureIn(metadata: Metadata | undefined): number | undefined {
  const values = metadata?.get(PRESSURE_KEY) ?? [];
  return values.length === 0 ? undefined : parsePressure(values.join(','));
}
