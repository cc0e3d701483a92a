import type { Answer } from '@skerry/contract/endpoint'
import { secretNamePattern, slugPattern } from '@skerry/contract/patterns'
import type { resolve } from '@skerry/contract/resolve/endpoints'
import { clientError, invalid } from './errors.ts'

/**
 * The response of `GET /v1/resolve`: the ciphertext and the wrapped key of each layer. In `layers`, the layer with the
 * lowest precedence is first.
 */
export type ResolveBody = Answer<typeof resolve.get>
export type Layer = ResolveBody['layers'][number]
export type Scope = ResolveBody['scope']

/** A parsed body. `shown` is the member `directory` as it came: `directory/check.ts` verifies it. */
export type ParsedBody = Omit<ResolveBody, 'directory'> & { shown?: unknown }

/** The query of a resolve, in the one spelling that is sent and that the cache key contains. */
export interface ResolveQuery {
  env?: string
  branch?: string
  /** `group:env`, sorted, each group once. */
  with: string[]
}

const slug = new RegExp(slugPattern)
const id = /^[a-z0-9]+_[0-9A-Za-z]{1,64}$/
const environmentId = /^env_[0-9A-Za-z]{1,64}$/
const secretName = new RegExp(secretNamePattern)

/**
 * Builds the query of a resolve, with the groups to read at another environment slug.
 *
 * @param groups `{ shared: 'staging' }` or `['shared:staging']`.
 * @throws SkerryError `invalid_request` for a malformed pair, or a group named twice.
 * @example toResolveQuery({ env: 'env_...', with: { shared: 'staging', db: 'eu' } }).with // ['db:eu', 'shared:staging']
 */
export function toResolveQuery(asked: {
  env?: string | undefined
  branch?: string | undefined
  with?: Readonly<Record<string, string>> | readonly string[] | undefined
}): ResolveQuery {
  const groups = asked.with ?? []
  // A caller without types may pass a string, which is a list of its characters.
  if (typeof groups !== 'object') throw invalid('with: must be an object or an array')
  const pairs = Array.isArray(groups) ? [...groups] : Object.entries(groups).map(([group, env]) => `${group}:${env}`)
  const names = pairs.map((pair) => {
    const [group = '', env = '', ...more] = String(pair).split(':')
    if (!slug.test(group) || !slug.test(env) || more.length > 0)
      throw invalid('with: write <group slug>:<environment slug>')
    return group
  })
  if (new Set(names).size < names.length) throw invalid('with: a group is named twice')
  const { env, branch } = asked
  if (env !== undefined && !environmentId.test(env)) throw invalid('env: must be an environment id')
  if (branch !== undefined && !slug.test(branch) && !environmentId.test(branch)) {
    throw invalid('branch: must be a slug or an environment id')
  }
  return { ...(env === undefined ? {} : { env }), ...(branch === undefined ? {} : { branch }), with: pairs.sort() }
}

/**
 * Parses a resolve body and checks everything that a client can check without trust in the server. It checks shapes and
 * names, and the layer order group..., app, branch. No environment may occur twice, and no secret twice in one layer.
 * The environment, branch and groups must be the requested ones, and no other branch is accepted. Only decryption shows
 * whether a value belongs to its name and environment.
 *
 * @throws SkerryError `malformed_answer`, with the position.
 * @example
 * const received = await client.request('resolve', 'get', { query: {} })
 * if (received.status === 200) console.log(parseResolveBody(received.text, { with: [] }).scope)
 */
export function parseResolveBody(text: string, asked: ResolveQuery): ParsedBody {
  let body: unknown
  try {
    body = JSON.parse(text)
  } catch {
    throw clientError('malformed_answer', 'it is not JSON')
  }
  const { scope, layers, directory: shown } = object(body, 'resolve')
  const parsed = {
    scope: parseScope(scope),
    layers: array(layers, 'layers').map(parseLayer),
    ...(shown === undefined ? {} : { shown }),
  }
  checkOrder(parsed.layers)
  checkAsked(parsed, asked)
  return parsed
}

function parseScope(value: unknown): Scope {
  const { orgId, orgSlug, appId, appSlug, envId, envSlug, branchOf } = object(value, 'scope')
  return {
    orgId: string(orgId, id, 'scope.orgId'),
    orgSlug: string(orgSlug, slug, 'scope.orgSlug'),
    appId: string(appId, id, 'scope.appId'),
    appSlug: string(appSlug, slug, 'scope.appSlug'),
    envId: string(envId, environmentId, 'scope.envId'),
    envSlug: string(envSlug, slug, 'scope.envSlug'),
    ...(branchOf === undefined ? {} : { branchOf: string(branchOf, environmentId, 'scope.branchOf') }),
  }
}

