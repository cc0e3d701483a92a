import { accessToken, readServiceAccountKey } from '../google.ts'
import { type JsonAnswer, type JsonRequest, sendJson, statusFailure } from '../http.ts'
import type { Outbound } from '../outbound.ts'
import { errorTextOf, ProviderError } from '../provider-error.ts'
import { type Bundle, bundleBytesMax, readBundle } from './bundle.ts'
import { crc32c } from './crc32c.ts'
import type { SyncConnection, SyncFacts, SyncPlace, SyncSession, SyncWritten } from './provider.ts'
import {
  type Layout,
  type Listed,
  layoutLimits,
  layoutPlace,
  managedSession,
  type SecretManager,
  type Told,
} from './secret-manager.ts'
import { numberedMemo, ownVersions } from './version-memo.ts'

// Google Cloud Secret Manager (https://cloud.google.com/secret-manager/docs/reference/rest): the global secrets.

const ORIGIN = 'https://secretmanager.googleapis.com'
const pagesMax = 100

type Place = SyncPlace<'cloud-b-secret-manager'>

export function describe(place: Place): SyncFacts {
  const { config, destination } = place
  const layout = layoutOf(destination)
  const limits = layoutLimits(layout, {
    name: {
      pattern: '^[A-Za-z0-9_-]{1,255}$',
      words: 'letters, digits, underscores and hyphens, at most 255 characters with the prefix',
      reserved: [],
      form: 'exact',
      prefix: destination.idPrefix ?? '',
    },
    valueBytesMax: bundleBytesMax,
    emptyValues: false,
    totalBytesMax: null,
    // Google allows 600 writes a minute, and a name may take three.
    pushNamesMax: 30,
    pushIntervalMs: 10_000,
  })
  const gone = 'Google deletes a removed secret at once, with all its versions.'
  const pruned =
    'Skerry destroys the older versions that it wrote. An application that is pinned to one of them stops working.'
  return {
    places: [layoutPlace(`project/${config.projectId}`, layout)],
    limits,
    effects: [
      'Each value that changes becomes the latest version of its secret. Applications that ask for the latest version get it when they read the secret again.',
      ...('bundleId' in layout ? [] : [gone]),
      ...(destination.pruneVersions ? [pruned] : []),
    ],
  }
}

export function open(connection: SyncConnection<'cloud-b-secret-manager'>, outbound: Outbound): SyncSession {
  const layout = layoutOf(connection.destination)
  const project = new Project(connection, outbound)
  return {
    async verify() {
      const isOurs = (id: string) => ('bundleId' in layout ? id === layout.bundleId : id.startsWith(layout.prefix))
      const strange = (await project.listed()).filter(({ id, isAsked }) => isOurs(id) && !isAsked).length
      if ('bundleId' in layout) await project.bundle(layout.bundleId)
      const note = `${strange} existing secrets have other replication settings than the destination. Skerry does not change them.`
      return { notes: strange === 0 ? [] : [note] }
    },
    ...managedSession(layout, project),
  }
}

const layoutOf = ({ layout, idPrefix = '', secretId = '' }: Place['destination']): Layout =>
  layout === 'json-bundle' ? { bundleId: secretId } : { prefix: idPrefix }

class Project implements SecretManager {
  private readonly connection: SyncConnection<'cloud-b-secret-manager'>
  private readonly outbound: Outbound
  private readonly url: string
  private token: string | undefined

  constructor(connection: SyncConnection<'cloud-b-secret-manager'>, outbound: Outbound) {
    this.connection = connection
    this.outbound = outbound
    const { projectId } = connection.config
    this.url = `${outbound.origin('cloud-b-secret-manager', ORIGIN)}/v1/projects/${encodeURIComponent(projectId)}/secrets`
  }

  async listed(): Promise<{ id: string; isAsked: boolean }[]> {
    const found: { id: string; isAsked: boolean }[] = []
    const asked = JSON.stringify(placesOf(replicationOf(this.connection.destination)))
    let page = ''
    for (let pages = 0; pages < pagesMax; pages++) {
      const { body } = await this.call({ method: 'GET', url: `${this.url}?pageSize=250${page}` })
      const { secrets = [], nextPageToken } = (body ?? {}) as { secrets?: SecretItem[]; nextPageToken?: string }
      for (const { name, replication } of secrets)
        found.push({ id: lastOf(name), isAsked: JSON.stringify(placesOf(replication)) === asked })
      if (!nextPageToken) return found
      page = `&pageToken=${encodeURIComponent(nextPageToken)}`
    }
    throw new ProviderError('failed', 'the list of secrets is too long')
  }

  async secrets(prefix: string): Promise<Listed[]> {
    return (await this.listed()).filter(({ id }) => id.startsWith(prefix)).map(({ id }) => ({ id, deleted: false }))
  }

  /** The revision is that of the newest version. It also changes when somebody disables or destroys that version. */
  async look(id: string): Promise<{ revision: string | null; deleted: false } | null> {
    const answer = await this.call({ method: 'GET', url: `${this.url}/${id}/versions/latest` }).catch(unlessMissing)
    if (answer !== undefined) return { revision: revisionOf(answer.body), deleted: false }
    const secret = await this.call({ method: 'GET', url: `${this.url}/${id}` }).catch(unlessMissing)
    return secret === undefined ? null : { revision: 'no version', deleted: false }
  }

