import { Type } from 'typebox'
import { Instant, Nullable, Strict } from '../schema.ts'

export const LogSink = Strict({
  endpoint: Type.String(),
  enabled: Type.Boolean({ description: 'False also if the collector rejected the record' }),
  headerNames: Type.Array(Type.String(), { description: 'Without their values' }),
  lastSuccessAt: Nullable(Instant),
  lastAttemptAt: Nullable(Instant),
  lastError: Nullable(Type.String()),
  position: Type.Integer({
    description: 'Number of entries of the organization’s tree that are sent or older than the sink',
  }),
  rejectedRecords: Type.Integer({ description: 'Entries that the collector reported as rejected' }),
  waitingEntries: Type.Integer({ description: 'Number of sealed entries that are not sent yet' }),
})
