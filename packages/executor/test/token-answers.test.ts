import { beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { consented } from '../../server/test/vault-scene.ts'
import type { Tokens } from '../src/oauth/client.ts'
import { openJournal } from '../src/oauth/journal.ts'
import type { Running } from '../src/serve.ts'
import { client } from './provider.ts'
import { backend, connectionOf, openScene } from './scene.ts'
import { faults, refusals, type TokenAnswer, tokens } from './token-answers.ts'
import { startUpstream } from './upstream.ts'

const scene = await openScene()
const api = await startUpstream()
const tokenEndpoint = await startUpstream()
let answer: Omit<TokenAnswer, 'status'> & { status?: number } = { body: {} }
tokenEndpoint.answers = (_, response) => {
  const { status = 200, body, type = 'application/json' } = answer
  response.writeHead(status, { 'content-type': type }).end(typeof body === 'string' ? body : JSON.stringify(body))
}
await scene.newSettings({
  allowNetworks: ['127.0.0.0/8'],
  providers: [
    {
      ...{ id: 'mail', method: 'oauth2', displayName: 'Mail', consentSummary: 'Reads your mail.' },
      ...{ issuer: tokenEndpoint.origin, clientId: client.id, clientSecretEnv: 'MAIL_CLIENT_SECRET' },
      authorizationEndpoint: `${tokenEndpoint.origin}/authorize`,
      tokenEndpoint: `${tokenEndpoint.origin}/token`,
      ...{ scopes: ['things'], rules: [{ host: api.host }] },
    },
  ],
})
let running!: Running
beforeAll(async () => {
  await scene.command('register', '--server', scene.world.url, '--code', await scene.code())
  running = await scene.start()
})
beforeEach(() => {
  api.got.length = 0
  tokenEndpoint.got.length = 0
})

/** A connection whose access token has expired. */
async function connect(): Promise<string> {
  const { id, session } = await consented(scene.world, scene, { providerId: 'mail' })
  const { projectId, connectionId } = session as { projectId: string; connectionId: string }
  const first: Tokens = {
    ...{ accessToken: 'old', refreshToken: 'first', refreshExpiresAt: null },
    expiresAt: scene.world.clock.now().toISOString(),
  }
  const place = { projectId, connectionId, providerId: 'mail', slot: 'oauth2', revision: 1 } as const
  const { credentials, server } = running.executor
  const sealed = await credentials.seal(JSON.stringify(first), place)
  const slots = [{ slot: place.slot, revision: 1, ...sealed }]
  await server.complete({ params: { connectSessionId: id }, body: { slots } })
  return connectionId
}

const call = async (connectionId: string) => {
  const request = { method: 'GET', url: `${api.origin}/things` }
  return (await backend(scene, '/v1/fetch', { userRef: 'user-1', connectionId, request })).body.error
}

describe('a refusal by', () => {
  test.each(Object.entries(refusals))('%s requires the person to connect again', async (_, refusal) => {
    const connectionId = await connect()
    answer = refusal
    expect((await call(connectionId))?.code).toBe('reauth_required')
    const { status, statusReason } = await connectionOf(scene, connectionId)
    expect([status, statusReason]).toEqual(['reauth_required', 'refresh_rejected'])
    expect(await openJournal(scene.state).open()).toEqual([])
  })

  test.each(Object.entries(faults))(
    '%s leaves the connection active, and the error names the provider’s code',
    async (_, fault) => {
      const connectionId = await connect()
      answer = fault
      const error = await call(connectionId)
      expect([error?.code, error?.message]).toEqual([
        'provider_failed',
        `mail did not issue a new token (${fault.told})`,
      ])
      expect((await connectionOf(scene, connectionId)).status).toBe('active')
      expect(await openJournal(scene.state).open()).toEqual([])
      expect(api.got).toEqual([])
    },
  )
})

test.each(Object.entries(tokens))('a new token is read from the answer of %s', async (_, { keeps, ...given }) => {
  const connectionId = await connect()
  answer = given
  expect(await call(connectionId)).toBeUndefined()
  expect(api.got.map(({ headers }) => headers.authorization)).toEqual(['Bearer new'])
  const { text, revision } = await running.executor.credentials.open(connectionId, 'oauth2')
  const { refreshToken, expiresAt } = JSON.parse(text) as Tokens
  const lifetime = expiresAt && Math.round((Date.parse(expiresAt) - scene.world.clock.now().getTime()) / 60_000) * 60
  expect([revision, { refreshToken, lifetimeSeconds: lifetime }]).toEqual([2, keeps])
})

test.each<[string, TokenAnswer]>([
  ['without a token or an error', { status: 200, body: { ok: true } }],
  ['that was cut off', { status: 200, body: '{"access_token":"ne' }],
  ['of a provider that failed', { status: 500, body: { error: 'server_error' } }],
])('after an answer %s, a rejection of the next try is reported as an unknown outcome', async (_, unclear) => {
  const connectionId = await connect()
  answer = unclear
  expect((await call(connectionId))?.code).toBe('provider_failed')
  expect((await connectionOf(scene, connectionId)).status).toBe('active')
  answer = refusals.GitHub!
  expect((await call(connectionId))?.code).toBe('reauth_required')
  expect((await connectionOf(scene, connectionId)).statusReason).toBe('refresh_outcome_unknown')
})
