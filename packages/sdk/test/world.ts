import { newId } from '@skerry/crypto/random'
import { newDek } from '@skerry/crypto/secret'
import { type NewToken, newToken } from '@skerry/crypto/token'
import { wrapKey } from '@skerry/crypto/wrap'
import type { Layer, ParsedBody } from '../src/resolve-body.ts'
import { environmentKeyOf, sealFor } from '../src/secrets.ts'
import { createSkerry, type SkerrySettings } from '../src/skerry.ts'
import { type Reply, startServer } from './server.ts'

export const ids = {
  orgId: newId('organization'),
  appId: newId('application'),
  groupId: newId('group'),
  envId: newId('environment'),
  sharedEnvId: newId('environment'),
  branchId: newId('environment'),
}

export const now = '2026-01-02T03:04:05.000Z'

/** A layer as a writer of secrets makes it, for one reader. */
export async function layer(
  place: Omit<Layer, 'wrappedDek' | 'secrets'>,
  values: Record<string, string>,
  publicKeyJwk: string,
): Promise<Layer> {
  const key = await environmentKeyOf(newDek())
  const secrets = await Promise.all(
    Object.entries(values).map(async ([name, value]) => ({
      name,
      ciphertext: await sealFor(place.environmentId, name, value, key.dek),
    })),
  )
  return { ...place, wrappedDek: await wrapKey(key.bytes, publicKeyJwk), secrets }
}

export const scope: ParsedBody['scope'] = {
  orgId: ids.orgId,
  orgSlug: 'acme',
  appId: ids.appId,
  appSlug: 'web',
  envId: ids.envId,
  envSlug: 'production',
}

export const shared = {
  source: 'group',
  environmentId: ids.sharedEnvId,
  slug: 'production',
  groupSlug: 'shared',
} as const
export const app = { source: 'app', environmentId: ids.envId, slug: 'production' } as const
export const branch = { source: 'branch', environmentId: ids.branchId, slug: 'pr-7' } as const

/** A body of one group and one application environment, for one reader. */
export async function resolveBody(publicKeyJwk: string): Promise<ParsedBody> {
  return {
    scope,
    layers: [
      await layer(shared, { HOST: 'db', LEVEL: 'info' }, publicKeyJwk),
      await layer(app, { LEVEL: 'debug', URL: `postgres://\${HOST}` }, publicKeyJwk),
    ],
  }
}

/** The same body with a branch on top. */
export async function branchBody(publicKeyJwk: string): Promise<ParsedBody> {
  const { layers } = await resolveBody(publicKeyJwk)
  return {
    scope: { ...scope, envId: ids.branchId, envSlug: 'pr-7', branchOf: ids.envId },
    layers: [...layers, await layer(branch, { LEVEL: 'trace' }, publicKeyJwk)],
  }
}

/** A copy that tests can change. */
export type Draft<T> = { -readonly [K in keyof T]: Draft<T[K]> }

/** A server that answers resolve to one token, with an ETag, until `answer` is replaced. */
export async function resolveWorld(token?: NewToken) {
  const reader = token ?? (await newToken('skerry'))
  const server = await startServer(`Bearer ${reader.bearer}`)
  const world = {
    reader,
    server,
    body: (await resolveBody(reader.publicKeyJwk)) as Draft<ParsedBody>,
    etag: '"one"',
    /** Replaces the honest answer. */
    answer: undefined as (() => Reply | undefined | Promise<Reply | undefined>) | undefined,
  }
  server.on('resolve.get', ({ headers }) => {
    if (world.answer) return world.answer()
    if (headers['if-none-match'] === world.etag) return { status: 304, headers: { etag: world.etag } }
    return { json: world.body, headers: { etag: world.etag } }
  })
  return world
}

export const refuse = (status: number, code: string): Reply => ({
  status,
  text: JSON.stringify({ error: { code, message: `${code} it is` } }),
})

/** No waiting between attempts. */
export const fast = { retry: { backoffMs: 1 } }

/** A client of the server of `resolveWorld`. */
export const openSkerry = (
  { server, reader }: Awaited<ReturnType<typeof resolveWorld>>,
  settings: Partial<SkerrySettings> = {},
) => createSkerry({ baseUrl: server.baseUrl, token: reader.token, ...fast, ...settings } as SkerrySettings)
