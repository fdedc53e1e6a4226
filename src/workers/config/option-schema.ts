import { z } from 'zod';
import { OPTIONS, type OptionSpec, RPC_OPTIONS } from './option-table.js';

const OBJECT_RULE = 'must be an object';

type Shape = Record<string, z.ZodType>;

/** The shape of what may be given: nothing is required, nothing unknown is let through. */
export const optionsSchema: z.ZodType = shapeOf(rpcSchema());

/** The same, but an override of an RPC type may be null. */
export const patchSchema: z.ZodType = shapeOf(rpcSchema().nullable());

function rpcSchema(): z.ZodType {
  return strict(shape(RPC_OPTIONS));
}

function shapeOf(rpc: z.ZodType): z.ZodType {
  const inGroup = (group: string): Shape =>
    shape(
      OPTIONS.filter((spec) => spec.path.startsWith(`${group}.`)),
      group.length + 1,
    );
  const rpcs = z.record(z.string(), rpc, { error: OBJECT_RULE }).optional();
  return strict({
    ...shape(OPTIONS.filter((spec) => !spec.path.includes('.'))),
    host: strict({ ...inGroup('host'), rpcs }).optional(),
    tables: strict(inGroup('tables')).optional(),
    waiting: strict(inGroup('waiting')).optional(),
    retry: strict(inGroup('retry')).optional(),
    peers: strict(inGroup('peers')).optional(),
    breaker: strict(inGroup('breaker')).optional(),
    pressure: strict(inGroup('pressure')).optional(),
    capacity: strict(inGroup('capacity')).optional(),
  });
}

function shape(specs: readonly OptionSpec[], skip = 0): Shape {
  return Object.fromEntries(specs.map((spec) => [spec.path.slice(skip), spec.schema.optional()]));
}

function strict(fields: Shape): z.ZodType {
  return z.strictObject(fields, { error: OBJECT_RULE });
}