function parseLayer(value: unknown, index: number): Layer {
  const at = `layers[${index}]`
  const layer = object(value, at)
  const names = new Set<string>()
  const secrets = array(layer.secrets, `${at}.secrets`).map((one, i) => {
    const secret = object(one, `${at}.secrets[${i}]`)
    const name = string(secret.name, secretName, `${at}.secrets[${i}].name`)
    if (names.has(name)) throw clientError('malformed_answer', `${at} contains ${name} twice`)
    names.add(name)
    return { name, ciphertext: string(secret.ciphertext, /^/, `${at}.secrets[${i}].ciphertext`) }
  })
  return {
    source: string(layer.source, /^(?:group|app|branch)$/, `${at}.source`) as Layer['source'],
    environmentId: string(layer.environmentId, environmentId, `${at}.environmentId`),
    slug: string(layer.slug, slug, `${at}.slug`),
    ...(layer.groupSlug === undefined ? {} : { groupSlug: string(layer.groupSlug, slug, `${at}.groupSlug`) }),
    wrappedDek: string(layer.wrappedDek, /^/, `${at}.wrappedDek`),
    ...(layer.manifest == null ? {} : { manifest: string(layer.manifest, /^bm1\./, `${at}.manifest`) }),
    secrets,
  }
}

/** The order is the precedence, so a moved layer would let an overridden value win. */
function checkOrder(layers: readonly Layer[]): void {
  const sources = layers.map((layer) => layer.source).join(' ')
  if (!/^(?:group )*app(?: branch)?$/.test(sources)) {
    throw clientError('malformed_answer', 'its layers are not in the order group, app, branch')
  }
  if (layers.some(({ source, groupSlug }) => (source === 'group') !== (groupSlug !== undefined))) {
    throw clientError('malformed_answer', 'a layer of a group does not name its group, or another layer names one')
  }
  for (const member of ['environmentId', 'groupSlug'] as const) {
    const all = layers.map((layer) => layer[member]).filter((value) => value !== undefined)
    if (new Set(all).size < all.length) throw clientError('malformed_answer', `two layers have the same ${member}`)
  }
}

function checkAsked({ scope, layers }: ParsedBody, asked: ResolveQuery): void {
  const app = layers.find((layer) => layer.source === 'app')!
  const branch = layers.find((layer) => layer.source === 'branch')
  if (app.environmentId !== (scope.branchOf ?? scope.envId)) {
    throw clientError('malformed_answer', 'the app layer belongs to another environment than the scope')
  }
  if ((branch !== undefined) !== (scope.branchOf !== undefined) || (branch && branch.environmentId !== scope.envId)) {
    throw clientError('malformed_answer', 'the branch layer belongs to another environment than the scope')
  }
  if (asked.env !== undefined && asked.env !== app.environmentId && asked.env !== branch?.environmentId) {
    throw clientError('malformed_answer', 'it is about another environment than the one that was asked for')
  }
  if (asked.branch !== undefined && asked.branch !== branch?.slug && asked.branch !== branch?.environmentId) {
    throw clientError('malformed_answer', 'it is about another branch than the one that was asked for')
  }
  // Without `env`, the token selects the environment, and that may be a branch.
  const ownBranch = asked.env === undefined || asked.env === branch?.environmentId
  if (branch && asked.branch === undefined && !ownBranch) {
    throw clientError('malformed_answer', 'it contains a branch that was not asked for')
  }
  const wanted = new Map(asked.with.map((pair) => pair.split(':') as [string, string]))
  for (const layer of layers) {
    const env = layer.groupSlug === undefined ? undefined : wanted.get(layer.groupSlug)
    if (env !== undefined && env !== layer.slug) {
      throw clientError(
        'malformed_answer',
        `group ${layer.groupSlug} has another environment than the one that was asked for`,
      )
    }
  }
}

function object(value: unknown, at: string): Record<string, unknown> {
  if (typeof value === 'object' && value !== null && !Array.isArray(value)) return value as Record<string, unknown>
  throw clientError('malformed_answer', `${at} must be an object`)
}

function array(value: unknown, at: string): unknown[] {
  if (Array.isArray(value)) return value
  throw clientError('malformed_answer', `${at} must be an array`)
}

function string(value: unknown, pattern: RegExp, at: string): string {
  if (typeof value === 'string' && pattern.test(value)) return value
  throw clientError('malformed_answer', `${at} does not have the right format`)
}
