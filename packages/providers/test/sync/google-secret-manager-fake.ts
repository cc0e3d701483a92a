import { crc32c } from '../../src/sync/crc32c.ts'
import type { SyncConnection } from '../../src/sync/provider.ts'
import { exchangeToken, formType, tokenPath } from '../google-token-fake.ts'
import { type FakeAnswer, type FakeRequest, fields, holds, httpFake, isText, listOf } from '../http-fake.ts'
import type { CloudFake } from './clouds.ts'
import { FakeState, jsonObject } from './fake-state.ts'
import { cloudSamples, serviceAccountPublicKey } from './samples-clouds.ts'

// A fake of the token exchange (RFC 7523) and of Secret Manager v1, from its discovery document. Not verified against the real
// service.

export type Connection = SyncConnection<'cloud-b-secret-manager'>
export const connection: Connection = cloudSamples['cloud-b-secret-manager']
export const bundle: Connection = {
  ...connection,
  destination: {
    provider: 'cloud-b-secret-manager',
    layout: 'json-bundle',
    secretId: 'production',
    replication: 'automatic',
    pruneVersions: true,
  },
}
export const pruned: Connection = { ...connection, destination: { ...connection.destination, pruneVersions: true } }
const root = '/v1/projects/shop-1/secrets'

export interface StoredSecret {
  createTime: string
  replication: unknown
  versions: (string | null)[]
  aliases: Record<string, string>
}

const isEncryption = holds({ kmsKeyName: isText })
const isReplica = holds({ location: isText, 'customerManagedEncryption?': isEncryption })
const replicationProblem = fields({
  'automatic?': holds({ 'customerManagedEncryption?': isEncryption }),
  'userManaged?': holds({ replicas: listOf(isReplica) }),
})

export interface ProjectFake extends CloudFake<'cloud-b-secret-manager'> {
  secrets: Map<string, StoredSecret>
  replicationAsked(): unknown
}

