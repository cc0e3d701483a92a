import { limits } from '@skerry/contract/limits'
import { idPattern } from '@skerry/contract/prefixes'
import type { resolve } from '@skerry/contract/resolve/endpoints'
import { accessOf, secondFactorNeeded, signedIn } from '../../http/access.ts'
import type { Context } from '../../http/context.ts'
import { matches } from '../../http/etag.ts'
import { json, PrebuiltResponse } from '../../http/prebuilt-response.ts'
import type { FastPath, In, Out } from '../../http/route.ts'
import { rememberedToken } from '../../identity/authenticate.ts'
import { sha256 } from '../../kernel/context.ts'
import { fail, type Refusal } from '../../kernel/errors.ts'
import { isSecondFactorBehind, type TokenPrincipal, type UserPrincipal } from '../../kernel/principal.ts'
import { quotaExceeded } from '../billing/quota.ts'
import type { Answer, ResolveContext } from './cache.ts'
import { findMembershipOfEnv, type LayerRow, listLayers } from './store.ts'

/** A caller who can hold a key. Which keys, the layers decide. */
export const resolver = accessOf<{ principal: UserPrincipal | TokenPrincipal }>(
  'resolver',
  'A person or a service token, with a key grant on every layer of the answer',
  async (call, params) => {
    const { principal } = await signedIn.resolve(call, params)
    if (principal.type !== 'm2m') return { principal }
    throw denied(principal.orgId, askedIn(call.rawQuery), 'a machine client holds no key')
  },
)

type Request = In<typeof resolve.get, { principal: UserPrincipal | TokenPrincipal }, ResolveContext>

/** A token and its answer, both authenticated: what the long way would check of this request, it did when it kept the answer. */
export const fastPath: FastPath<ResolveContext> = (context, request, rawQuery, counted) => {
  const nowMs = context.now().getTime()
  const token = rememberedToken(context, request, nowMs)
  const answer = token && context.cache.find(keyOf(token, rawQuery), nowMs)
  if (
    !answer ||
    context.meter.over('resolves', answer.orgId) ||
    !context.limiter.admits('principal', token.id, counted)
  )
    return undefined
  return choose(context, request.headers, answer)
}

export async function get(input: Request): Out<typeof resolve.get> {
  const { context, principal, headers, rawQuery } = input
  if (principal.type === 'user') await checkMember(input, principal)
  const key = keyOf(principal, rawQuery)
  const answer = context.cache.find(key, context.now().getTime()) ?? (await readAndKeep(input, key))
  const over = context.meter.over('resolves', answer.orgId)
  if (over) throw quotaExceeded('resolves', over.included, over.used)
  return choose(context, headers, answer)
}

/**
 * Asked of the database each time, unlike what machines may do: a person who was removed, or must enter a second factor
 * from now on, is refused on the next request by every server, whatever it remembers.
 */
async function checkMember({ context, query, now }: Request, { id, session }: UserPrincipal): Promise<void> {
  if (query.env === undefined) return
  const found = await findMembershipOfEnv(context.db.lookups, query.env, id, now)
  if (!found) throw fail('not_found', 'no such env')
  if (found.mfaRequired && !isSecondFactorBehind(session))
    throw fail('mfa_required', secondFactorNeeded, {
      denial: {
        orgId: found.orgId,
        action: 'env.resolve_denied',
        resourceId: query.env,
        metadata: { reason: 'no second factor was entered', asked: query },
      },
    })
}

const keyOf = (principal: { id: string }, rawQuery: string) => `${principal.id} ${rawQuery}`

/** Counts a resolve, and answers with all of it, or with `unchanged` to a caller who has it already. */
export function choose(
  context: Context,
  headers: Request['headers'],
  { orgId, etag, whole, unchanged }: Answer,
): PrebuiltResponse {
  context.meter.countResolve(orgId)
  return matches(headers['if-none-match'], etag) ? unchanged : whole
}

/** The generation is taken before the database is read: what changes meanwhile is answered once and not kept. */
async function readAndKeep(input: Request, key: string): Promise<Answer> {
  const generation = input.context.cache.generation()
  const answer = await read(input)
  input.context.cache.keep(generation, key, answer)
  return answer
}

async function read({ db, principal, query, now }: Request): Promise<Answer> {
  const environmentId = environmentOf(principal, query)
  const wanted = wantedSlugs(query.with ?? [])
  const rows = await listLayers(db, {
    principal,
    environmentId,
    branch: query.branch ?? null,
    groups: [...wanted.keys()],
    slugs: [...wanted.values()],
    now,
  })
  const app = rows.find((row) => row.source === 'app')
  if (!app) throw absent(principal, query)
  for (const [group, slug] of wanted)
    if (!rows.some((row) => row.groupSlug === group && row.slug === slug))
      throw fail('invalid_request', `query.with: ${group}:${slug} names no environment of a group composed here`)
  const branch = rows.find((row) => row.source === 'branch')
  if (query.branch !== undefined && !branch) throw fail('not_found', 'no such branch')
  const missing = rows.filter((row) => row.wrappedDek === null)
  if (missing.length > 0) {
    const places = missing.map((row) => (row.groupSlug ? `${row.groupSlug}:${row.slug}` : row.slug))
    const asked = { ...query, env: environmentId }
    throw denied(app.orgId, asked, `you hold no key grant on ${places.join(', ')}`, {
      missing: missing.map((row) => row.environmentId),
    })
  }
  return answerOf(rows, app, branch, principal)
}

