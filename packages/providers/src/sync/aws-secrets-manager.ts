import { createHash, randomUUID } from 'node:crypto'
import {
  CreateSecretCommand,
  DeleteSecretCommand,
  DescribeSecretCommand,
  GetSecretValueCommand,
  ListSecretsCommand,
  type ListSecretsCommandOutput,
  PutSecretValueCommand,
  RestoreSecretCommand,
  SecretsManagerClient,
  UpdateSecretCommand,
} from '@aws-sdk/client-secrets-manager'
import type { Outbound } from '../outbound.ts'
import { ProviderError } from '../provider-error.ts'
import { AwsRefusal, asked, awsClient } from './aws-calls.ts'
import { type Bundle, bundleBytesMax, readBundle } from './bundle.ts'
import type { SyncConnection, SyncFacts, SyncPlace, SyncSession } from './provider.ts'
import {
  type Layout,
  type Listed,
  layoutLimits,
  layoutPlace,
  managedSession,
  type SecretManager,
  type Told,
} from './secret-manager.ts'

// AWS Secrets Manager. Its list may be five minutes old. So an owned name is read before it is removed or created
// again, and a new name is created and never overwritten.

const pagesMax = 2000
const recoveryDays = 30

type Place = SyncPlace<'cloud-a-secrets-manager'>

export function describe(place: Place): SyncFacts {
  const { config, destination } = place
  const { kmsKeyId = null } = destination
  const layout = layoutOf(destination)
  const limits = layoutLimits(layout, {
    name: {
      pattern: '^[A-Za-z0-9/_+=.@-]{1,512}$',
      words: 'letters, digits and /_+=.@-, at most 512 characters with the prefix',
      reserved: [],
      form: 'exact',
      prefix: destination.pathPrefix ?? '',
    },
    valueBytesMax: bundleBytesMax,
    emptyValues: false,
    totalBytesMax: null,
    // AWS allows 50 calls a second, and a name may take three.
    pushNamesMax: 15,
    pushIntervalMs: 1000,
  })
  return {
    places: [layoutPlace(`${config.region}/${config.accessKeyId}`, layout)],
    rules: JSON.stringify({ kmsKeyId }),
    ...('prefix' in layout ? { keepsDeleted: true as const } : {}),
    limits,
    effects:
      'bundleId' in layout
        ? ['The secret gets one new version. Applications get the new version when they read the secret again.']
        : [
            'Each value that changes becomes the current version of its secret. Applications get the new value when they read the secret again.',
            `You can restore a removed secret in AWS for ${recoveryDays} days.`,
          ],
  }
}

export function open(connection: SyncConnection<'cloud-a-secrets-manager'>, outbound: Outbound): SyncSession {
  const layout = layoutOf(connection.destination)
  const store = new Store(connection, outbound)
  return {
    async verify() {
      if ('bundleId' in layout) return { notes: await store.notes(layout.bundleId) }
      await store.page(layout.prefix, 1)
      return { notes: [] }
    },
    ...managedSession(layout, store),
  }
}

const layoutOf = ({ layout, pathPrefix = '', secretName = '' }: Place['destination']): Layout =>
  layout === 'json-bundle' ? { bundleId: secretName } : { prefix: pathPrefix }

class Store implements SecretManager {
  private readonly client: SecretsManagerClient
  private readonly kmsKeyId: string | undefined
  private readonly credential: string
  /** Secrets that this session wrote (not deleted) or removed (deleted). The list may not show that yet. */
  private readonly own = new Map<string, Listed>()

  constructor(connection: SyncConnection<'cloud-a-secrets-manager'>, outbound: Outbound) {
    this.client = new SecretsManagerClient(awsClient(connection, 'secretsmanager', outbound))
    this.kmsKeyId = connection.destination.kmsKeyId
    this.credential = connection.credential
  }

  async secrets(prefix: string): Promise<Listed[]> {
    const found = new Map<string, Listed>()
    let token: string | undefined
    for (let pages = 0; pages < pagesMax; pages++) {
      const { SecretList = [], NextToken } = await this.page(prefix, 100, token)
      for (const { Name = '', DeletedDate } of SecretList)
        if (Name.startsWith(prefix)) found.set(Name, { id: Name, deleted: DeletedDate !== undefined })
      token = NextToken
      if (token) continue
      for (const [id, known] of this.own) found.set(id, known)
      return [...found.values()]
    }
    throw new ProviderError('failed', 'the list of secrets is too long')
  }

  async page(prefix: string, MaxResults: number, NextToken?: string): Promise<ListSecretsCommandOutput> {
    const Filters = prefix === '' ? undefined : [{ Key: 'name' as const, Values: [prefix] }]
    const command = new ListSecretsCommand({ Filters, MaxResults, NextToken, IncludePlannedDeletion: true })
    return await asked(this.client.send(command), [this.credential])
  }

  /** The revision is the id of the current version, because every write creates a version. */
  async look(id: string): Promise<{ revision: string | null; deleted: boolean } | null> {
    const found = await this.described(id)
    if (found === null) return null
    const versions = Object.entries(found.VersionIdsToStages ?? {})
    const [current = null] = versions.find(([, stages]) => stages.includes('AWSCURRENT')) ?? []
    return { revision: current, deleted: found.DeletedDate !== undefined }
  }

