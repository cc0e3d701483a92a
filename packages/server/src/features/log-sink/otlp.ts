import { type HrTime, SeverityNumber } from '@opentelemetry/api'
import { JsonLogsSerializer } from '@opentelemetry/otlp-transformer'
import { resourceFromAttributes } from '@opentelemetry/resources'
import type { ReadableLogRecord } from '@opentelemetry/sdk-logs'
import type { Entry } from '../audit/scope.ts'

const resource = resourceFromAttributes({ 'service.name': 'skerry' })
const instrumentationScope = { name: 'skerry.audit' }

/** The body of a request that brings these entries, as OTLP over HTTP has it in JSON. */
export const toBody = (orgId: string, entries: readonly Entry[]): Uint8Array =>
  JsonLogsSerializer.serializeRequest(entries.map((entry) => toRecord(orgId, entry))) as Uint8Array

/** What one looks for first: what was refused, and who tried a decoy. */
const isWarning = (action: string): boolean => /(denied|tripped|exposed|failed|orphaned|disabled)$/.test(action)

function toRecord(orgId: string, entry: Entry): ReadableLogRecord {
  const at = hrTimeOf(entry.createdAt)
  const warns = isWarning(entry.action)
  return {
    hrTime: at,
    hrTimeObserved: at,
    severityNumber: warns ? SeverityNumber.WARN : SeverityNumber.INFO,
    severityText: warns ? 'WARN' : 'INFO',
    body: entry.action,
    resource,
    instrumentationScope,
    attributes: attributesOf(orgId, entry),
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

/** What people wrote in their own words, and how they are reached. It stays in the trail. */
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
