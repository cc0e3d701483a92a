import type { SyncConnection } from '../../src/sync/provider.ts'
import { type FakeAnswer, type FakeRequest, httpFake } from '../http-fake.ts'
import { isSigned } from '../leases/sigv4.ts'
import type { CloudFake } from './clouds.ts'
import { FakeState, jsonObject } from './fake-state.ts'
import { cloudSamples } from './samples-clouds.ts'

// Built from the service’s published model (2017-10-17): JSON 1.1, signed requests, versions by token, scheduled
// deletion, a list that lags behind. Not verified against the real service.

export type Connection = SyncConnection<'cloud-a-secrets-manager'>
export const connection: Connection = cloudSamples['cloud-a-secrets-manager']
export const bundle: Connection = {
  ...connection,
  destination: { provider: 'cloud-a-secrets-manager', layout: 'json-bundle', secretName: 'shop/production' },
}
const fields: Record<string, [allowed: string[], required: string[]]> = {
  ListSecrets: [['Filters', 'MaxResults', 'NextToken', 'IncludePlannedDeletion'], []],
  DescribeSecret: [['SecretId'], ['SecretId']],
  GetSecretValue: [['SecretId'], ['SecretId']],
  PutSecretValue: [
    ['SecretId', 'SecretString', 'ClientRequestToken'],
    ['SecretId', 'ClientRequestToken'],
  ],
  UpdateSecret: [['SecretId', 'SecretString', 'ClientRequestToken', 'KmsKeyId'], ['SecretId']],
  CreateSecret: [
    ['Name', 'SecretString', 'ClientRequestToken', 'KmsKeyId'],
    ['Name', 'ClientRequestToken'],
  ],
  DeleteSecret: [['SecretId', 'RecoveryWindowInDays'], ['SecretId']],
  RestoreSecret: [['SecretId'], ['SecretId']],
}

interface Listed {
  Name: string
  DeletedDate?: number
}

export interface StoredSecret {
  versions: Map<string, string>
  current: string
  deleted: boolean
  kmsKeyId: string | undefined
}

export interface StoreFake extends CloudFake<'cloud-a-secrets-manager'> {
  secrets: Map<string, StoredSecret>
  /** From now on, the list does not change. */
  lag(): void
}

