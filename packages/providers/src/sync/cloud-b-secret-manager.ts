import { accessToken, readServiceAccountKey } from '../google.ts'
import { type JsonAnswer, type JsonRequest, sendJson, statusFailure } from '../http.ts'
import type { Outside } from '../outside.ts'
import { ProviderError, safeText } from '../provider-error.ts'
import {
  type Bundle,
  bundleBytesMax,
  bundleEntries,
  bundleName,
  bundleOutcome,
  changedBundle,
  readBundle,
} from './bundle.ts'
import { checkPlace } from './checks.ts'
import { crc32c } from './crc32c.ts'
import { oneByOne } from './one-by-one.ts'
import type {
  SyncChanges,
  SyncConnection,
  SyncEntry,
  SyncFacts,
  SyncLimits,
  SyncPlace,
  SyncSession,
} from './provider.ts'
import { mergedMemos, numberedMemo, ownVersions } from './version-memo.ts'

// Google Cloud Secret Manager (https://cloud.google.com/secret-manager/docs/reference/rest), its global secrets.

const ORIGIN = 'https://secretmanager.googleapis.com'
const pagesMax = 100

type Place = SyncPlace<'cloud-b-secret-manager'>

export function describe(place: Place): SyncFacts {
  checkPlace(place)
  const { config, destination } = place
  const { layout, idPrefix = '', secretId, pruneVersions } = destination
  const project = `project/${config.projectId}`
  const perName: SyncLimits = {
    name: {
      pattern: '^[A-Za-z0-9_-]{1,255}$',
      words: 'letters, digits, underscores and hyphens, at most 255 with the prefix',
      reserved: [],
      form: 'exact',
      prefix: idPrefix,
    },
    valueBytesMax: bundleBytesMax,
    emptyValues: false,
    totalBytesMax: null,
    // 600 writes a minute, and a name may take three.
    pushNamesMax: 30,
    pushIntervalMs: 10_000,
  }
  const bundle: SyncLimits = {
    ...perName,
    name: bundleName,
    emptyValues: true,
    totalBytesMax: bundleBytesMax,
    pushNamesMax: null,
  }
  const gone = 'A secret that is removed is gone at once with all its versions.'
  const pruned = 'Older versions that Skerry wrote are destroyed, so whatever is pinned to one of them stops.'
  return {
    places: [layout === 'json-bundle' ? `${project}/secret/${secretId}` : `${project}/prefix/${idPrefix}`],
    limits: layout === 'json-bundle' ? bundle : perName,
    effects: [
      'What is written becomes the latest version, which applications read that do not name one.',
      ...(layout === 'json-bundle' ? [] : [gone]),
      ...(pruneVersions ? [pruned] : []),
    ],
  }
}

export function open(connection: SyncConnection<'cloud-b-secret-manager'>, outside: Outside): SyncSession {
  checkPlace(connection)
  const { layout, idPrefix = '', secretId = '', pruneVersions } = connection.destination
  const project = new Project(connection, outside)

  async function names(): Promise<SyncEntry[]> {
    const ids = (await project.secrets()).map(({ id }) => id).filter((id) => id.startsWith(idPrefix))
    return ids.map((id) => ({ name: id.slice(idPrefix.length), revision: null }))
  }

  return {
    async verify() {
      const isOurs = (id: string) => (layout === 'json-bundle' ? id === secretId : id.startsWith(idPrefix))
      const strange = (await project.secrets()).filter(({ id, isAsked }) => isOurs(id) && !isAsked).length
      if (layout === 'json-bundle') await project.bundle(secretId)
      const note = `${strange} of the secrets there are replicated otherwise than the destination says, and stay so.`
      return { notes: strange === 0 ? [] : [note] }
    },
    list: async () => (layout === 'json-bundle' ? bundleEntries(await project.bundle(secretId)) : await names()),
    async push(changes: SyncChanges) {
      if (layout !== 'json-bundle')
        return await oneByOne(changes, {
          async write({ name, value, memo }) {
            const version = await project.add(idPrefix + name, value, [])
            return { revision: null, memo: pruneVersions ? await project.prune(idPrefix + name, version, memo) : null }
          },
          remove: async ({ name }) => await project.remove(idPrefix + name),
        })
      const next = changedBundle(await project.bundle(secretId), changes)
      if (next === null) return bundleOutcome(changes)
      const version = await project.add(secretId, next.text, next.values)
      if (!pruneVersions) return bundleOutcome(changes)
      const memo = mergedMemos([...changes.write, ...changes.remove].map((change) => change.memo))
      return bundleOutcome(changes, await project.prune(secretId, version, memo))
    },
  }
}

