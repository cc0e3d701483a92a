import type { AuditAction } from '@skerry/contract/actions'
import type { Endpoint } from '@skerry/contract/endpoint'
import { vaultConnect } from '@skerry/contract/vault/connect'
import { vaultExecutor } from '@skerry/contract/vault/executor'
import type { VaultSlot } from '@skerry/contract/vault/facts'
import { vaultPlatform } from '@skerry/contract/vault/platform'
import { vaultProjects } from '@skerry/contract/vault/projects'
import { vaultWebhooks } from '@skerry/contract/vault/webhooks'
import { endUserDigest } from '../src/kernel/end-user.ts'
import { only, type Seen, type Step, step, token, user } from './step.ts'
import type { Actor, Tenant } from './tenant.ts'
import { catalog, newWrappingKey, registration, sealed, slotOf, webhookBody } from './vault-scene.ts'

type Ids = Record<string, string>

const userRef = 'walker'
const endUser = (ids: Ids) => ({ type: 'vault_end_user', id: endUserDigest(ids.projectId as string, userRef) })
const wrappingKey = newWrappingKey()
const holder = { executor: { id: '', as: '', key: wrappingKey } }

interface Parts {
  /** The key of the caller's credential in `ids`. */
  as?: string
  who: () => { type: string; id: string }
  note?: string
  params?: () => Ids
  body?: () => Record<string, unknown>
  /** Stores values of the response for later steps. */
  notes?: (seen: Seen) => void
  about: string
}

/** Makes a step of the vault. Its caller is created by an earlier step, so its credential is read from `ids`. */
const act =
  (ids: Ids) =>
  (endpoint: Endpoint, actions: AuditAction[], { as, who, note, params, body, notes, about }: Parts): Step => ({
    endpoint,
    ...(as === undefined ? {} : { as: () => `Bearer ${ids[as]}` }),
    ...(note === undefined ? {} : { note }),
    ...(params === undefined ? {} : { params }),
    ...(body === undefined ? {} : { body }),
    entries: (seen) => {
      notes?.(seen)
      return actions.map((action) => ({ action, resourceId: ids[about] as string, actor: who() }))
    },
  })

/** Steps that create, use and end a vault project, by all kinds of callers. */
export function vaulting(ids: Ids, tenant: Tenant, admin: Actor): Step[] {
  return [
    ...settingUp(ids, tenant, admin),
    ...telling(ids, tenant),
    ...connecting(ids),
    ...keeping(ids),
    ...ending(ids, tenant),
  ]
}

function settingUp(ids: Ids, tenant: Tenant, admin: Actor): Step[] {
  const byToken = { as: tenant.admin.as, who: token(tenant.admin) }
  const byPerson = { as: admin.as, who: user(admin) }
  const inProject = only(ids, { projectId: 'projectId' })
  const note = (key: string, value: unknown) => {
    ids[key] = String(value)
    return ids[key]
  }
  const project = () => ids.projectId as string
  const executor = () => ({ type: 'vault_executor', id: ids.executorId as string })
  const own = { as: 'executor', who: executor, about: 'executorId' }
  return [
    step(vaultProjects.create, 'vault.project.created', byToken, {
      params: only(ids, {}),
      body: () => ({ name: 'Product' }),
      resource: (seen) => note('projectId', seen.project?.id),
    }),
    step(vaultProjects.update, 'vault.project.updated', byToken, {
      params: inProject,
      body: () => ({ name: 'Renamed' }),
      resource: project,
    }),
    step(vaultProjects.createKey, 'vault.key.created', byPerson, {
      params: inProject,
      body: () => ({ name: 'backend' }),
      resource: (seen) => {
        note('platform', seen.secret)
        return note('vaultKeyId', seen.key?.id)
      },
    }),
    step(vaultProjects.createRegistrationCode, 'vault.registration_code.created', byPerson, {
      params: inProject,
      resource: (seen) => {
        note('code', seen.code)
        return project()
      },
    }),
    act(ids)(vaultExecutor.register, ['vault.executor.registered'], {
      who: executor,
      body: () => registration(ids.code as string, wrappingKey),
      notes: (seen) => {
        note('executorId', seen.executorId)
        note('executor', seen.credential)
      },
      about: 'executorId',
    }),
    act(ids)(vaultExecutor.catalog, ['vault.executor.catalog_updated'], {
      ...own,
      body: () => ({ catalog, sdkVersion: 'test/2' }),
    }),
    act(ids)(vaultExecutor.addKey, ['vault.executor.key_added'], {
      ...own,
      body: () => ({ wrappingKey: newWrappingKey() }),
    }),
  ]
}

