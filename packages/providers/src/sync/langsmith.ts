import { createHash } from 'node:crypto'
import { type JsonAnswer, type JsonRequest, sendJson, statusFailure } from '../http.ts'
import type { Outbound } from '../outbound.ts'
import { errorTextOf, ProviderError } from '../provider-error.ts'
import { headerCredential, rootOf } from './checks.ts'
import type {
  SyncChanges,
  SyncConnection,
  SyncEntry,
  SyncFacts,
  SyncFailed,
  SyncOutcome,
  SyncPlace,
  SyncSession,
} from './provider.ts'
import { done, inHalves, withoutTaken } from './pushing.ts'

// Secrets of LangSmith deployments, through the control plane (https://api.host.langchain.com/docs). One call writes
// the whole list. No document says that a write merges, so the names that are not ours are sent back as they were read.

const origins = {
  us: 'https://api.host.langchain.com',
  eu: 'https://eu.api.host.langchain.com',
  apac: 'https://apac.api.host.langchain.com',
  'aws-us': 'https://aws.api.host.langchain.com',
} as const

/** An answer contains all values of the deployment. */
const answerBytesMax = 8 * 1024 * 1024

/** Names that the platform sets itself. The platform's command line refuses them too. */
const reserved = [
  ...['LANGCHAIN_TRACING_V2', 'LANGSMITH_TRACING_V2', 'LANGCHAIN_ENDPOINT', 'LANGCHAIN_PROJECT', 'LANGSMITH_PROJECT'],
  ...[
    'LANGSMITH_LANGGRAPH_GIT_REPO',
    'LANGGRAPH_GIT_REPO_PATH',
    'LANGCHAIN_API_KEY',
    'LANGSMITH_CONTROL_PLANE_API_KEY',
  ],
  ...['POSTGRES_URI', 'POSTGRES_PASSWORD', 'DATABASE_URI', 'LANGSMITH_LANGGRAPH_GIT_REF', 'LANGGRAPH_AUTH_TYPE'],
  ...[
    'LANGSMITH_LANGGRAPH_GIT_REF_SHA',
    'LANGSMITH_AUTH_ENDPOINT',
    'LANGSMITH_TENANT_ID',
    'LANGSMITH_AUTH_VERIFY_TENANT_ID',
  ],
  ...['LANGSMITH_HOST_PROJECT_ID', 'LANGSMITH_HOST_PROJECT_NAME', 'LANGSMITH_HOST_REVISION_ID', 'LOG_JSON'],
  ...['LOG_DICT_TRACEBACKS', 'REDIS_URI', 'LANGCHAIN_CALLBACKS_BACKGROUND', 'DD_TRACE_PSYCOPG_ENABLED'],
  ...['DD_TRACE_REDIS_ENABLED', 'LANGSMITH_DEPLOYMENT_NAME', 'LANGGRAPH_CLOUD_LICENSE_KEY'],
]
const reservedInCloud = [
  ...['LANGSMITH_API_KEY', 'LANGSMITH_ENDPOINT', 'POSTGRES_URI_CUSTOM', 'REDIS_URI_CUSTOM', 'PATH', 'PORT'],
  ...['MOUNT_PREFIX', 'LSD_ENV', 'LSD_DD_API_KEY', 'LSD_DD_ENDPOINT', 'LSD_DEPLOYMENT_TYPE'],
]

export function describe(place: SyncPlace<'agent-platform'>): SyncFacts {
  const { config, destination } = place
  return {
    places: [`${rootOf(root(config))}/deployments/${destination.deploymentId.toLowerCase()}`],
    limits: {
      name: {
        pattern: '^[A-Za-z_][A-Za-z0-9_]*$',
        words: 'letters, digits and underscores, not beginning with a digit',
        reserved: config.baseUrl === undefined ? [...reserved, ...reservedInCloud] : reserved,
        form: 'exact',
        prefix: '',
      },
      valueBytesMax: null,
      emptyValues: false,
      totalBytesMax: null,
      pushNamesMax: null,
      pushIntervalMs: 1000,
    },
    effects: [
      'A push creates a new revision of the deployment. LangSmith builds this revision and rolls it out.',
      'If LangSmith refuses a name, Skerry pushes the other names without it.',
      'If a deployment comes from a Git repository, LangSmith builds the newest commit of its git branch. A push of values may therefore also roll out newer code.',
    ],
  }
}

