import { vaultConnect } from '@skerry/contract/vault/connect'
import { vaultExecutor } from '@skerry/contract/vault/executor'
import {
  vaultConnectionStatuses,
  vaultExecutorStatuses,
  vaultProjectStatuses,
  vaultSessionStatuses,
} from '@skerry/contract/vault/facts'
import { vaultPlatform } from '@skerry/contract/vault/platform'
import { vaultProjects } from '@skerry/contract/vault/projects'
import { expect, test } from 'vitest'
import { openTenant } from '../../../test/scene.ts'
import {
  consented,
  newConnection,
  newLink,
  newVault,
  sealed,
  sent,
  slotOf,
  type Vault,
} from '../../../test/vault-scene.ts'
import {
  type ConnectionStatus,
  connectionLifecycle,
  executorLifecycle,
  type ProjectStatus,
  projectLifecycle,
  type SessionStatus,
  sessionLifecycle,
} from './lifecycles.ts'

const { world, tenant } = await openTenant()
const vault = await newVault(world, tenant)
const byPlatform = { as: vault.platform.as }
const byExecutor = { as: vault.executor.as }

/** The triggers of a lifecycle table. A suite that leaves one out does not compile. */
type TriggerOf<L extends { check: (from: never, trigger: never) => void }> = Parameters<L['check']>[1]

/** Pairs every state with every trigger. */
function pairs<S extends string, T extends string>(states: readonly S[], triggers: Record<T, unknown>): [S, T][] {
  return states.flatMap((state) => (Object.keys(triggers) as T[]).map((trigger): [S, T] => [state, trigger]))
}

/** Makes a connection in this state, with a repair link that was opened while the connection was active. */
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
} satisfies Record<TriggerOf<typeof connectionLifecycle>, unknown>

test.each(pairs(vaultConnectionStatuses, connectionTriggers))(
  'a connection in the state %s reacts to %s as its lifecycle table says',
  async (state, trigger) => {
    const on = await connectionIn(state)
    const { status } = await connectionTriggers[trigger](on)
    const next = connectionLifecycle.next(state, trigger)
    // Revoking again is answered like the first time.
    const refused = trigger === 'release' ? 403 : trigger === 'revoke' ? 200 : 409
    expect(status).toBe(next === undefined ? refused : 200)
    const { connection } = await sent(world, vaultPlatform.connection, { ...byPlatform, params: on.params })
    expect(connection.status).toBe(next ?? state)
  },
)

/** Makes a session in this state that repairs a connection, together with its link token or its claim. */
async function sessionIn(state: SessionStatus, trigger: SessionTrigger) {
  const connectionId = await newConnection(world, vault)
  const reconnect = { purpose: 'reconnect', connectionId }
  // A link can be opened only once, and a completed session was opened.
  const session =
    trigger === 'claim' && state !== 'completed'
      ? { ...(await newLink(world, vault, reconnect)), as: '', claimToken: '' }
      : await consented(world, vault, reconnect)
  if (state === 'completed')
    await sent(world, vaultConnect.submit, { as: session.as, body: { slots: [slotOf(vault, 'api_key', 2)] } })
  if (state === 'cancelled')
    await sent(world, vaultPlatform.revoke, { ...byPlatform, params: { vaultConnectionId: connectionId } })
  if (state === 'expired') expireAll()
  return { ...session, connectionId }
}

type InSession = Awaited<ReturnType<typeof sessionIn>>
type SessionTrigger = TriggerOf<typeof sessionLifecycle>

/** Links expire after an hour, and claims after half an hour. */
const expireAll = () => world.clock.advance(3601)

const sessionTriggers = {
  claim: ({ token }: InSession) => world.call(vaultConnect.claim, { body: { token } }),
  verify: ({ claimToken }: InSession) =>
    world.call(vaultExecutor.verifySession, { ...byExecutor, body: { claimToken } }),
  consent: ({ as }: InSession) => world.call(vaultConnect.consent, { as, body: { consentVersion: 1 } }),
  complete: ({ as }: InSession) =>
    world.call(vaultConnect.submit, { as, body: { slots: [slotOf(vault, 'api_key', 2)] } }),
  cancel: ({ connectionId }: InSession) =>
    world.call(vaultPlatform.revoke, { ...byPlatform, params: { vaultConnectionId: connectionId } }),
  // Expiry is not a request, so nothing can refuse it.
  expire: async () => {
    expireAll()
    return { status: 200 }
  },
} satisfies Record<SessionTrigger, unknown>

function refusalOf(state: SessionStatus, trigger: SessionTrigger): number {
  // The connection itself can be revoked in any state of the session.
  if (trigger === 'cancel' || trigger === 'expire') return 200
  if (state !== 'expired' || trigger === 'claim') return 409
  // The claim expires with the session, so the server no longer knows its token.
  return trigger === 'verify' ? 404 : 401
}

test.each(pairs(vaultSessionStatuses, sessionTriggers))(
  'a session in the state %s reacts to %s as its lifecycle table says',
  async (state, trigger) => {
    const on = await sessionIn(state, trigger)
    const { status } = await sessionTriggers[trigger](on)
    const next = sessionLifecycle.next(state, trigger)
    expect(status).toBe(next === undefined ? refusalOf(state, trigger) : 200)
    const { session } = await sent(world, vaultPlatform.session, { ...byPlatform, params: { connectSessionId: on.id } })
    expect(session.status).toBe(next ?? state)
  },
)

const byAdmin = ({ projectId }: Vault) => ({ as: tenant.admin.as, params: { orgId: tenant.orgId, projectId } })
const setProject = (own: Vault, status: ProjectStatus) =>
  world.call(vaultProjects.update, { ...byAdmin(own), body: { status } })

const projectTriggers = {
  use: ({ platform: { as } }: Vault) =>
    world.call(vaultPlatform.createSession, { as, body: { userRef: 'user-1', providerId: 'acme' } }),
  enable: (own: Vault) => setProject(own, 'active'),
  disable: (own: Vault) => setProject(own, 'disabled'),
} satisfies Record<TriggerOf<typeof projectLifecycle>, unknown>

test.each(pairs(vaultProjectStatuses, projectTriggers))(
  'a project in the state %s reacts to %s as its lifecycle table says',
  async (state, trigger) => {
    const own = await newVault(world, tenant)
    await setProject(own, state)
    const { status } = await projectTriggers[trigger](own)
    const next = projectLifecycle.next(state, trigger)
    const done = trigger === 'use' ? 201 : 200
    expect(status).toBe(next === undefined ? 409 : done)
    const { project } = await sent(world, vaultProjects.get, byAdmin(own))
    expect(project.status).toBe(next ?? state)
  },
)

const executorTriggers = {
  disable: (own: Vault) => world.call(vaultProjects.disableExecutor, byAdmin(own)),
} satisfies Record<TriggerOf<typeof executorLifecycle>, unknown>

test.each(pairs(vaultExecutorStatuses, executorTriggers))(
  'an executor in the state %s reacts to %s as its lifecycle table says',
  async (state, trigger) => {
    const own = await newVault(world, tenant)
    if (state === 'disabled') await executorTriggers.disable(own)
    const { status } = await executorTriggers[trigger](own)
    const next = executorLifecycle.next(state, trigger)
    expect(status).toBe(next === undefined ? 409 : 200)
    const rows = await world.server.context.db.rows('select status from vault_executors where id = $1', [
      own.executor.id,
    ])
    expect(rows).toEqual([{ status: next ?? state }])
    // The credential of a disabled executor is refused.
    expect((await world.call(vaultExecutor.me, { as: own.executor.as })).status).toBe(401)
  },
)
