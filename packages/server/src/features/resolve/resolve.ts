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
import { readDirectory } from '../directory/read.ts'
import type { Answer, ResolveContext } from './cache.ts'
import { findMembershipOfEnv, type LayerRow, listLayers } from './store.ts'

/** Admits a caller who can hold a key. The layers decide which keys are needed. */
export const resolver = accessOf<{ principal: UserPrincipal | TokenPrincipal }>(
  'resolver',
  'A person or a service token. The caller needs a key grant on every environment (layer) in the answer',
  async (call, params) => {
    const { principal } = await signedIn.resolve(call, params)
    if (principal.type !== 'm2m') return { principal }
    throw denied(principal.orgId, askedIn(call.rawQuery), 'a machine client holds no key')
  },
)

type Request = In<typeof resolve.get, { principal: UserPrincipal | TokenPrincipal }, ResolveContext>

/** Answers from memory if the token and its answer are cached. The normal route made all checks when it cached them. */
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
 * Asks the database on every request, unlike for machines. Every server then refuses, on the next request, a person who
 * was removed or who must enter a second factor from now on, whatever the server has cached.
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

/** Counts a resolve, and returns the whole answer, or `unchanged` to a caller who has it already. */
export function choose(
  context: Context,
  headers: Request['headers'],
  { orgId, etag, whole, unchanged }: Answer,
): PrebuiltResponse {
  context.meter.countResolve(orgId)
  return matches(headers['if-none-match'], etag) ? unchanged : whole
}

/** Takes the generation before reading the database. If something changes meanwhile, the answer is not cached. */
async function readAndKeep(input: Request, key: string): Promise<Answer> {
  const generation = input.context.cache.generation()
  const answer = await read(input)
  input.context.cache.keep(generation, key, answer)
  return answer
}

async function read({ context, db, principal, query, now }: Request): Promise<Answer> {
  const environmentId = environmentOf(principal, query)
  const wanted = wantedSlugs(query.with ?? [])
  const rows = await listLayers(db, {
    principal,
    environmentId,
    branch: query.branch ?? null,
    groups: [...wanted.keys()],
    slugs: [...wanted.values()],
    now,
    withHead: query.proof !== undefined,
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
  const directory = query.proof === undefined ? undefined : await directoryFor(context, db, rows, app, query)
  return answerOf(rows, { app, branch, principal, directory })
}

/**
 * Returns the signed directory as it was when the layers were read, with the entries of the layers. A branch has none. A
 * client would refuse layers and entries of two moments.
 */
async function directoryFor(
  context: Context,
  db: Request['db'],
  rows: LayerRow[],
  app: LayerRow,
  { root = [], head }: Request['query'],
) {
  const { orgId, appSlug, headVersion } = app
  if (headVersion === null || headVersion === undefined) return null
  const keys = rows.flatMap(({ source, groupSlug, slug }) => {
    if (source === 'branch') return []
    return source === 'app' ? `environment/${appSlug}/${slug}` : `environment/${groupSlug}:${slug}`
  })
  return readDirectory(context, db, orgId, { roots: root, head, keys }, headVersion)
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

/** Refuses a request and records what was asked. Admins should know of a caller who asks for what it may not read. */
const denied = (orgId: string, asked: Request['query'], reason: string, more = {}): Refusal =>
  fail('forbidden', reason, { denial: denialOf(orgId, asked, { reason, ...more }) })

/**
 * Answers 404 both for a missing environment and for one of another organization. The denial of a token is recorded in
 * its own organization.
 */
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
/** Matches one or two slugs. A bearer secret that somebody put into the query does not have this form. */
const slugsForm = /^[a-z\d:-]{1,127}$/

/** Returns the well-formed parts of a query that nobody has checked, for the audit log. */
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

interface Parts {
  app: LayerRow
  branch: LayerRow | undefined
  principal: UserPrincipal | TokenPrincipal
  /** Absent unless the caller asked for it. */
  directory: object | null | undefined
}

/**
 * The secrets of a layer are inserted as the text that the database returned. Parsing and printing megabytes again
 * would gain nothing.
 */
function answerOf(rows: LayerRow[], { app, branch, principal, directory }: Parts): Answer {
  const scope = {
    orgId: app.orgId,
    orgSlug: app.orgSlug,
    appId: app.appId,
    appSlug: app.appSlug,
    envId: branch?.environmentId ?? app.environmentId,
    envSlug: branch?.slug ?? app.slug,
    ...(branch ? { branchOf: app.environmentId } : {}),
  }
  const ends = [branch?.expiresAt, ...rows.map((row) => row.endsAt)].filter((end) => typeof end === 'string')
  const tokenEndsMs = principal.type === 'service_token' ? principal.validUntilMs : Number.POSITIVE_INFINITY
  return {
    orgId: app.orgId,
    environmentIds: rows.map((row) => row.environmentId),
    validUntilMs: Math.min(tokenEndsMs, ...ends.map((end) => Date.parse(end))),
    ...tagged(
      `{"scope":${JSON.stringify(scope)},"layers":[${rows.map(layerText).join(',')}]${directory === undefined ? '' : `,"directory":${JSON.stringify(directory)}`}}`,
    ),
  }
}

const nothing = Buffer.alloc(0)

/** Builds the two responses for this text: the full one and the 304. */
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

function layerText({ source, environmentId, slug, groupSlug, wrappedDek, manifest, secrets }: LayerRow): string {
  const ofBranch = source === 'branch' && manifest !== undefined ? { manifest } : {}
  const head = { source, environmentId, slug, ...(groupSlug === null ? {} : { groupSlug }), wrappedDek, ...ofBranch }
  return `${JSON.stringify(head).slice(0, -1)},"secrets":${secrets ?? '[]'}}`
}
