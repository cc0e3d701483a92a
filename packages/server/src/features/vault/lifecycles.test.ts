import { vaultConnect } from '@skerry/contract/vault-connect'
import { vaultExecutor } from '@skerry/contract/vault-executor'
import { vaultConnectionStatuses, vaultSessionStatuses } from '@skerry/contract/vault-facts'
import { vaultPlatform } from '@skerry/contract/vault-platform'
import { expect, test } from 'vitest'
import { openTenant } from '../../../test/scene.ts'
import { consented, newConnection, newLink, newVault, open, sealed, sent, slotOf } from '../../../test/vault-scene.ts'
import { type ConnectionStatus, connectionLifecycle, type SessionStatus, sessionLifecycle } from './lifecycles.ts'

const { world, tenant } = await openTenant()
const vault = await newVault(world, tenant)
const byPlatform = { as: vault.platform.as }
const byExecutor = { as: vault.executor.as }

/** A connection in this state, with a link to repair it that was opened while it worked. */
async function connectionIn(state: ConnectionStatus) {
  const vaultConnectionId = await newConnection(world, vault)
  const repair = await consented(world, vault, { purpose: 'reconnect', connectionId: vaultConnectionId })
  const params = { vaultConnectionId, slot: 'api_key' }
  const body = { status: 'reauth_required', reason: 'refresh_rejected' }
  if (state === 'reauth_required') await sent(world, vaultExecutor.setStatus, { ...byExecutor, params, body })
  if (state === 'revoked') await sent(world, vaultPlatform.revoke, { ...byPlatform, params })
  return { params, repair }
}

type OnConnection = Awaited<ReturnType<typeof connectionIn>>

const setStatus = ({ params }: OnConnection, body: Record<string, unknown>) =>
  world.call(vaultExecutor.setStatus, { ...byExecutor, params, body })

const connectionTriggers = {
  release: ({ params }: OnConnection) => world.call(vaultExecutor.release, { ...byExecutor, params }),
  write: ({ params }: OnConnection) =>
    world.call(vaultExecutor.writeBack, { ...byExecutor, params, body: { expectedRevision: 1, ...sealed(vault) } }),
  capture: ({ repair: { as } }: OnConnection) =>
    world.call(vaultConnect.submit, { as, body: { slots: [slotOf(vault, 'api_key', 2)] } }),
  require_reauth: (on: OnConnection) => setStatus(on, { status: 'reauth_required', reason: 'refresh_rejected' }),
  reactivate: (on: OnConnection) => setStatus(on, { status: 'active' }),
  revoke: ({ params }: OnConnection) => world.call(vaultPlatform.revoke, { ...byPlatform, params }),
}

test.each(
  vaultConnectionStatuses.flatMap((state) =>
    (Object.keys(connectionTriggers) as (keyof typeof connectionTriggers)[]).map(
      (trigger) => [state, trigger] as const,
    ),
  ),
)('a connection that is %s moves by %s as its table says, or stays', async (state, trigger) => {
  const on = await connectionIn(state)
  const { status } = await connectionTriggers[trigger](on)
  const next = connectionLifecycle.next(state, trigger)
  // Revoking again is answered like the first time.
  const refused = trigger === 'release' ? 403 : trigger === 'revoke' ? 200 : 409
  expect(status).toBe(next === undefined ? refused : 200)
  const { connection } = await sent(world, vaultPlatform.connection, { ...byPlatform, params: on.params })
  expect(connection.status).toBe(next ?? state)
})

/** A session in this state, with what is left of its link and claim. */
async function sessionIn(state: SessionStatus) {
  const connectionId = await newConnection(world, vault)
  const session = await consented(world, vault, { purpose: 'reconnect', connectionId })
  if (state === 'completed')
    await sent(world, vaultConnect.submit, { as: session.as, body: { slots: [slotOf(vault, 'api_key', 2)] } })
  if (state === 'cancelled')
    await sent(world, vaultPlatform.revoke, { ...byPlatform, params: { vaultConnectionId: connectionId } })
  if (state === 'expired') world.clock.advance(1801)
  return session
}

type InSession = Awaited<ReturnType<typeof sessionIn>>

const sessionTriggers = {
  verify: ({ claimToken }: InSession) =>
    world.call(vaultExecutor.verifySession, { ...byExecutor, body: { claimToken } }),
  consent: ({ as }: InSession) => world.call(vaultConnect.consent, { as, body: { consentVersion: 1 } }),
  complete: ({ as }: InSession) =>
    world.call(vaultConnect.submit, { as, body: { slots: [slotOf(vault, 'api_key', 2)] } }),
}

test.each(
  vaultSessionStatuses.flatMap((state) =>
    (Object.keys(sessionTriggers) as (keyof typeof sessionTriggers)[]).map((trigger) => [state, trigger] as const),
  ),
)('a session that is %s moves by %s as its table says, or stays', async (state, trigger) => {
  const on = await sessionIn(state)
  const { status } = await sessionTriggers[trigger](on)
  const next = sessionLifecycle.next(state, trigger)
  // With the session the claim has expired, too, so nobody knows it any more.
  const expired = trigger === 'verify' ? 404 : 401
  expect(status).toBe(next !== undefined ? 200 : state === 'expired' ? expired : 409)
  const { session } = await sent(world, vaultPlatform.session, { ...byPlatform, params: { connectSessionId: on.id } })
  expect(session.status).toBe(next ?? state)
})

test.each(['expired', 'cancelled'] as const)('a link that is %s cannot be opened any more', async (state) => {
  const connectionId = await newConnection(world, vault)
  const link = await newLink(world, vault, { purpose: 'reconnect', connectionId, expiresInSeconds: 60 })
  if (state === 'expired') world.clock.advance(61)
  else await sent(world, vaultPlatform.revoke, { ...byPlatform, params: { vaultConnectionId: connectionId } })
  await expect(open(world, link)).rejects.toThrow(`the session is ${state}`)
  expect(sessionLifecycle.next(state, 'claim')).toBeUndefined()
})