export function open(connection: SyncConnection<'agent-platform'>, outbound: Outbound): SyncSession {
  const { config, destination } = connection
  const key = headerCredential(connection.credential)
  const { origin, pathname } = new URL(root(config))
  const base = `${outbound.origin('agent-platform', origin)}${pathname.replace(/\/$/, '')}`
  const url = `${base}/v2/deployments/${destination.deploymentId}`

  async function call(
    request: Omit<JsonRequest, 'headers' | 'url'>,
    values: readonly string[] = [],
  ): Promise<Secret[]> {
    const tenant: Record<string, string> = config.tenantId === undefined ? {} : { 'x-tenant-id': config.tenantId }
    const headers = { 'x-api-key': key, ...tenant }
    const answer = await sendJson(outbound, { ...request, url, headers, bytesMax: answerBytesMax })
    const failure = statusFailure(answer, outbound.now(), readErrorText(answer, [key, ...values]))
    if (failure === null) return readSecrets(answer)
    const reasons = entryReasons(answer, [key, ...values])
    throw reasons.size === 0 ? failure : new EntriesRefused(failure.message, reasons)
  }

  return {
    async verify() {
      const hidden = (await call({ method: 'GET' })).filter(isHidden).length
      const note = `The deployment hides ${hidden} of its values. A push that would erase one of them is refused.`
      return { notes: hidden === 0 ? [] : [note] }
    },
    list: async (): Promise<SyncEntry[]> => (await call({ method: 'GET' })).map((secret) => entryOf(secret)),
    push: (changes) => inHalves(changes, pushTogether),
  }

  /**
   * Writes all names with one call. The next call leaves out the names that LangSmith refuses, so that the others are
   * written.
   */
  async function pushTogether(given: Part): Promise<SyncOutcome> {
    const there = await call({ method: 'GET' })
    const present = new Set(there.map(({ name }) => name))
    const { changes, failed } = withoutTaken(given, (name) => present.has(name))
    const kept = keptOf(there, given)
    const removed = changes.remove.map(({ name }) => name)
    const removes = removed.some((name) => present.has(name))
    let write = changes.write
    // Even an unchanged list creates a revision, so nothing is sent without a change.
    while (write.length > 0 || removes) {
      const secrets = [...kept, ...write.map(({ name, value }) => ({ name, value }))]
      const values = secrets.map(({ value }) => value)
      const after = await call({ method: 'PATCH', json: { secrets } }, values).catch((error: unknown) => {
        if (!(error instanceof EntriesRefused)) throw error
        const refused = write.filter((_, index) => error.reasons.has(kept.length + index))
        // A refusal of somebody else's entry cannot be resolved here.
        if (refused.length === 0) throw error
        failed.push(...refused.map(({ name }) => refusedName(name, error.reasons.get(indexOf(secrets, name)))))
        write = write.filter((each) => !refused.includes(each))
        return null
      })
      if (after !== null) return { ...done({ write, remove: changes.remove }, revisionIn(after)), failed }
    }
    return { written: [], removed, failed }
  }
}

type Part = Pick<SyncChanges, 'write' | 'remove'>

/**
 * The secrets that are sent back as they came. A hidden value would be erased, so one hidden value stops the whole
 * write.
 */
function keptOf(there: readonly Secret[], { write, remove }: Part): Secret[] {
  const mentioned = new Set([...write, ...remove].map(({ name }) => name))
  const isTaken = (name: string) => write.some((each) => each.name === name && each.isNew)
  const kept = there.filter(({ name }) => !mentioned.has(name) || isTaken(name))
  const hidden = kept.filter(isHidden).map(({ name }) => name)
  if (hidden.length > 0)
    throw new ProviderError(
      'unsupported',
      `nothing was written, because the push would erase ${named(hidden)}, whose values are hidden`,
    )
  return kept
}

/** A refusal that names entries of the list that was sent, by their index. */
class EntriesRefused extends ProviderError {
  readonly reasons: ReadonlyMap<number, string | null>

  constructor(message: string, reasons: ReadonlyMap<number, string | null>) {
    super('failed', message)
    this.reasons = reasons
  }
}

const indexOf = (secrets: readonly Secret[], wanted: string) => secrets.findIndex(({ name }) => name === wanted)

const refusedName = (name: string, reason: string | null | undefined): SyncFailed => ({
  name,
  reason: `LangSmith refused the name: ${reason ?? 'it gave no reason that can be shown'}.`,
})

const revisionIn = (after: readonly Secret[]) => {
  const revisions = new Map(after.map((secret) => [secret.name, entryOf(secret).revision]))
  return ({ name }: { name: string }) => revisions.get(name) ?? null
}

interface Secret {
  name: string
  value: string
}

const root = ({ baseUrl, region = 'us' }: SyncPlace<'agent-platform'>['config']) => baseUrl ?? origins[region]

/**
 * Whether a value is empty, or is a text that services show instead of a value. No document says whether LangSmith
 * shows values.
 */
const isHidden = ({ value }: Secret) =>
  /^[*•●.xX]*$|\*{3}|[•●]{3}|^[<[(]?(?:redacted|hidden|masked|secret)[>\])]?$/i.test(value)

const entryOf = (secret: Secret): SyncEntry => ({
  name: secret.name,
  revision: isHidden(secret) ? null : createHash('sha256').update(secret.value).digest('base64url'),
})

function readSecrets({ body }: JsonAnswer): Secret[] {
  const secrets = (body as { secrets?: unknown } | undefined)?.secrets
  if (!Array.isArray(secrets)) throw new ProviderError('failed', 'the answer contains no list of secrets')
  return secrets.map(({ name, value }) => ({ name: String(name), value: typeof value === 'string' ? value : '' }))
}

const named = (names: readonly string[]) =>
  names.length > 5 ? `${names.slice(0, 5).join(', ')} and ${names.length - 5} more` : names.join(', ')

/** Reads the reasons for single entries from an answer 422: `loc` is `['body', 'secrets', 3, 'name']`. */
function entryReasons({ status, body }: JsonAnswer, secrets: readonly string[]): Map<number, string | null> {
  const detail = (body as { detail?: unknown } | undefined)?.detail
  if (status !== 422 || !Array.isArray(detail)) return new Map()
  return new Map(
    detail.flatMap(({ loc, msg }: { loc?: unknown; msg?: unknown }) => {
      const [root, list, index] = Array.isArray(loc) ? loc : []
      if (root !== 'body' || list !== 'secrets' || typeof index !== 'number') return []
      return [[index, typeof msg === 'string' ? errorTextOf(msg, secrets) : null] as const]
    }),
  )
}

/** The problems in an answer 422 quote the input, so only their locations are shown. */
function readErrorText({ body }: JsonAnswer, secrets: readonly string[]): string | null {
  const detail = (body as { detail?: unknown } | undefined)?.detail
  if (typeof detail === 'string') return errorTextOf(detail, secrets)
  if (!Array.isArray(detail)) return null
  return errorTextOf(
    `refused at ${detail.map(({ loc }) => (Array.isArray(loc) ? loc.join('.') : '?')).join(', ')}`,
    secrets,
  )
}