class Project {
  private readonly connection: SyncConnection<'cloud-b-secret-manager'>
  private readonly outside: Outside
  private readonly url: string
  private token: string | undefined

  constructor(connection: SyncConnection<'cloud-b-secret-manager'>, outside: Outside) {
    this.connection = connection
    this.outside = outside
    const { projectId } = connection.config
    this.url = `${outside.origin('cloud-b-secret-manager', ORIGIN)}/v1/projects/${encodeURIComponent(projectId)}/secrets`
  }

  async secrets(): Promise<{ id: string; isAsked: boolean }[]> {
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
    throw new ProviderError('failed', 'the list of secrets does not end')
  }

  /** Empty where there is no secret, or none of its versions was written yet. */
  async bundle(id: string): Promise<Bundle> {
    const answer = await this.call({ method: 'GET', url: `${this.url}/${id}/versions/latest:access` }).catch(
      unlessMissing,
    )
    if (answer === undefined) return new Map()
    const { data } = (answer.body as { payload?: { data?: unknown } } | undefined)?.payload ?? {}
    if (typeof data !== 'string') throw new ProviderError('failed', 'the answer holds no payload')
    return readBundle(Buffer.from(data, 'base64').toString('utf8'))
  }

  /** Adds a version, of a secret that is made where there is none. Answers its number. */
  async add(id: string, value: string, values: readonly string[]): Promise<number> {
    const bytes = Buffer.from(value, 'utf8')
    const data = bytes.toString('base64')
    const json = { payload: { data, dataCrc32c: String(crc32c(bytes)) } }
    const secrets = [value, data, ...values]
    const add = () => this.call({ method: 'POST', url: `${this.url}/${id}:addVersion`, json }, secrets)
    const answer = await add().catch(async (error: unknown) => {
      if (!(error instanceof ProviderError && error.reason === 'missing')) throw error
      const replication = replicationOf(this.connection.destination)
      const made = this.call({ method: 'POST', url: `${this.url}?secretId=${id}`, json: { replication } })
      await made.catch((refused: unknown) => {
        if (!(refused instanceof ProviderError && refused.reason === 'exists')) throw refused
      })
      return await add()
    })
    const version = Number(lastOf((answer.body as { name?: unknown } | undefined)?.name))
    if (!Number.isSafeInteger(version)) throw new ProviderError('failed', 'the answer holds no version')
    return version
  }

  async remove(id: string): Promise<void> {
    await this.call({ method: 'DELETE', url: `${this.url}/${id}` }).catch(unlessMissing)
  }

  /**
   * Destroys the versions before this one that the memo names, unless the secret was made anew since, when its numbers began
   * again. What fails here is tried again with the next version, since the new value is written already.
   */
  async prune(id: string, version: number, memo: string | null): Promise<string | null> {
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
      this.outside,
      'cloud-b-secret-manager',
    )
    const headers = { authorization: `Bearer ${this.token}` }
    const answer = await sendJson(this.outside, { ...request, headers })
    const message = (answer.body as { error?: { message?: unknown } } | undefined)?.error?.message
    const said = typeof message === 'string' ? safeText(message, [this.token, ...values]) : null
    const failure = statusFailure(answer, this.outside.now(), said)
    if (failure && answer.status === 409) throw new ProviderError('exists', failure.message)
    if (failure) throw failure
    return answer
  }
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

/** Names hold the project’s number and not its id, so only their end is read. */
const lastOf = (name: unknown) => String(name).split('/').at(-1) ?? ''

function unlessMissing(error: unknown): undefined {
  if (!(error instanceof ProviderError && error.reason === 'missing')) throw error
}

/** A secret may delay destruction. Its versions are disabled until then, which is as good. */
const isDone = () => true

/** A version that is destroyed already, or gone, needs no second try. */
function isOver(error: unknown): boolean {
  if (!(error instanceof ProviderError)) throw error
  return error.reason === 'failed' || error.reason === 'missing'
}
