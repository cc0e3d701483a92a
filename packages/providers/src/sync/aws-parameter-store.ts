import {
  DeleteParametersCommand,
  GetParametersByPathCommand,
  type GetParametersByPathCommandOutput,
  PutParameterCommand,
  SSMClient,
} from '@aws-sdk/client-ssm'
import type { Outbound } from '../outbound.ts'
import { ProviderError } from '../provider-error.ts'
import { asked, awsClient } from './aws-calls.ts'
import { oneByOne } from './one-by-one.ts'
import type { SyncChanges, SyncConnection, SyncEntry, SyncFacts, SyncPlace, SyncSession } from './provider.ts'

// AWS Systems Manager Parameter Store: the parameters directly under a path.

const pagesMax = 2000

export function describe(place: SyncPlace<'cloud-a-parameter-store'>): SyncFacts {
  const { config, destination } = place
  const { path, tier, kmsKeyId = null } = destination
  return {
    places: [`${config.region}/${config.accessKeyId}${path}`],
    rules: JSON.stringify({ tier, kmsKeyId }),
    limits: {
      name: {
        pattern: '^/(?![Aa][Ww][Ss]|[Ss][Ss][Mm])[A-Za-z0-9_.-]+(?:/[A-Za-z0-9_.-]+){0,14}$',
        words: 'letters, digits, underscores, dots and hyphens',
        reserved: [],
        form: 'exact',
        prefix: path,
      },
      valueBytesMax: tier === 'Standard' ? 4096 : 8192,
      emptyValues: false,
      totalBytesMax: null,
      // AWS allows about three writes a second, unless the account has paid for more.
      pushNamesMax: 3,
      pushIntervalMs: 1000,
    },
    effects: [
      'Each value that changes becomes a new version of its parameter. Applications get the new value when they read the parameter again.',
    ],
  }
}

export function open(connection: SyncConnection<'cloud-a-parameter-store'>, outbound: Outbound): SyncSession {
  const { path, type, tier, kmsKeyId } = connection.destination
  const client = new SSMClient(awsClient(connection, 'ssm', outbound))
  const secrets = [connection.credential]

  async function list(): Promise<SyncEntry[]> {
    const found: SyncEntry[] = []
    let NextToken: string | undefined
    for (let pages = 0; pages < pagesMax; pages++) {
      const command = new GetParametersByPathCommand({
        Path: path,
        Recursive: false,
        WithDecryption: false,
        MaxResults: 10,
        NextToken,
      })
      const page: GetParametersByPathCommandOutput = await asked(client.send(command), secrets)
      for (const { Name = '', Type, Version } of page.Parameters ?? []) {
        const locked = Type === type ? {} : { locked: `The parameter is a ${Type}, and its type cannot be changed.` }
        found.push({
          name: Name.slice(path.length),
          revision: Version === undefined ? null : String(Version),
          ...locked,
        })
      }
      // An empty page need not be the last one.
      NextToken = page.NextToken
      if (!NextToken) return found
    }
    throw new ProviderError('failed', 'the list of parameters is too long')
  }

  return {
    async verify() {
      const command = new GetParametersByPathCommand({
        Path: path,
        Recursive: false,
        WithDecryption: false,
        MaxResults: 1,
      })
      await asked(client.send(command), secrets)
      return { notes: [] }
    },
    list,
    push: (changes: SyncChanges) =>
      oneByOne(changes, {
        async write({ name, value, isNew }) {
          const command = new PutParameterCommand({
            Name: path + name,
            Value: value,
            Type: type,
            Tier: tier,
            KeyId: kmsKeyId,
            Overwrite: !isNew,
          })
          const { Version } = await asked(client.send(command), [...secrets, value])
          return { revision: Version === undefined ? null : String(Version), memo: null }
        },
        async remove({ name }) {
          // AWS lists a missing parameter as invalid in its answer, and does not refuse the call.
          await asked(client.send(new DeleteParametersCommand({ Names: [path + name] })), secrets)
        },
      }),
  }
}
