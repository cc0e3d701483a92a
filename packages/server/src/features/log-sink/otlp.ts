import { type HrTime, SeverityNumber } from '@opentelemetry/api'
import { JsonLogsSerializer } from '@opentelemetry/otlp-transformer'
import { resourceFromAttributes } from '@opentelemetry/resources'
import type { ReadableLogRecord } from '@opentelemetry/sdk-logs'
import type { Entry } from '../audit/scope.ts'
import type { Checkpoint } from './store.ts'

const resource = resourceFromAttributes({ 'service.name': 'skerry' })
const instrumentationScope = { name: 'skerry.audit' }

/** The content of one request. The checkpoint covers these entries and all before them, so it is the last record. */
export interface Batch {
  entries: readonly Entry[]
  checkpoint: Checkpoint | null
}

/** Builds the body of a request, in the JSON format of OTLP over HTTP. */
export function toBody(orgId: string, { entries, checkpoint }: Batch): Uint8Array {
  const records = entries.map((entry) => entryRecord(orgId, entry))
  if (checkpoint) records.push(checkpointRecord(orgId, checkpoint))
  return JsonLogsSerializer.serializeRequest(records) as Uint8Array
}

/** Entries that people look for first: refusals, failures and used decoys. */
const isWarning = (action: string): boolean => /(denied|tripped|exposed|failed|orphaned|disabled)$/.test(action)

function entryRecord(orgId: string, entry: Entry): ReadableLogRecord {
  const severity = isWarning(entry.action) ? 'WARN' : 'INFO'
  return toRecord(entry.action, entry.createdAt, severity, attributesOf(orgId, entry))
}

/** A checkpoint is no entry: no action has its name, and it has no `skerry.audit.id`. */
function checkpointRecord(orgId: string, { note, size, signedAt }: Checkpoint): ReadableLogRecord {
  const attributes = { 'skerry.org.id': orgId, 'skerry.checkpoint.size': size, 'skerry.checkpoint.note': note }
  return toRecord('audit.checkpoint', signedAt, 'INFO', attributes)
}

function toRecord(
  body: string,
  instant: string,
  severity: 'INFO' | 'WARN',
  attributes: Record<string, Value>,
): ReadableLogRecord {
  const at = hrTimeOf(instant)
  return {
    hrTime: at,
    hrTimeObserved: at,
    severityNumber: SeverityNumber[severity],
    severityText: severity,
    body,
    resource,
    instrumentationScope,
    attributes,
    droppedAttributesCount: 0,
  }
}

function attributesOf(orgId: string, entry: Entry): Record<string, Value> {
  const given = {
    'skerry.org.id': orgId,
    'skerry.audit.id': entry.id,
    'skerry.audit.action': entry.action,
    'skerry.actor.type': entry.actorType,
    'skerry.actor.id': entry.actorId,
    'skerry.resource.type': entry.resourceType,
    'skerry.resource.id': entry.resourceId,
    'client.address': entry.ipAddress,
    'user_agent.original': entry.userAgent,
    'skerry.request.id': entry.requestId,
  }
  const attributes: Record<string, Value> = {}
  for (const [name, value] of Object.entries(given)) if (value !== null) attributes[name] = value
  flatten('skerry.metadata', entry.metadata, attributes)
  return attributes
}

type Value = string | number | boolean | string[]

/** Fields with free text or contact details. Their values stay in the audit log. */
const freeText = new Set([
  'note',
  'comment',
  'reason',
  'placement',
  'deviceLabel',
  'label',
  'client',
  'email',
  'person',
])

function flatten(prefix: string, metadata: Record<string, unknown>, into: Record<string, Value>): void {
  for (const [name, value] of Object.entries(metadata)) {
    const key = `${prefix}.${name}`
    if (value === null || value === undefined) continue
    if (freeText.has(name)) into[key] = '[redacted]'
    else if (Array.isArray(value)) into[key] = value.map((one) => (typeof one === 'string' ? one : JSON.stringify(one)))
    else if (typeof value === 'object') flatten(key, value as Record<string, unknown>, into)
    else into[key] = value as Value
  }
}

function hrTimeOf(instant: string): HrTime {
  const ms = Date.parse(instant)
  return [Math.floor(ms / 1000), (ms % 1000) * 1_000_000]
}