function environmentOf(principal: UserPrincipal | TokenPrincipal, asked: Request['query']): string {
  const { env } = asked
  if (principal.type === 'service_token' && principal.environmentId !== null) {
    if (env !== undefined && env !== principal.environmentId)
      throw denied(principal.orgId, asked, 'this token is bound to another environment')
    return principal.environmentId
  }
  if (env === undefined) throw fail('invalid_request', 'query.env: name the environment')
  return env
}

function wantedSlugs(pairs: string[]): Map<string, string> {
  const wanted = new Map<string, string>()
  for (const pair of pairs) {
    const [group, slug] = pair.split(':') as [string, string]
    if (wanted.has(group)) throw fail('invalid_request', `query.with: ${group} is named twice`)
    wanted.set(group, slug)
  }
  return wanted
}

/** Refused and recorded, with what was asked: a caller that asks for what it may not read is worth knowing of. */
const denied = (orgId: string, asked: Request['query'], reason: string, more = {}): Refusal =>
  fail('forbidden', reason, { denial: denialOf(orgId, asked, { reason, ...more }) })

/** Not there, or another organization's: whose token asks for it is told no more, and is recorded where it belongs. */
function absent(principal: UserPrincipal | TokenPrincipal, asked: Request['query']): Refusal {
  const reason = 'no such env'
  if (principal.type === 'user') return fail('not_found', reason)
  return fail('not_found', reason, { denial: denialOf(principal.orgId, asked, { reason }) })
}

const denialOf = (orgId: string, asked: Request['query'], metadata: object) =>
  ({
    orgId,
    action: 'env.resolve_denied',
    resourceId: asked.env ?? null,
    metadata: { ...metadata, asked },
  }) as const

const envIdForm = new RegExp(idPattern('environment'))
/** Slugs, one or two. No bearer has this form, should one have slipped into the query. */
const slugsForm = /^[a-z\d:-]{1,127}$/

/** Of a query whose form nobody has checked: what has the form of something that can be asked for. */
function askedIn(rawQuery: string): Request['query'] {
  const given = new URLSearchParams(rawQuery)
  const env = given.getAll('env').find((text) => envIdForm.test(text))
  const branch = given.getAll('branch').find((text) => slugsForm.test(text) || envIdForm.test(text))
  const groups = given
    .getAll('with')
    .filter((text) => slugsForm.test(text))
    .slice(0, limits.resolveWithMax)
  return { ...(env && { env }), ...(branch && { branch }), ...(groups.length > 0 && { with: groups }) }
}

/** The secrets of a layer are spliced in as the database wrote them: parsing megabytes to print them again helps nobody. */
function answerOf(
  rows: LayerRow[],
  app: LayerRow,
  branch: LayerRow | undefined,
  principal: UserPrincipal | TokenPrincipal,
): Answer {
  const scope = {
    orgId: app.orgId,
    orgSlug: app.orgSlug,
    appId: app.appId,
    appSlug: app.appSlug,
    envId: branch?.environmentId ?? app.environmentId,
    envSlug: branch?.slug ?? app.slug,
    ...(branch ? { branchOf: app.environmentId } : {}),
  }
  const branchEndsMs = branch?.expiresAt ? Date.parse(branch.expiresAt) : Number.POSITIVE_INFINITY
  const tokenEndsMs = principal.type === 'service_token' ? principal.validUntilMs : Number.POSITIVE_INFINITY
  return {
    orgId: app.orgId,
    environmentIds: rows.map((row) => row.environmentId),
    validUntilMs: Math.min(branchEndsMs, tokenEndsMs),
    ...tagged(`{"scope":${JSON.stringify(scope)},"layers":[${rows.map(layerText).join(',')}]}`),
  }
}

const nothing = Buffer.alloc(0)

/** What a text is answered as. */
export function tagged(text: string): Pick<Answer, 'etag' | 'whole' | 'unchanged'> {
  const bytes = Buffer.from(text)
  const etag = `"${sha256(bytes)}"`
  const both = ['etag', etag, 'cache-control', 'private, no-cache', 'x-content-type-options', 'nosniff']
  const headers = [...both, 'content-type', json, 'content-length', String(bytes.length)]
  return {
    etag,
    whole: new PrebuiltResponse(200, headers, bytes),
    unchanged: new PrebuiltResponse(304, both, nothing),
  }
}

function layerText({ source, environmentId, slug, groupSlug, wrappedDek, secrets }: LayerRow): string {
  const head = { source, environmentId, slug, ...(groupSlug === null ? {} : { groupSlug }), wrappedDek }
  return `${JSON.stringify(head).slice(0, -1)},"secrets":${secrets ?? '[]'}}`
}
