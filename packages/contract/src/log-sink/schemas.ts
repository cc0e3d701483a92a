import { Type } from 'typebox'
import { Instant, Nullable, Strict } from '../schema.ts'

export const LogSink = Strict({
  endpoint: Type.String(),
  enabled: Type.Boolean({
    description:
      'False if an admin has turned the log sink off, or if the server has, because the collector refused a request',
  }),
  headerNames: Type.Array(Type.String(), { description: 'Names of the headers, without their values' }),
  lastSuccessAt: Nullable(Instant),
  lastAttemptAt: Nullable(Instant),
  lastError: Nullable(Type.String()),
  position: Type.Integer({
    description: 'Position in the audit log. Entries before it were sent, or are older than the log sink',
  }),
  rejectedRecords: Type.Integer({ description: 'Entries that the collector reported as rejected' }),
  waitingEntries: Type.Integer({ description: 'Number of sealed entries that are not sent yet' }),
})
