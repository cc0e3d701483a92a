import type { JsonAnswer } from '../http.ts'
import type { Outbound } from '../outbound.ts'
import { ProviderError } from '../provider-error.ts'
import { type Api, call, ignoreMissing, listOf, objectOf, readPages, tokenOf } from './call.ts'
import { madeMeanwhile, oneByOne } from './one-by-one.ts'
import type { SyncConnection, SyncFacts, SyncPlace, SyncSession, SyncWritten } from './provider.ts'
import { type EnvRecord, recordOf, recordsOfName, revisionOf, type Slot, slotsOf } from './vercel-records.ts'

// Environment variables of a Vercel project (https://vercel.com/docs/rest-api). A name may have several records, each
// with its own environments. Values for environments outside the destination are never changed.

const ORIGIN = 'https://api.vercel.com'

type Destination = SyncPlace<'frontend-cloud'>['destination']

export function describe(place: SyncPlace<'frontend-cloud'>): SyncFacts {
  const { config, destination } = place
  const { projectId, targets } = destination
  const project = projectId.startsWith('prj_') ? projectId : `${config.teamId ?? 'personal'}/${projectId}`
  return {
    places: placesIn(project, destination),
    limits: {
      name: {
        pattern: '^[A-Za-z][A-Za-z0-9_]*$',
        words: 'letters, digits and underscores, beginning with a letter',
        reserved,
        form: 'exact',
        prefix: '',
      },
      valueBytesMax: null,
      emptyValues: true,
      totalBytesMax: 65_536,
      pushNamesMax: 50,
      pushIntervalMs: 1000,
    },
    effects: [
      'The next deployment uses the new values. Existing deployments keep the old values.',
      ...(targets.includes('development')
        ? ['Values for development stay readable at Vercel, because Vercel has no sensitive variables for development.']
        : []),
    ],
  }
}

const placesIn = (project: string, { targets, gitBranch }: Destination) =>
  targets.map((target) => `project/${project}/${target}${gitBranch === undefined ? '' : `/${gitBranch}`}`)

const reserved = [
  ...['AWS_SECRET_KEY', 'AWS_EXECUTION_ENV', 'AWS_LAMBDA_LOG_GROUP_NAME', 'AWS_LAMBDA_LOG_STREAM_NAME'],
  ...['AWS_LAMBDA_FUNCTION_NAME', 'AWS_LAMBDA_FUNCTION_MEMORY_SIZE', 'AWS_LAMBDA_FUNCTION_VERSION', 'NOW_REGION', 'TZ'],
  ...['LAMBDA_TASK_ROOT', 'LAMBDA_RUNTIME_DIR', 'AWS_ACCESS_KEY_ID', 'AWS_SECRET_ACCESS_KEY', 'AWS_SESSION_TOKEN'],
  ...['AWS_REGION', 'AWS_DEFAULT_REGION'],
]

export function open(connection: SyncConnection<'frontend-cloud'>, outbound: Outbound): SyncSession {
  const { destination } = connection
  const project = openProject(connection, outbound)
  return {
    async verify() {
      await project.read()
      await project.records()
      return { notes: [] }
    },
    async places() {
      const { id } = objectOf(await project.read(), 'project')
      return placesIn(String(id), destination)
    },
    async list() {
      const byName = Map.groupBy(await project.records(), ({ key }) => key)
      return [...byName].flatMap(([name, all]) => {
        const records = recordsOfName(all, name, destination)
        if (records.length === 0 || records.every(({ type }) => type === 'system')) return []
        const locked = records.some(({ ofIntegration }) => ofIntegration)
        const revision = revisionOf(records)
        return [{ name, revision, ...(locked ? { locked: 'The name belongs to an integration of the project.' } : {}) }]
      })
    },
    async push(changes) {
      const all = await project.records()
      const recordsOf = (name: string) => {
        const records = recordsOfName(all, name, destination)
        if (records.some(({ ofIntegration }) => ofIntegration))
          throw new ProviderError('invalid', 'the name belongs to an integration of the project')
        return records
      }
      return await oneByOne(changes, {
        async write({ name, value, isNew }) {
          const records = recordsOf(name)
          if (isNew && records.length > 0) throw madeMeanwhile()
          return await write(project, slotsOf(destination), name, value, records)
        },
        async remove({ name }) {
          for (const record of recordsOf(name)) await project.release(record, destination.targets)
        },
      })
    },
  }
}

type Project = ReturnType<typeof openProject>