/** Steps on webhooks, by the platform and by an admin. */
function telling(ids: Ids, tenant: Tenant): Step[] {
  const made = {
    body: webhookBody,
    notes: (seen: Seen) => {
      ids.vaultWebhookId = seen.endpoint?.id as string
    },
  }
  const byPlatform = {
    ...{ as: 'platform', who: () => ({ type: 'vault_platform', id: ids.vaultKeyId as string }) },
    about: 'vaultWebhookId',
    params: () => ({ vaultWebhookId: ids.vaultWebhookId as string }),
  }
  const byToken = { as: tenant.admin.as, who: token(tenant.admin) }
  const inProject = { params: only(ids, { projectId: 'projectId' }) }
  const place = {
    params: only(ids, { projectId: 'projectId', vaultWebhookId: 'vaultWebhookId', vaultDeliveryId: 'vaultDeliveryId' }),
    resource: () => ids.vaultWebhookId as string,
  }
  return [
    act(ids)(vaultPlatform.createWebhook, ['vault.webhook.created'], { ...byPlatform, ...made }),
    act(ids)(vaultPlatform.testWebhook, ['vault.webhook.tested'], byPlatform),
    act(ids)(vaultPlatform.deleteWebhook, ['vault.webhook.deleted'], byPlatform),
    step(vaultWebhooks.create, 'vault.webhook.created', byToken, {
      ...inProject,
      body: webhookBody,
      resource: (seen) => {
        made.notes(seen)
        return ids.vaultWebhookId as string
      },
    }),
    step(vaultWebhooks.update, 'vault.webhook.updated', byToken, { ...place, body: () => ({ description: 'Other' }) }),
    step(vaultWebhooks.test, 'vault.webhook.tested', byToken, {
      params: only(ids, { projectId: 'projectId', vaultWebhookId: 'vaultWebhookId' }),
      resource: (seen) => {
        ids.vaultDeliveryId = String(seen.deliveryId)
        return ids.vaultWebhookId as string
      },
    }),
    step(vaultWebhooks.redeliver, 'vault.webhook.redelivered', byToken, place),
    step(vaultWebhooks.delete, 'vault.webhook.deleted', byToken, place),
  ]
}

/** Steps that create a link, open it and consent to it. */
function linked(ids: Ids, note: string, body: () => object): Step[] {
  const platform = () => ({ type: 'vault_platform', id: ids.vaultKeyId as string })
  return [
    act(ids)(vaultPlatform.createSession, ['vault.connect_session.created'], {
      ...{ as: 'platform', who: platform, note, about: 'connectSessionId' },
      body: () => ({ userRef, ...body() }),
      notes: ({ session = {} }) => {
        ids.connectSessionId = session.id as string
        ids.link = session.token as string
        ids.vaultConnectionId = session.connectionId as string
      },
    }),
    opened(ids, note),
    act(ids)(vaultConnect.consent, ['vault.connect_session.consented'], {
      ...{ as: 'claim', who: () => endUser(ids), note, about: 'connectSessionId' },
      body: () => ({ consentVersion: 1 }),
    }),
  ]
}

const opened = (ids: Ids, note: string): Step =>
  act(ids)(vaultConnect.claim, ['vault.connect_session.claimed'], {
    ...{ who: () => endUser(ids), note, about: 'connectSessionId' },
    body: () => ({ token: ids.link }),
    notes: (seen) => {
      ids.claim = String(seen.claimToken)
    },
  })

/** Steps that capture a credential with this endpoint, break the connection, and repair it with the same endpoint. */
function captured(ids: Ids, endpoint: Endpoint, providerId: string, slot: VaultSlot): Step[] {
  const onConnection = { as: 'executor', who: () => ({ type: 'vault_executor', id: ids.executorId as string }) }
  const place = () => ({ connectSessionId: ids.connectSessionId as string })
  const by = endpoint.surface === 'claim' ? { as: 'claim' } : { as: 'executor', params: place }
  const store = (note: string, first: AuditAction, revision: number) =>
    act(ids)(endpoint, [first, 'vault.credential.written'], {
      ...{ ...by, who: () => endUser(ids), note, about: 'vaultConnectionId' },
      body: () => ({ slots: [slotOf(holder, slot, revision)] }),
    })
  const again = () => ({ providerId, purpose: 'reconnect', connectionId: ids.vaultConnectionId })
  return [
    ...linked(ids, `to connect ${slot}`, () => ({ providerId })),
    store('that is new', 'vault.connection.created', 1),
    act(ids)(vaultExecutor.setStatus, ['vault.connection.reauth_required'], {
      ...{ ...onConnection, note: `breaks ${slot}`, about: 'vaultConnectionId' },
      params: () => ({ vaultConnectionId: ids.vaultConnectionId as string }),
      body: () => ({ status: 'reauth_required', reason: 'refresh_rejected' }),
    }),
    ...linked(ids, `to repair ${slot}`, again),
    store('that is repaired', 'vault.connection.reactivated', 2),
  ]
}

