import { Type } from 'typebox'
import { del, get, post, put } from '../endpoint.ts'
import { limits } from '../limits.ts'
import { headerNamePattern, headerValuePattern } from '../patterns.ts'
import { Nullable, Ok, Strict } from '../schema.ts'
import { LogSink } from './schemas.ts'

const One = Strict({ logSink: LogSink })

/** The destination of an organization's audit log, as OpenTelemetry log records (OTLP over HTTP, JSON). */
export const logSink = {
  get: get('/v1/orgs/:orgId/log-sink', {
    summary:
      'Get the log sink (the collector to which the server sends the audit log), and whether the collector accepts the entries. Without a log sink, `logSink` is null',
    responses: { 200: Strict({ logSink: Nullable(LogSink) }) },
  }),
  set: put('/v1/orgs/:orgId/log-sink', {
    summary:
      'Set the log sink: from now on, the server sends each new audit entry to this collector (OpenTelemetry logs, OTLP over HTTP). Without `headers`, the server does not change the stored headers. With `headers: {}`, the server deletes the stored headers',
    body: Strict({
      endpoint: Type.String({
        maxLength: limits.urlCharacters,
        pattern: '^https?://[\\u0021-\\u007e]+$',
        description: 'Address of the collector, for example https://collector.example.com/v1/logs',
      }),
      headers: Type.Optional(
        Type.Record(
          Type.String({ pattern: headerNamePattern }),
          Type.String({ maxLength: limits.logSinkHeaderCharacters, pattern: headerValuePattern }),
          {
            additionalProperties: false,
            maxProperties: limits.logSinkHeadersMax,
            description: 'Headers that the server adds to each request to the collector, by name',
          },
        ),
      ),
      enabled: Type.Optional(Type.Boolean({ description: 'false: the server sends nothing. Default: true' })),
    }),
    responses: { 200: One },
    refuses: ['conflict', 'quota_exceeded'],
    audits: ['log_sink.updated'],
  }),
  delete: del('/v1/orgs/:orgId/log-sink', {
    summary: 'Delete the log sink: the server stops sending the audit log, and deletes the settings',
    responses: { 200: Ok },
    audits: ['log_sink.deleted'],
  }),
  test: post('/v1/orgs/:orgId/log-sink/test', {
    summary: 'Send a sample record to the collector now. The answer has the result',
    unit: 'manual',
    responses: {
      200: Strict({
        ok: Type.Boolean({ description: 'True if the collector accepted the record' }),
        status: Nullable(Type.Integer()),
        error: Nullable(Type.String()),
      }),
    },
    refuses: ['conflict'],
    audits: ['log_sink.tested'],
  }),
}