  async notes(id: string): Promise<string[]> {
    const found = await this.described(id)
    if (found === null) return ['The secret does not exist yet. The first push creates it.']
    await this.bundle(id)
    return found.RotationEnabled ? ['AWS rotates the secret, and will overwrite the pushed values.'] : []
  }

  /**
   * Empty if the secret does not exist. Skerry never deletes a bundle, so it does not restore one that somebody else
   * deleted.
   */
  async bundle(id: string): Promise<Bundle> {
    const found = await this.described(id)
    if (found === null) return new Map()
    if (found.DeletedDate)
      throw new ProviderError('invalid', `the secret ${id} is scheduled for deletion; restore it in AWS first`)
    const { SecretString } = await asked(this.client.send(new GetSecretValueCommand({ SecretId: id })), [
      this.credential,
    ]).catch((error: unknown) => {
      // A secret may have no version yet.
      if (error instanceof AwsRefusal && error.reason === 'missing') return { SecretString: '{}' }
      throw error
    })
    return readBundle(SecretString ?? '')
  }

  /** Writes a value once per run: AWS uses the token as the id of the version, so a repeated write changes nothing. */
  async write(id: string, value: string, { runId, isNew, values }: Told): Promise<{ revision: string; memo: null }> {
    const secrets = [this.credential, value, ...values]
    const token = createHash('sha256').update(`${runId}\n${id}`).digest('hex')
    const revision = isNew
      ? await this.create(id, value, token, secrets)
      : await this.replace(id, value, token, secrets)
    this.own.set(id, { id, deleted: false })
    return { revision, memo: null }
  }

  /** Writes a secret of the caller. Creates it if it is missing, and restores it if it is deleted. */
  private async replace(id: string, value: string, token: string, secrets: readonly string[]): Promise<string> {
    const put = async () =>
      await this.put(id, value, token, secrets).catch(async (error: unknown) => {
        // This run has already written another value of the name.
        if (!(error instanceof AwsRefusal && error.code === 'ResourceExistsException')) throw error
        return await this.put(id, value, randomUUID(), secrets)
      })
    return await put().catch(async (error: unknown) => {
      if (!(error instanceof AwsRefusal)) throw error
      if (error.code === 'ResourceNotFoundException') return await this.create(id, value, token, secrets)
      if (error.code !== 'InvalidRequestException' || !(await this.described(id))?.DeletedDate) throw error
      await asked(this.client.send(new RestoreSecretCommand({ SecretId: id })), secrets)
      return await put().catch(async (refused: unknown) => {
        // If AWS refuses the new value, the restored secret is deleted again, so that the old value is not left in use.
        await this.remove(id).catch(() => {})
        throw refused
      })
    })
  }

  async remove(id: string): Promise<void> {
    const command = new DeleteSecretCommand({ SecretId: id, RecoveryWindowInDays: recoveryDays })
    await asked(this.client.send(command), [this.credential]).catch(async (error: unknown) => {
      if (!(error instanceof AwsRefusal)) throw error
      const gone = error.reason === 'missing' || (error.code === 'InvalidRequestException' && (await this.isGone(id)))
      if (!gone) throw error
    })
    this.own.set(id, { id, deleted: true })
  }

  /** If a KMS key is configured, it is set together with the value, so that a change of the key takes effect. */
  private async put(id: string, value: string, token: string, secrets: readonly string[]): Promise<string> {
    const version = { SecretId: id, SecretString: value, ClientRequestToken: token }
    const { VersionId = token } = await (this.kmsKeyId === undefined
      ? asked(this.client.send(new PutSecretValueCommand(version)), secrets)
      : asked(this.client.send(new UpdateSecretCommand({ ...version, KmsKeyId: this.kmsKeyId })), secrets))
    return VersionId
  }

  private async create(id: string, value: string, token: string, secrets: readonly string[]): Promise<string> {
    const command = new CreateSecretCommand({
      Name: id,
      SecretString: value,
      ClientRequestToken: token,
      KmsKeyId: this.kmsKeyId,
    })
    const { VersionId = token } = await asked(this.client.send(command), secrets).catch(async (error: unknown) => {
      if (!(error instanceof AwsRefusal && error.code === 'InvalidRequestException')) throw error
      if ((await this.described(id))?.DeletedDate)
        throw new ProviderError(
          'foreign',
          'a deleted secret that Skerry did not create has this name, so nothing was changed',
        )
      // AWS reserves the name of a secret for a while after a forced deletion.
      throw new ProviderError('failed', error.message, 5000)
    })
    return VersionId
  }

  private async isGone(id: string): Promise<boolean> {
    const found = await this.described(id)
    return found === null || found.DeletedDate !== undefined
  }

  private async described(id: string) {
    return await asked(this.client.send(new DescribeSecretCommand({ SecretId: id })), [this.credential]).catch(
      (error: unknown) => {
        if (error instanceof AwsRefusal && error.reason === 'missing') return null
        throw error
      },
    )
  }
}
