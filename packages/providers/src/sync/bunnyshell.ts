import { type JsonAnswer, type JsonRequest, sendJson, statusFailure } from '../http.ts'
import type { Outbound } from '../outbound.ts'
import { errorTextOf, ProviderError } from '../provider-error.ts'
import { headerCredential } from './checks.ts'
import { madeMeanwhile, oneByOne } from './one-by-one.ts'
import type { SyncChanges, SyncConnection, SyncEntry, SyncFacts, SyncPlace, SyncSession } from './provider.ts'

// Variables of Bunnyshell environments and projects (https://documentation.bunnyshell.com). They are written one at a
// time, by ids that only the list shows.

const ORIGIN = 'https://api.environments.bunnyshell.com'
const pagesMax = 1000

export function describe(place: SyncPlace<'env-platform'>): SyncFacts {
  const { destination } = place
  const { kind, id } = parent(destination)
  return {
    places: [`${kind}/${id}`],
    rules: `secret=${destination.secret ?? true}`,
    limits: {
      name: {
        pattern: '^[A-Za-z0-9_]{3,255}$',
        words: '3 to 255 letters, digits and underscores',
        reserved: ['__*', 'BNS_*'],
        form: 'exact',
        prefix: '',
      },
      valueBytesMax: null,
      emptyValues: true,
      totalBytesMax: null,
      pushNamesMax: 50,
      pushIntervalMs: 1000,
    },
    effects: [
      kind === 'environment'
        ? 'Running components use the old values until the next deployment of the Bunnyshell environment.'
        : 'New Bunnyshell environments start with these values. Existing environments do not change.',
    ],
  }
}

export function open(connection: SyncConnection<'env-platform'>, outbound: Outbound): SyncSession {
  const { destination } = connection
  const token = headerCredential(connection.credential)
  const { kind, id } = parent(destination)
  const root = `${outbound.origin('env-platform', ORIGIN)}/v1`
  const url = `${root}/${kind}_variables`
  const isSecret = destination.secret ?? true

  async function call(request: Omit<JsonRequest, 'headers'>, value = ''): Promise<JsonAnswer> {
    const answer = await sendJson(outbound, {
      ...request,
      headers: { 'x-auth-token': token, accept: 'application/hal+json, application/problem+json' },
    })
    const failure = statusFailure(answer, outbound.now(), readErrorText(answer.body, [token, value]))
    if (failure) throw failure.reason === 'failed' && isTaken(answer) ? taken() : failure
    return answer
  }

  /**
   * The ids of the variables by name. Pages are requested by number, because a link in the answer could lead anywhere.
   */
  async function ids(): Promise<Map<string, string>> {
    const found = new Map<string, string>()
    for (let page = 1; page <= pagesMax; page++) {
      const { body } = await call({ method: 'GET', url: `${url}?${kind}=${id}&page=${page}` })
      const { items, more } = readPage(body)
      for (const item of items) found.set(item.name, item.id)
      if (!more) return found
    }
    throw new ProviderError('failed', 'the list of variables is too long')
  }

  async function write(known: Map<string, string>, name: string, value: string): Promise<void> {
    const at = known.get(name)
    await (at === undefined
      ? call({ method: 'POST', url, json: { [kind]: id, name, value, isSecret } }, value)
      : call({ method: 'PATCH', url: `${url}/${at}`, json: { value, isSecret } }, value))
  }

  return {
    async verify() {
      await call({ method: 'GET', url: `${root}/${kind}s/${id}` })
      await ids()
      return { notes: [] }
    },
    list: async (): Promise<SyncEntry[]> => [...(await ids()).keys()].map((name) => ({ name, revision: null })),
    async push(changes: SyncChanges) {
      let known = await ids()
      return await oneByOne(changes, {
        async write({ name, value, isNew }) {
          if (isNew && known.has(name)) throw madeMeanwhile()
          await write(known, name, value).catch(async (error: unknown) => {
            const reason = error instanceof ProviderError ? error.reason : undefined
            // Either the answer to our write was lost and the name is ours, or somebody removed the name after the list
            // was read.
            if (reason !== 'missing' && (reason !== 'exists' || isNew)) throw error
            known = await ids()
            await write(known, name, value)
          })
          return { revision: null, memo: null }
        },
        async remove({ name }) {
          const at = known.get(name)
          if (at === undefined) return
          await call({ method: 'DELETE', url: `${url}/${at}` }).catch((error: unknown) => {
            if (!(error instanceof ProviderError && error.reason === 'missing')) throw error
          })
        },
      })
    },
  }
}

const parent = (destination: SyncPlace<'env-platform'>['destination']) =>
  destination.kind === 'environment'
    ? ({ kind: 'environment', id: destination.environmentId } as const)
    : ({ kind: 'project', id: destination.projectId } as const)

function readPage(body: unknown): { items: { id: string; name: string }[]; more: boolean } {
  const { _embedded, _links } = (body ?? {}) as { _embedded?: { item?: unknown }; _links?: { next?: unknown } }
  const items = _embedded?.item ?? []
  if ((_embedded === undefined && _links === undefined) || !Array.isArray(items))
    throw new ProviderError('failed', 'the answer contains no list of variables')
  const next = _links?.next ?? null
  for (const { id } of items)
    if (!/^[A-Za-z0-9_-]{1,64}$/.test(String(id)))
      throw new ProviderError('failed', 'the id of a variable cannot be read')
  return { items: items.map(({ id, name }) => ({ id: String(id), name: String(name) })), more: next !== null }
}

interface Problem {
  title?: unknown
  detail?: unknown
  violations?: { propertyPath?: unknown; message?: unknown }[] | null
}

const isTaken = ({ status, body }: JsonAnswer) =>
  status === 422 &&
  ((body as Problem | undefined)?.violations ?? []).some(
    ({ propertyPath, message }) => propertyPath === 'name' && /already exists/i.test(String(message)),
  )

const taken = () => new ProviderError('exists', 'a variable with this name already exists')

function readErrorText(body: unknown, secrets: readonly string[]): string | null {
  const { title, detail, violations } = (body ?? {}) as Problem
  const texts = [detail ?? title, ...(violations ?? []).map(({ message }) => message)]
  const text = texts.filter((part) => typeof part === 'string').join(' ')
  return text === '' ? null : errorTextOf(text, secrets)
}