function connecting(ids: Ids): Step[] {
  return [
    ...captured(ids, vaultConnect.submit, 'acme', 'api_key'),
    ...captured(ids, vaultExecutor.complete, 'mail', 'oauth2'),
  ]
}

function keeping(ids: Ids): Step[] {
  const own = {
    ...{ as: 'executor', who: () => ({ type: 'vault_executor', id: ids.executorId as string }) },
    params: () => ({ vaultConnectionId: ids.vaultConnectionId as string, slot: 'oauth2' }),
    about: 'vaultConnectionId',
  }
  return [
    act(ids)(vaultExecutor.writeBack, ['vault.credential.written'], {
      ...own,
      body: () => ({ expectedRevision: 2, ...sealed(holder) }),
    }),
    act(ids)(vaultExecutor.setStatus, ['vault.connection.reauth_required'], {
      ...own,
      body: () => ({ status: 'reauth_required', reason: 'reauth_requested' }),
    }),
    act(ids)(vaultExecutor.setStatus, ['vault.connection.reactivated'], { ...own, body: () => ({ status: 'active' }) }),
    act(ids)(vaultExecutor.revoke, ['vault.connection.revoked'], own),
  ]
}

/** Steps that revoke connections by each remaining caller, and then cancel, erase and revoke everything else. */
function ending(ids: Ids, tenant: Tenant): Step[] {
  const byToken = { as: tenant.admin.as, who: token(tenant.admin) }
  const inProject = only(ids, { projectId: 'projectId' })
  const platform = { as: 'platform', who: () => ({ type: 'vault_platform', id: ids.vaultKeyId as string }) }
  const another = (note: string): Step[] => [
    ...linked(ids, note, () => ({ providerId: 'acme' })),
    act(ids)(vaultConnect.submit, ['vault.connection.created', 'vault.credential.written'], {
      ...{ as: 'claim', who: () => endUser(ids), note, about: 'vaultConnectionId' },
      body: () => ({ slots: [slotOf(holder)] }),
    }),
  ]
  return [
    ...another('for the platform to revoke'),
    act(ids)(vaultPlatform.revoke, ['vault.connection.revoked'], {
      ...{ ...platform, about: 'vaultConnectionId' },
      params: () => ({ vaultConnectionId: ids.vaultConnectionId as string }),
    }),
    ...another('for an admin to revoke'),
    step(vaultProjects.revokeConnection, 'vault.connection.revoked', byToken, {
      params: () => ({ ...inProject(), vaultConnectionId: ids.vaultConnectionId as string }),
      resource: () => ids.vaultConnectionId as string,
    }),
    ...another('for its person to revoke'),
    act(ids)(vaultPlatform.createManageSession, ['vault.manage_session.created'], {
      ...{ ...platform, about: 'connectSessionId' },
      body: () => ({ userRef }),
      notes: ({ session = {} }) => {
        ids.connectSessionId = session.id as string
        ids.link = session.token as string
      },
    }),
    opened(ids, 'to manage'),
    act(ids)(vaultConnect.revoke, ['vault.connection.revoked'], {
      ...{ as: 'claim', who: () => endUser(ids), about: 'vaultConnectionId' },
      body: () => ({ connectionId: ids.vaultConnectionId }),
    }),
    ...linked(ids, 'to be cancelled', () => ({ providerId: 'acme' })),
    act(ids)(vaultConnect.cancel, ['vault.connect_session.cancelled'], {
      ...{ as: 'claim', who: () => endUser(ids), about: 'connectSessionId' },
    }),
    act(ids)(vaultPlatform.eraseUser, ['vault.user.erased'], {
      ...{ ...platform, about: 'userDigest' },
      params: () => ({ userRef }),
      notes: ({ userDigest }) => {
        ids.userDigest = String(userDigest)
      },
    }),
    step(vaultProjects.eraseUser, 'vault.user.erased', byToken, {
      params: () => ({ ...inProject(), userRef }),
      resource: () => ids.userDigest as string,
    }),
    step(vaultProjects.revokeKey, 'vault.key.revoked', byToken, {
      params: () => ({ ...inProject(), vaultKeyId: ids.vaultKeyId as string }),
      resource: () => ids.vaultKeyId as string,
    }),
    step(vaultProjects.disableExecutor, 'vault.executor.disabled', byToken, {
      params: inProject,
      resource: () => ids.executorId as string,
    }),
  ]
}
