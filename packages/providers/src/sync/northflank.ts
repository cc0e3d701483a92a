import type { JsonAnswer } from '../http.ts'
import type { Outbound } from '../outbound.ts'
import { ProviderError } from '../provider-error.ts'
import { type Api, call, digestOf, objectOf, tokenOf } from './call.ts'
import type { SyncConnection, SyncFacts, SyncFailed, SyncPlace, SyncSession } from './provider.ts'
import { inHalves, withoutTaken } from './pushing.ts'

// Variables of a Northflank secret group (https://northflank.com/docs/v1/api). It is not documented whether a PATCH
// adds to the variables or replaces them. So the whole map is read, sent and read again, which is right in both cases.

const ORIGIN = 'https://api.northflank.com'

type Variables = Record<string, unknown>

export function describe({ destination }: SyncPlace<'app-platform-d'>): SyncFacts {
  return {
    places: [`project/${destination.projectId}/secret-group/${destination.secretGroupId}`],
    limits: {
      name: {
        pattern: '^[A-Za-z0-9_./-]+$',
        words: 'letters, digits, underscores, hyphens, slashes and dots',
        reserved: [],
        form: 'exact',
        prefix: '',
      },
      valueBytesMax: null,
      emptyValues: true,
      totalBytesMax: null,
      pushNamesMax: null,
      pushIntervalMs: 0,
    },
    effects: [
      'Services and jobs use the new values after their next restart or deployment.',
      'If somebody else changes the secret group during a push, this change can be lost.',
      'If a service has its own variable with the same name, the service uses its own value.',
    ],
  }
}

export function open({ destination, credential }: SyncConnection<'app-platform-d'>, outbound: Outbound): SyncSession {
  const headers = { authorization: `Bearer ${tokenOf(credential)}` }
  const api: Api = { outbound, credential, headers, readErrorText, pauseMs }
  const { projectId, secretGroupId } = destination
  const url = `${outbound.origin('app-platform-d', ORIGIN)}/v1/projects/${projectId}/secrets/${secretGroupId}`

  /**
   * Without `show=this`, the answer would contain values of linked addons, and a write would copy them into the group.
   */
  async function read(): Promise<Variables> {
    const { body } = await call(api, { method: 'GET', url: `${url}?show=this` })
    const { variables } = objectOf(objectOf(objectOf(body, 'data').data, 'group').secrets ?? {}, 'secrets')
    // A write without the current variables would empty the group.
    if (variables === undefined || variables === null)
      throw new ProviderError('denied', 'the token is not allowed to read the variables of the group')
    return objectOf(variables, 'variables')
  }

  return {
    async verify() {
      await read()
      return { notes: [] }
    },
    async list() {
      return Object.entries(await read()).map(([name, value]) => ({ name, revision: revisionOf(value) }))
    },
    async push(changes) {
      return await inHalves(changes, async (part) => {
        const before = await read()
        const { changes: ours, failed } = withoutTaken(part, (name) => name in before)
        const { write, remove } = ours
        const gone = new Set(remove.map(({ name }) => name))
        const kept = Object.entries(before).filter(([name]) => !gone.has(name))
        const variables = {
          ...Object.fromEntries(kept),
          ...Object.fromEntries(write.map((each) => [each.name, each.value])),
        }
        const same = write.length === 0 && kept.length === Object.keys(before).length
        if (!same) await send(variables)
        const after = same ? before : await read()
        const stayed = remove.filter(({ name }) => name in after)
        const lost = write.filter(({ name, value }) => after[name] !== value)
        return {
          written: write
            .filter((each) => !lost.includes(each))
            .map(({ name, value }) => ({ name, revision: digestOf(value), memo: null })),
          removed: remove.filter((each) => !stayed.includes(each)).map(({ name }) => name),
          failed: [
            ...failed,
            ...stayed.map(({ name }): SyncFailed => ({ name, reason: 'Northflank did not delete the name.' })),
            ...lost.map(({ name }): SyncFailed => ({ name, reason: 'Northflank did not store the value.' })),
          ],
        }
      })
    },
  }

  async function send(variables: Variables): Promise<void> {
    const values = Object.values(variables).map(String)
    await call(api, { method: 'PATCH', url, json: { secrets: { variables } } }, values)
  }
}

const revisionOf = (value: unknown) => (typeof value === 'string' ? digestOf(value) : null)

function readErrorText(body: unknown): string | null {
  const message = (body as { error?: { message?: unknown } } | undefined)?.error?.message
  return typeof message === 'string' ? message : null
}

/** Returns the milliseconds until the account's limit of 1,000 requests an hour resets. The header gives seconds. */
function pauseMs({ headers }: JsonAnswer): number | undefined {
  const reset = Number(headers['x-ratelimit-reset'])
  return Number.isFinite(reset) ? reset * 1000 : undefined
}
