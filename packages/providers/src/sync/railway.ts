import type { JsonAnswer } from '../http.ts'
import type { Outbound } from '../outbound.ts'
import { ProviderError } from '../provider-error.ts'
import { type Api, call, listOf, objectOf, readPages, tokenOf } from './call.ts'
import { oneByOne, withRevisions } from './one-by-one.ts'
import type {
  SyncChanges,
  SyncConnection,
  SyncEntry,
  SyncFacts,
  SyncOutcome,
  SyncPlace,
  SyncSession,
} from './provider.ts'
import { andThen, done, without } from './pushing.ts'

// Railway variables of a service, or those that an environment shares, through the public GraphQL API. Names are read
// without their values. Failures come with status 200 and a list of errors.

const ORIGIN = 'https://backboard.railway.com'

const queries = {
  token: 'query { projectToken { projectId environmentId } }',
  place:
    'query ($project: String!, $environment: String!) { project(id: $project) { id } environment(id: $environment, projectId: $project) { id projectId } }',
  service: 'query ($service: String!) { service(id: $service) { id projectId } }',
  names:
    'query ($environment: String!, $after: String) { environment(id: $environment) { projectId variables(first: 100, after: $after) { edges { node { name serviceId updatedAt } } pageInfo { hasNextPage endCursor } } } }',
  write: 'mutation ($input: VariableCollectionUpsertInput!) { variableCollectionUpsert(input: $input) }',
  remove: 'mutation ($input: VariableDeleteInput!) { variableDelete(input: $input) }',
}

export function describe({ destination }: SyncPlace<'app-platform-a'>): SyncFacts {
  const { environmentId, serviceId, skipDeploys } = destination
  return {
    places: [`environment/${environmentId}/${serviceId ?? 'shared'}`],
    limits: {
      name: {
        pattern: '^[A-Za-z_][A-Za-z0-9_]*$',
        words: 'letters, digits and underscores, not beginning with a digit',
        reserved: ['RAILWAY_*'],
        form: 'exact',
        prefix: '',
      },
      valueBytesMax: null,
      emptyValues: true,
      totalBytesMax: null,
      pushNamesMax: null,
      pushIntervalMs: 100,
    },
    effects: [
      skipDeploys
        ? 'The next deployment uses the new values.'
        : 'A push redeploys the services that use the variables.',
      'Each removed name redeploys these services once more, because Railway removes one name at a time.',
      'If Railway refuses a name, Skerry pushes the other names one by one.',
      'Skerry refuses a value that contains ${{, because Railway would read it as a reference.',
      ...(serviceId === undefined
        ? ['A service gets a shared variable only if the service has a reference to this variable.']
        : []),
    ],
  }
}

export function open(connection: SyncConnection<'app-platform-a'>, outbound: Outbound): SyncSession {
  const { config, destination } = connection
  const { projectId, environmentId, serviceId, skipDeploys = false } = destination
  const ask = asking(connection, outbound)
  const list = async () => await readNames(ask, destination)
  const place = { projectId, environmentId, ...(serviceId === undefined ? {} : { serviceId }) }

  return {
    async verify() {
      if (config.tokenKind === 'project') await verifyToken(ask, destination)
      else await ask(queries.place, { project: projectId, environment: environmentId })
      if (serviceId !== undefined) {
        const service = objectOf((await ask(queries.service, { service: serviceId })).service, 'service')
        if (service.projectId !== projectId)
          throw new ProviderError('invalid', 'the service belongs to another project')
      }
      await list()
      return { notes: [] }
    },
    list,
    async push(given) {
      const { changes, failed } = without(given, ({ value }) => (value.includes('${{') ? reference : null))
      // Railway does not document the removal of a missing name. So only names that exist are removed.
      const names = changes.remove.length === 0 ? [] : (await list()).map(({ name }) => name)
      const all = await writeTogether(changes.write)
      const single = all === null ? changes : { ...changes, write: [] }
      const outcome = await andThen({ ...(all ?? nothing), failed }, async () =>
        oneByOne(single, {
          async write(change) {
            await write([change])
            return { revision: null, memo: null }
          },
          async remove({ name }) {
            if (names.includes(name)) await ask(queries.remove, { input: { ...place, name } })
          },
        }),
      )
      return await withRevisions(outcome, list)
    },
  }

  /** Null if one of the names cannot be stored. Railway does not say which one. */
  async function writeTogether(changes: SyncChanges['write']): Promise<SyncOutcome | null> {
    try {
      if (changes.length > 0) await write(changes)
      return done({ write: changes, remove: [] })
    } catch (error) {
      if (error instanceof ProviderError && error.reason === 'failed') return null
      throw error
    }
  }

  async function write(changes: SyncChanges['write']): Promise<void> {
    // With `replace`, all variables that are not in the list would be deleted.
    const variables = Object.fromEntries(changes.map(({ name, value }) => [name, value]))
    const input = { ...place, variables, replace: false, skipDeploys }
    const values = changes.map(({ value }) => value)
    const { variableCollectionUpsert } = await ask(queries.write, { input }, values)
    if (variableCollectionUpsert !== true) throw new ProviderError('failed', 'Railway did not write the variables')
  }
}