export async function projectFake(at: Connection): Promise<ProjectFake> {
  const secrets = new Map<string, StoredSecret>()
  let made = 0
  const state = new FakeState(() => secrets.clear())
  const refusal = (code: number, status: string, message: string): FakeAnswer => ({
    status: code,
    headers: code === 429 ? { 'retry-after': '8' } : {},
    body: { error: { code, message, status, details: [] } },
  })
  const secret = (replication: unknown): StoredSecret => {
    const createTime = new Date(Date.UTC(2026, 0, 1, 0, 0, ++made)).toISOString()
    return { createTime, replication, versions: [], aliases: {} }
  }

  function answer(request: FakeRequest): FakeAnswer {
    const { method, path, query, headers } = request
    if (path === tokenPath) return signIn(request)
    if (headers.authorization !== 'Bearer ya29.token') return refusal(401, 'UNAUTHENTICATED', 'invalid credentials')
    if (!path.startsWith(root) || state.is('missing')) return refusal(404, 'NOT_FOUND', 'Project not found')
    const [, id, version, verb] =
      /^(?:\/([A-Za-z0-9_-]{1,255})(?:\/versions\/(\w+))?(?::(\w+))?)?$/.exec(path.slice(root.length)) ?? []
    if (id === undefined) return method === 'GET' ? list(query) : create(request, query)
    const found = secrets.get(id)
    if (!found) return refusal(404, 'NOT_FOUND', `Secret [projects/42/secrets/${id}] not found`)
    if (method === 'GET' && !version && !verb)
      return { status: 200, body: { ...shown(id, found), versionAliases: found.aliases } }
    if (method === 'GET' && verb === 'access') return access(found)
    if (method === 'GET' && version === 'latest' && !verb)
      return found.versions.length === 0
        ? refusal(404, 'NOT_FOUND', 'no versions')
        : { status: 200, body: shownVersion(id, found, found.versions.length) }
    return change(request, id, found, version, verb)
  }

  function signIn(request: FakeRequest): FakeAnswer {
    const email = 'skerry@shop-1.iam.gserviceaccount.com'
    if (state.is('credential'))
      return { status: 400, body: { error: 'invalid_grant', error_description: 'Invalid grant: account not found' } }
    return exchangeToken(request, { email, publicKey: serviceAccountPublicKey }, 'ya29.token')
  }

  const shown = (id: string, { createTime, replication }: StoredSecret) => ({
    name: `projects/42/secrets/${id}`,
    createTime,
    replication,
  })

  const shownVersion = (id: string, { createTime, versions }: StoredSecret, number: number) => ({
    name: `projects/42/secrets/${id}/versions/${number}`,
    createTime: new Date(Date.parse(createTime) + number).toISOString(),
    state: versions[number - 1] === null ? 'DESTROYED' : 'ENABLED',
    etag: `"${number}"`,
  })

  function list(query: URLSearchParams): FakeAnswer {
    if ([...query.keys()].some((key) => !['pageSize', 'pageToken', 'filter'].includes(key)))
      return refusal(400, 'INVALID_ARGUMENT', 'unknown query')
    const all = [...secrets].map(([id, each]) => shown(id, each))
    const from = Number(query.get('pageToken') ?? 0)
    const nextPageToken = from + 2 < all.length ? { nextPageToken: String(from + 2) } : {}
    const page = all.slice(from, from + 2)
    return { status: 200, body: page.length === 0 ? {} : { secrets: page, ...nextPageToken } }
  }

  function create(request: FakeRequest, query: URLSearchParams): FakeAnswer {
    const id = query.get('secretId') ?? ''
    const read = jsonObject(request, ['replication', 'labels', 'annotations'], ['replication'])
    const wrong = 'problem' in read ? read.problem : replicationProblem(read.body.replication)
    if ('problem' in read || wrong !== null || !/^[\w-]{1,255}$/.test(id) || [...query.keys()].join() !== 'secretId')
      return refusal(400, 'INVALID_ARGUMENT', wrong ?? 'secretId')
    if (secrets.has(id)) return refusal(409, 'ALREADY_EXISTS', 'exists')
    const made = secret(read.body.replication)
    secrets.set(id, made)
    return { status: 200, body: shown(id, made) }
  }

  function access({ versions }: StoredSecret): FakeAnswer {
    if (versions.length === 0) return refusal(404, 'NOT_FOUND', 'no versions')
    const latest = versions.at(-1)
    if (latest === null || latest === undefined) return refusal(400, 'FAILED_PRECONDITION', 'is in DESTROYED state')
    return { status: 200, body: { payload: { data: Buffer.from(latest).toString('base64') } } }
  }

  function change(request: FakeRequest, id: string, found: StoredSecret, version = '', verb = ''): FakeAnswer {
    if (verb === 'destroy') {
      if (request.body !== '{}' || found.versions[Number(version) - 1] === undefined)
        return refusal(404, 'NOT_FOUND', 'no such version')
      found.versions[Number(version) - 1] = null
      return { status: 200, body: { name: `projects/42/secrets/${id}/versions/${version}`, state: 'DESTROYED' } }
    }
    const may = state.mayWrite(id)
    if (may === 'too many') return refusal(429, 'RESOURCE_EXHAUSTED', 'Quota exceeded')
    if (request.method === 'DELETE' && verb === '') {
      secrets.delete(id)
      return { status: 200, body: {} }
    }
    const read = jsonObject(request, ['payload'], ['payload'])
    if (verb !== 'addVersion' || 'problem' in read) return refusal(400, 'INVALID_ARGUMENT', 'unknown method')
    const payload = read.body.payload as { data: string; dataCrc32c: string }
    const problem = fields({ data: isText, 'dataCrc32c?': isText })(payload)
    if (problem !== null) return refusal(400, 'INVALID_ARGUMENT', problem)
    const { data, dataCrc32c } = payload
    const bytes = Buffer.from(data, 'base64')
    if (dataCrc32c !== String(crc32c(bytes))) return refusal(400, 'INVALID_ARGUMENT', 'checksum')
    if (may === 'refused') return refusal(400, 'INVALID_ARGUMENT', `cannot keep ${bytes} for ${at.credential}`)
    if (bytes.length === 0 || bytes.length > 65_536) return refusal(400, 'INVALID_ARGUMENT', 'payload')
    found.versions.push(bytes.toString('utf8'))
    return { status: 200, body: shownVersion(id, found, found.versions.length) }
  }

  const put = (id: string, value: string) => {
    const there = secrets.get(id) ?? secret({ automatic: {} })
    there.versions.push(value)
    secrets.set(id, there)
  }
  const latest = () =>
    new Map([...secrets].flatMap(([id, { versions }]) => (versions.length ? [[id, versions.at(-1) ?? '']] : [])))
  const bundled = () => JSON.parse(latest().get('production') ?? '{}')
  const server = await httpFake(answer, {
    contentType: ({ path }) => (path === tokenPath ? formType : 'application/json'),
    refuse: (status, words) => refusal(status === 413 ? 413 : 400, 'INVALID_ARGUMENT', words),
  })
  return {
    connection: at,
    origin: server.origin,
    ...state.controls(),
    ...(at.destination.layout === 'json-bundle'
      ? {
          // A bundle is refused as a whole.
          refuse: undefined,
          values: () => new Map(Object.entries(bundled())),
          put: (name: string, value: string) => put('production', JSON.stringify({ ...bundled(), [name]: value })),
        }
      : { values: latest, put }),
    secrets,
    replicationAsked: () => [...secrets.values()].at(-1)?.replication,
    stop: server.stop,
  } as ProjectFake
}