  /** Empty if there is no secret, or if it has no version yet. */
  async bundle(id: string): Promise<Bundle> {
    const answer = await this.call({ method: 'GET', url: `${this.url}/${id}/versions/latest:access` }).catch(
      unlessMissing,
    )
    if (answer === undefined) return new Map()
    const { data } = (answer.body as { payload?: { data?: unknown } } | undefined)?.payload ?? {}
    if (typeof data !== 'string') throw new ProviderError('failed', 'the answer contains no payload')
    return readBundle(Buffer.from(data, 'base64').toString('utf8'))
  }

  async write(id: string, value: string, { memo, isNew, values }: Told): Promise<Omit<SyncWritten, 'name'>> {
    const { body } = await this.add(id, value, values, isNew)
    const version = Number(lastOf((body as { name?: unknown } | undefined)?.name))
    if (!Number.isSafeInteger(version)) throw new ProviderError('failed', 'the answer contains no version')
    const kept = this.connection.destination.pruneVersions ? await this.prune(id, version, memo) : null
    return { revision: revisionOf(body), memo: kept }
  }

  /** Adds a version. Creates the secret first if it is missing. */
  private async add(id: string, value: string, values: readonly string[], isNew: boolean): Promise<JsonAnswer> {
    const bytes = Buffer.from(value, 'utf8')
    const data = bytes.toString('base64')
    const json = { payload: { data, dataCrc32c: String(crc32c(bytes)) } }
    const secrets = [value, data, ...values]
    const add = () => this.call({ method: 'POST', url: `${this.url}/${id}:addVersion`, json }, secrets)
    const make = async () => {
      const replication = replicationOf(this.connection.destination)
      await this.call({ method: 'POST', url: `${this.url}?secretId=${id}`, json: { replication } })
      return await add().catch(async (error: unknown) => {
        // The next run would take an empty secret for somebody else’s.
        const refused = error instanceof ProviderError && error.reason !== 'unreachable'
        if (refused) await this.remove(id).catch(() => {})
        throw error
      })
    }
    if (isNew) return await make()
    return await add().catch(async (error: unknown) => {
      if (!(error instanceof ProviderError && error.reason === 'missing')) throw error
      return await make()
    })
  }

  async remove(id: string): Promise<void> {
    await this.call({ method: 'DELETE', url: `${this.url}/${id}` }).catch(unlessMissing)
  }

  /**
   * Destroys older versions that the memo names, but not if the secret was created again since: its version numbers
   * then start again. A failure is not an error, because the new value is already written. The next version tries
   * again.
   */
  private async prune(id: string, version: number, memo: string | null): Promise<string | null> {
    try {
      const { body } = await this.call({ method: 'GET', url: `${this.url}/${id}` })
      const { createTime, versionAliases = {} } = (body ?? {}) as { createTime?: string; versionAliases?: object }
      const pinned = new Set(Object.values(versionAliases).map(Number))
      const left: number[] = []
      for (const older of ownVersions(memo, createTime).filter((number) => number < version)) {
        const url = `${this.url}/${id}/versions/${older}:destroy`
        const done = !pinned.has(older) && (await this.call({ method: 'POST', url, json: {} }).then(isDone, isOver))
        if (!done) left.push(older)
      }
      return numberedMemo(createTime, [...left, version])
    } catch (error) {
      if (error instanceof ProviderError) return memo
      throw error
    }
  }

  private async call(request: Omit<JsonRequest, 'headers'>, values: readonly string[] = []): Promise<JsonAnswer> {
    const { credential } = this.connection
    this.token ??= await accessToken(
      readServiceAccountKey(credential, 'credential'),
      this.outbound,
      'cloud-b-secret-manager',
    )
    const headers = { authorization: `Bearer ${this.token}` }
    const answer = await sendJson(this.outbound, { ...request, headers })
    const message = (answer.body as { error?: { message?: unknown } } | undefined)?.error?.message
    const errorText = typeof message === 'string' ? errorTextOf(message, [this.token, ...values]) : null
    const failure = statusFailure(answer, this.outbound.now(), errorText)
    if (failure && answer.status === 409) throw new ProviderError('exists', failure.message)
    if (failure) throw failure
    return answer
  }
}

/** Number, creation time and state of a version. The numbers start again with a secret that was created again. */
function revisionOf(body: unknown): string {
  const { name, createTime, state = 'ENABLED' } = (body ?? {}) as Record<string, unknown>
  return [lastOf(name), createTime, state].join(' ')
}

interface SecretItem {
  name: string
  replication?: Replication
}

interface Replication {
  automatic?: object
  userManaged?: { replicas?: { location: string }[] }
}

function replicationOf({ replication, locations = [], kmsKeyName }: Place['destination']): Replication {
  const customerManagedEncryption = kmsKeyName === undefined ? {} : { customerManagedEncryption: { kmsKeyName } }
  return replication === 'automatic'
    ? { automatic: customerManagedEncryption }
    : { userManaged: { replicas: locations.map((location) => ({ location, ...customerManagedEncryption })) } }
}

const placesOf = (replication: Replication | undefined) =>
  replication?.userManaged?.replicas?.map(({ location }) => location).sort() ?? 'automatic'

/** Names contain the project’s number instead of its id, so only their end is read. */
const lastOf = (name: unknown) => String(name).split('/').at(-1) ?? ''

function unlessMissing(error: unknown): undefined {
  if (!(error instanceof ProviderError && error.reason === 'missing')) throw error
}

/** A secret may delay the destruction of a version. The version is disabled until then, which is as good. */
const isDone = () => true

/** A version that is already destroyed or missing needs no second try. */
function isOver(error: unknown): boolean {
  if (!(error instanceof ProviderError)) throw error
  return error.reason === 'failed' || error.reason === 'missing'
}