const nothing: SyncOutcome = { written: [], removed: [], failed: [] }

type Destination = SyncPlace<'app-platform-a'>['destination']

const reference = 'The value contains ${{, which Railway would read as a reference to another variable.'

type Ask = (
  query: string,
  variables: Record<string, unknown>,
  values?: readonly string[],
) => Promise<Record<string, unknown>>

function asking({ config, credential }: SyncConnection<'app-platform-a'>, outbound: Outbound): Ask {
  const token = tokenOf(credential)
  const headers: Record<string, string> =
    config.tokenKind === 'project' ? { 'project-access-token': token } : { authorization: `Bearer ${token}` }
  const api: Api = { outbound, credential, headers, readErrorText, refusal }
  const url = `${outbound.origin('app-platform-a', ORIGIN)}/graphql/v2`
  return async (query, variables, values = []) => {
    const { body } = await call(api, { method: 'POST', url, json: { query, variables } }, values)
    return objectOf(objectOf(body, 'data').data, 'data')
  }
}

async function verifyToken(ask: Ask, { projectId, environmentId }: Destination): Promise<void> {
  const bound = objectOf((await ask(queries.token, {})).projectToken, 'token')
  if (bound.projectId !== projectId || bound.environmentId !== environmentId)
    throw new ProviderError('invalid', 'the project token belongs to another project or environment')
}

const readNames = (ask: Ask, { environmentId, serviceId }: Destination): Promise<SyncEntry[]> =>
  readPages<SyncEntry, string>('variables', async (after) => {
    const { environment } = await ask(queries.names, { environment: environmentId, after })
    const { edges, pageInfo } = objectOf(objectOf(environment, 'environment').variables, 'variables')
    const rows = listOf(edges, 'variables').flatMap(({ node }) => {
      const { name, serviceId: owner, updatedAt } = objectOf(node, 'variable')
      const isOurs = (owner ?? undefined) === serviceId && !String(name).startsWith('RAILWAY_')
      return isOurs ? [{ name: String(name), revision: String(updatedAt) }] : []
    })
    const { hasNextPage, endCursor } = objectOf(pageInfo, 'page')
    // Without a clear statement about further pages, a part of the list could pass for all of it.
    if (typeof hasNextPage !== 'boolean' || (hasNextPage && typeof endCursor !== 'string'))
      throw new ProviderError('failed', 'the answer does not say whether the list of variables is complete')
    return { rows, next: hasNextPage ? String(endCursor) : null }
  })

function refusal({ status, body }: JsonAnswer, words: string | null): ProviderError | null {
  const text = errorsOf(body).join(', ')
  if (text === '' || status === 429 || status >= 500) return null
  const shown = words ?? 'the request was refused'
  if (/not authorized|token not found|two factor/i.test(text)) return new ProviderError('denied', shown)
  if (/not found/i.test(text)) return new ProviderError('missing', shown)
  return new ProviderError('failed', shown)
}

const readErrorText = (body: unknown): string | null => errorsOf(body).join(', ') || null

function errorsOf(body: unknown): string[] {
  const errors = (body as { errors?: unknown } | undefined)?.errors
  if (!Array.isArray(errors)) return []
  return errors.map((error) => String((error as { message?: unknown } | null)?.message ?? 'an error without a message'))
}
