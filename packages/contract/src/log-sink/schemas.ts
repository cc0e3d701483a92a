import { Type } from 'typebox'
import { Instant, Nullable, Strict } from '../schema.ts'

export const LogSink = Strict({
  endpoint: Type.String(),
  enabled: Type.Boolean({ description: 'false also where the collector refused what it was sent' }),
  headerNames: Type.Array(Type.String(), { description: 'never with their values' }),
  lastSuccessAt: Nullable(Instant),
  lastAttemptAt: Nullable(Instant),
  lastError: Nullable(Type.String()),
  position: Type.Integer({
    description: 'how many entries of the organization’s tree are sent, or older than the sink',
  }),
  rejectedRecords: Type.Integer({ description: 'entries that the collector took no record of, by its own account' }),
  waitingEntries: Type.Integer({ description: 'sealed entries that are still to be sent' }),
})