export async function storeFake(at: Connection): Promise<StoreFake> {
  const secrets = new Map<string, StoredSecret>()
  let listed: Listed[] | undefined
  let puts = 0
  const state = new FakeState(() => {
    secrets.clear()
    listed = undefined
  })
  const refusal = (type: string, message: string, status = 400): FakeAnswer => ({
    status,
    headers: { 'content-type': 'application/x-amz-json-1.1' },
    body: { __type: type, Message: message },
  })
  const key = { id: at.config.accessKeyId, secret: at.credential, region: at.config.region, service: 'secretsmanager' }
  const ok = (body: object): FakeAnswer => ({
    status: 200,
    headers: { 'content-type': 'application/x-amz-json-1.1' },
    body,
  })

  function answer(request: FakeRequest): FakeAnswer {
    const [, operation = ''] = /^secretsmanager\.(\w+)$/.exec(String(request.headers['x-amz-target'])) ?? []
    const [allowed, required] = fields[operation] ?? []
    if (request.method !== 'POST' || request.path !== '/' || !allowed)
      return refusal('UnknownOperationException', `no operation ${operation}`)
    if (!isSigned(request, key) || state.is('credential'))
      return refusal('UnrecognizedClientException', 'The security token included in the request is invalid.', 403)
    const read = jsonObject(request, allowed, required)
    if ('problem' in read) return refusal('ValidationException', read.problem)
    return operation === 'ListSecrets' ? list(read.body) : one(operation, read.body as Body, request)
  }

  interface Body {
    SecretId?: string
    Name?: string
    SecretString?: string
    ClientRequestToken?: string
    KmsKeyId?: string
    RecoveryWindowInDays?: number
  }

  const listNow = (): Listed[] =>
    [...secrets].map(([Name, { deleted }]) => ({ Name, ...(deleted ? { DeletedDate: 1.7e9 } : {}) }))

  function list(body: Record<string, unknown>): FakeAnswer {
    const [{ Key = 'name', Values = [''] } = {}] = (body.Filters ?? []) as { Key?: string; Values?: string[] }[]
    if (Key !== 'name' || Number(body.MaxResults) > 100) return refusal('InvalidParameterException', 'filter')
    const withDeleted = body.IncludePlannedDeletion === true
    const rows = (listed ?? listNow()).filter(
      ({ Name, DeletedDate }) => Name.startsWith(Values[0] as string) && (withDeleted || DeletedDate === undefined),
    )
    const from = Number(body.NextToken ?? 0)
    // Every second page is empty.
    const SecretList = from % 2 === 1 ? [] : rows.slice(from / 2, from / 2 + 1)
    const NextToken = from + 1 < rows.length * 2 ? String(from + 1) : undefined
    return ok({ SecretList, NextToken })
  }

  function one(operation: string, body: Body, request: FakeRequest): FakeAnswer {
    const name = body.SecretId ?? body.Name ?? ''
    const secret = secrets.get(name)
    if (operation === 'DescribeSecret' || operation === 'GetSecretValue') return read(operation, name, secret)
    if (!secret && operation !== 'CreateSecret') return refusal('ResourceNotFoundException', 'not found')
    const may = state.mayWrite(name)
    if (may === 'too many') return refusal('ThrottlingException', 'Rate exceeded')
    if (may === 'refused')
      return refusal('InvalidParameterException', `bad ${body.SecretString} for ${request.headers.authorization}`)
    if (body.SecretString !== undefined && (body.SecretString.length < 1 || body.SecretString.length > 65_536))
      return refusal('ValidationException', 'length of SecretString')
    if (!secret) return create(name, body)
    if (operation === 'RestoreSecret') {
      secret.deleted = false
      return ok({ Name: name })
    }
    if (secret.deleted)
      return refusal('InvalidRequestException', 'A secret with this name is already scheduled for deletion.')
    if (operation === 'CreateSecret') return refusal('ResourceExistsException', 'the name is taken')
    if (operation === 'DeleteSecret') {
      if (Number(body.RecoveryWindowInDays) < 7) return refusal('InvalidParameterException', 'RecoveryWindowInDays')
      secret.deleted = true
      return ok({ Name: name })
    }
    return write(operation, secret, body)
  }

  function read(operation: string, name: string, secret: StoredSecret | undefined): FakeAnswer {
    if (!secret) return refusal('ResourceNotFoundException', 'Secrets Manager can’t find the specified secret.')
    if (operation === 'DescribeSecret') {
      const VersionIdsToStages = Object.fromEntries(
        [...secret.versions.keys()].map((id) => [id, [id === secret.current ? 'AWSCURRENT' : 'AWSPREVIOUS']]),
      )
      return ok({ Name: name, VersionIdsToStages, ...(secret.deleted ? { DeletedDate: 1.7e9 } : {}) })
    }
    return secret.deleted
      ? refusal('InvalidRequestException', 'is marked for deletion')
      : ok({ Name: name, SecretString: secret.versions.get(secret.current) })
  }

  function create(name: string, { SecretString = '', ClientRequestToken = '', KmsKeyId }: Body): FakeAnswer {
    if (!/^[\w-]{32,64}$/.test(ClientRequestToken)) return refusal('InvalidParameterException', 'ClientRequestToken')
    const versions = new Map([[ClientRequestToken, SecretString]])
    secrets.set(name, { versions, current: ClientRequestToken, deleted: false, kmsKeyId: KmsKeyId })
    return ok({ Name: name, VersionId: ClientRequestToken })
  }

  function write(operation: string, secret: StoredSecret, body: Body): FakeAnswer {
    const { SecretString = '', ClientRequestToken = '', KmsKeyId } = body
    if (!/^[\w-]{32,64}$/.test(ClientRequestToken)) return refusal('InvalidParameterException', 'ClientRequestToken')
    const before = secret.versions.get(ClientRequestToken)
    if (before !== undefined && (operation === 'UpdateSecret' || before !== SecretString))
      return refusal('ResourceExistsException', 'a version with this token exists')
    secret.versions.set(ClientRequestToken, SecretString)
    secret.current = ClientRequestToken
    if (operation === 'UpdateSecret') secret.kmsKeyId = KmsKeyId
    return ok({ VersionId: ClientRequestToken })
  }

  /** The first version of a secret by somebody else is called t. Each later version has a token of its own. */
  function put(name: string, value: string): void {
    const versions = secrets.get(name)?.versions ?? new Map<string, string>()
    const current = versions.size === 0 ? 't' : `t${++puts}`
    secrets.set(name, { versions: versions.set(current, value), current, deleted: false, kmsKeyId: undefined })
  }
  const texts = () =>
    [...secrets]
      .filter(([, { deleted }]) => !deleted)
      .map(([name, { versions, current }]) => [name, versions.get(current)])
  const bundled = () => JSON.parse((Object.fromEntries(texts())['shop/production'] as string | undefined) ?? '{}')
  const server = await httpFake(answer, {
    contentType: () => 'application/x-amz-json-1.1',
    refuse: (status, words) => refusal(status === 413 ? 'RequestEntityTooLarge' : 'SerializationException', words),
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
          put: (name: string, value: string) => put('shop/production', JSON.stringify({ ...bundled(), [name]: value })),
        }
      : { values: () => new Map(texts() as [string, string][]), put }),
    neverMissing: true,
    softDelete(name: string) {
      const secret = secrets.get(name)
      if (secret) secret.deleted = true
    },
    secrets,
    lag: () => {
      listed = listNow()
    },
    stop: server.stop,
  } as StoreFake
}