/** The calls of Vercel's API that a destination needs. */
function openProject({ config, destination, credential }: SyncConnection<'frontend-cloud'>, outbound: Outbound) {
  const headers = { authorization: `Bearer ${tokenOf(credential)}` }
  const api: Api = { outbound, credential, headers, readErrorText, refusal, pauseMs }
  const url = (version: string, path: string, query: Record<string, string> = {}) => {
    const origin = outbound.origin('frontend-cloud', ORIGIN)
    const search = new URLSearchParams({ ...(config.teamId === undefined ? {} : { teamId: config.teamId }), ...query })
    return `${origin}/${version}/projects/${destination.projectId}${path}${search.size === 0 ? '' : `?${search}`}`
  }
  return {
    read: async () => (await call(api, { method: 'GET', url: url('v9', '') })).body,
    records: () =>
      readPages<EnvRecord, string>('variables', async (cursor) => {
        const until: Record<string, string> = cursor === null ? {} : { until: cursor }
        const { body } = await call(api, { method: 'GET', url: url('v10', '/env', { limit: '100', ...until }) })
        const answer = objectOf(body, 'variables')
        // A single variable may come without a list around it.
        const rows = 'envs' in answer ? listOf(answer.envs, 'variables') : 'key' in answer ? [answer] : []
        const next = (answer.pagination as { next?: unknown } | undefined)?.next ?? null
        return { rows: rows.map(recordOf), next: next === null ? null : String(next) }
      }),
    async create(name: string, value: string, { targets, type }: Slot): Promise<EnvRecord> {
      const branch = destination.gitBranch === undefined ? {} : { gitBranch: destination.gitBranch }
      const json = { key: name, value, type, target: targets, ...branch }
      const { body } = await call(api, { method: 'POST', url: url('v10', '/env'), json }, [value])
      return createdRecord(body)
    },
    async update(record: EnvRecord, value: string, { type }: Slot): Promise<EnvRecord> {
      // A plain record becomes a secret one. A sensitive record stays sensitive.
      const json = { value, ...(record.type === 'plain' ? { type } : {}) }
      const { body } = await call(api, { method: 'PATCH', url: url('v9', `/env/${record.id}`), json }, [value])
      return recordOf(objectOf(body, 'variable'))
    },
    /** Removes environments from a record, and deletes the record if none is left. */
    async release(record: EnvRecord, targets: Destination['targets']): Promise<void> {
      const target = record.targets.filter((each) => !includes(targets, each))
      const address = url('v9', `/env/${record.id}`)
      const request =
        target.length === 0 && !record.inCustom
          ? ({ method: 'DELETE', url: address } as const)
          : ({ method: 'PATCH', url: address, json: { target } } as const)
      await call(api, request).catch(ignoreMissing)
      record.targets = target
    },
    async restore(record: EnvRecord, target: EnvRecord['targets']): Promise<void> {
      await call(api, { method: 'PATCH', url: url('v9', `/env/${record.id}`), json: { target } }).catch(() => {})
      record.targets = target
    },
  }
}

function createdRecord(body: unknown): EnvRecord {
  const { created, failed } = objectOf(body, 'variable')
  const [refused] = Array.isArray(failed) ? failed : []
  if (refused !== undefined) {
    const code = readErrorText(refused)
    throw new ProviderError(
      isConflict(code) ? 'exists' : 'failed',
      `Vercel refused the name: ${code ?? 'no reason given'}`,
    )
  }
  return recordOf(objectOf(Array.isArray(created) ? created[0] : created, 'variable'))
}

async function write(
  project: Project,
  slots: readonly Slot[],
  name: string,
  value: string,
  records: EnvRecord[],
): Promise<Omit<SyncWritten, 'name'>> {
  const made: EnvRecord[] = []
  for (const slot of slots) {
    const touching = records.filter(({ targets }) => targets.some((each) => includes(slot.targets, each)))
    const own = touching.filter(
      ({ inCustom, targets }) => !inCustom && targets.every((each) => includes(slot.targets, each)),
    )
    for (const record of own) made.push(await project.update(record, value, slot))
    const covered = own.flatMap(({ targets }) => targets)
    const targets = slot.targets.filter((target) => !covered.includes(target))
    const shared = touching.filter((record) => !own.includes(record))
    if (targets.length > 0) made.push(await splitOff(project, shared, name, value, { ...slot, targets }))
  }
  return { revision: revisionOf(made), memo: null }
}

/**
 * Removes these environments from records that have others too, and creates a record for them. If Vercel refuses the
 * new record, the old ones get their environments back.
 */
async function splitOff(project: Project, shared: EnvRecord[], name: string, value: string, slot: Slot) {
  const before = shared.map((record) => ({ record, targets: record.targets }))
  for (const record of shared) await project.release(record, slot.targets)
  try {
    return await project.create(name, value, slot)
  } catch (error) {
    for (const { record, targets } of before) await project.restore(record, targets)
    throw error
  }
}

const includes = (targets: readonly string[], target: string) => targets.includes(target)

/** Returns only the code, because a refusal may contain the value in a field of its own, or quote it. */
function readErrorText(body: unknown): string | null {
  const code = (body as { error?: { code?: unknown } } | null | undefined)?.error?.code
  return typeof code === 'string' ? code : null
}

const isConflict = (code: string | null) =>
  /^(ENV_ALREADY_EXISTS|ENV_CONFLICT|EXISTING_KEY_AND_TARGET)$/i.test(code ?? '')

/** Vercel answers 403 also for a name that exists, and 400 also while somebody else changes the project. */
function refusal({ status, body }: JsonAnswer, code: string | null): ProviderError | null {
  if (isConflict(code)) return new ProviderError('exists', `HTTP ${status}: ${code}`)
  const message = (body as { error?: { message?: unknown } } | undefined)?.error?.message
  if (status === 400 && typeof message === 'string' && message.includes('ongoing update'))
    return new ProviderError('unreachable', 'somebody else is changing variables of the project')
  return null
}

function pauseMs({ body }: JsonAnswer, now: Date): number | undefined {
  const reset = (body as { error?: { limit?: { reset?: unknown } } } | undefined)?.error?.limit?.reset
  return typeof reset === 'number' ? reset * 1000 - now.getTime() : undefined
}
