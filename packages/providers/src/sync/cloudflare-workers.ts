import type { Outbound } from '../outbound.ts'
import { ProviderError } from '../provider-error.ts'
import { call, listOf, objectOf } from './call.ts'
import { edgeAccount, edgeApi, edgeCodes } from './cloudflare-api.ts'
import type { SyncConnection, SyncEntry, SyncFacts, SyncPlace, SyncSession } from './provider.ts'
import { done, inHalves } from './pushing.ts'

// Secrets of a Cloudflare Worker. One call writes and removes up to 100 names and creates one version. One call per
// name would deploy one version per name.

const namesMax = 100

export function describe({ config, destination }: SyncPlace<'edge-workers'>): SyncFacts {
  return {
    places: [`account/${config.accountId}/worker/${destination.scriptName}`],
    limits: {
      name: {
        pattern: '^[A-Za-z_$][A-Za-z0-9_$]*$',
        words: 'letters, digits, underscores and dollar signs, not beginning with a digit',
        reserved: [],
        form: 'exact',
        prefix: '',
      },
      valueBytesMax: 5120,
      emptyValues: true,
      totalBytesMax: null,
      pushNamesMax: namesMax,
      // The Worker refuses a change while another one is in progress.
      pushIntervalMs: 1000,
    },
    effects: [
      'Each push makes a new version of the Worker. This version gets all traffic of the Worker at once.',
      'If the newest version of the Worker is not deployed, Cloudflare refuses the push.',
    ],
  }
}

export function open(
  { config, destination, credential }: SyncConnection<'edge-workers'>,
  outbound: Outbound,
): SyncSession {
  const api = withWords(edgeApi(outbound, credential))
  const script = `${edgeAccount(outbound, 'edge-workers', config.accountId)}/workers/scripts/${destination.scriptName}`

  async function list(): Promise<SyncEntry[]> {
    const { body } = await call(api, { method: 'GET', url: `${script}/secrets` })
    return listOf(objectOf(body, 'result').result, 'secrets').map(({ name, type }) => ({
      name: String(name),
      revision: null,
      ...(type === 'secret_text' ? {} : { locked: 'The existing binding is a key of the Worker, not a text.' }),
    }))
  }

  return {
    async verify() {
      await list()
      return { notes: [] }
    },
    list,
    async push(changes) {
      // The removal of a missing name is not documented, and an unnecessary call would deploy a version.
      const names = changes.remove.length === 0 ? [] : (await list()).map(({ name }) => name)
      return await inHalves(changes, async (part) => {
        const secrets = Object.fromEntries([
          ...part.write.map(({ name, value }) => [name, { name, text: value, type: 'secret_text' }]),
          ...part.remove.filter(({ name }) => names.includes(name)).map(({ name }) => [name, null]),
        ])
        if (Object.keys(secrets).length > 0) await send(secrets, part.write)
        return done(part)
      })
    },
  }

  async function send(secrets: Record<string, unknown>, write: readonly { value: string }[]): Promise<void> {
    await call(
      api,
      {
        method: 'PATCH',
        url: `${script}/secrets-bulk`,
        headers: { 'content-type': 'application/merge-patch+json' },
        json: { secrets },
      },
      write.map(({ value }) => value),
    )
  }
}

/** Code 10215 means that the newest version is not deployed. A retry does not help. */
function withWords(api: ReturnType<typeof edgeApi>): ReturnType<typeof edgeApi> {
  return {
    ...api,
    refusal(answer, errorText) {
      if (edgeCodes(answer.body).includes(10215))
        return new ProviderError('invalid', 'the newest version of the Worker is not deployed; deploy it first')
      return api.refusal?.(answer, errorText) ?? null
    },
  }
}
