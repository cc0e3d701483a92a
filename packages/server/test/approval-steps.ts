import type { AuditAction } from '@skerry/contract/actions'
import { changes, protection } from '@skerry/contract/changes/endpoints'
import type { Endpoint } from '@skerry/contract/endpoint'
import { rekey } from '@skerry/contract/rekey/endpoints'
import { secretDetails } from '@skerry/contract/secret-details/endpoints'
import { deletedSecrets, secrets } from '@skerry/contract/secrets/endpoints'
import { ciphertext, sealedDetails, wrappedKey } from './blobs.ts'
import { keeps, known, only, type Step, step, token, user } from './step.ts'
import type { Actor, Tenant } from './tenant.ts'

/** Steps that rekey an environment while a change request, encrypted with the old key, is pending. */
export function rekeying(ids: Record<string, string>, { admin }: Tenant): Step[] {
  const by = { as: admin.as, who: token(admin) }
  const params = only(ids, { envId: 'envId' })
  const [note, resource] = ['before another key', known(ids, 'envId')]
  return [
    step(protection.put, 'env.protection_enabled', by, { params, note, resource }),
    step(secrets.put, 'change_request.opened', by, {
      params: () => ({ ...params(), name: 'WAITS' }),
      body: () => ({ ciphertext: ciphertext() }),
      note,
      resource: keeps(ids, 'waitsId', 'changeRequest'),
    }),
    step(protection.delete, 'env.protection_disabled', by, { params, note: 'before another key', resource }),
    {
      endpoint: rekey.run,
      as: () => admin.as,
      params,
      body: () => ({
        expectedVersions: { NAME: 3 },
        grants: [{ principalType: 'service_token', principalId: admin.id, wrappedDek: wrappedKey() }],
        secrets: [{ name: 'NAME', ciphertext: ciphertext() }],
      }),
      entries: () => [
        { action: 'env.rekeyed', resourceId: ids.envId as string, actor: token(admin) },
        { action: 'change_request.superseded', resourceId: ids.waitsId as string, actor: token(admin) },
      ],
    },
  ]
}

/**
 * Steps that propose a re-key of a protected environment, make it stale, propose it again and approve it. The approval closes
 * another pending change.
 */
export function proposingRekey(ids: Record<string, string>, { admin }: Tenant, reviewer: Actor): Step[] {
  const by = { as: admin.as, who: token(admin) }
  const params = only(ids, { envId: 'envId' })
  const body = () => ({
    expectedVersions: { NAME: 4 },
    grants: [{ principalType: 'service_token', principalId: admin.id, wrappedDek: wrappedKey() }],
    secrets: [{ name: 'NAME', ciphertext: ciphertext() }],
  })
  const [note, resource] = ['before a proposed key', known(ids, 'envId')]
  const entry = (action: AuditAction, id: string, actor = token(admin)) => ({
    action,
    resourceId: ids[id] as string,
    actor,
  })
  return [
    step(protection.put, 'env.protection_enabled', by, { params, note, resource }),
    step(secrets.put, 'change_request.opened', by, {
      params: () => ({ ...params(), name: 'WAITS' }),
      body: () => ({ ciphertext: ciphertext() }),
      note,
      resource: keeps(ids, 'waitsId', 'changeRequest'),
    }),
    step(changes.proposeRekey, 'change_request.opened', by, {
      params,
      body,
      resource: keeps(ids, 'staleId', 'changeRequest'),
    }),
    step(secretDetails.update, 'secret.described', by, {
      params: () => ({ ...params(), name: 'NAME' }),
      body: () => ({ sealed: sealedDetails() }),
      note: 'that makes a re-key stale',
      resource,
    }),
    {
      endpoint: changes.proposeRekey,
      note: 'again',
      as: () => admin.as,
      params,
      body,
      entries: (seen) => {
        ids.rekeyId = (seen.changeRequest as { id: string }).id
        return [entry('change_request.superseded', 'staleId'), entry('change_request.opened', 'rekeyId')]
      },
    },
    {
      endpoint: changes.approve,
      note: 'of a re-key',
      as: () => reviewer.as,
      params: only(ids, { changeRequestId: 'rekeyId' }),
      body: () => ({ rekey: true }),
      entries: () => [
        entry('change_request.approved', 'rekeyId', user(reviewer)),
        entry('change_request.superseded', 'waitsId', user(reviewer)),
        entry('change_request.applied', 'rekeyId', user(reviewer)),
        entry('env.rekeyed', 'envId', user(reviewer)),
      ],
    },
    step(protection.delete, 'env.protection_disabled', by, { params, note, resource }),
  ]
}

/** Steps that propose two changes in one request and withdraw them in one. Each change gets its own audit entry. */
function together(ids: Record<string, string>, proposer: Actor): Step[] {
  const entries = (action: AuditAction) =>
    [ids.togetherId, ids.otherId].map((id) => ({ action, resourceId: id as string, actor: token(proposer) }))
  return [
    {
      endpoint: changes.propose,
      as: () => proposer.as,
      params: only(ids, { envId: 'envId' }),
      body: () => ({ puts: ['GUARDED', 'OTHER'].map((name) => ({ name, ciphertext: ciphertext() })) }),
      entries: (seen) => {
        const [one, other] = seen.changeRequests as unknown as [{ id: string }, { id: string }]
        ids.togetherId = one.id
        ids.otherId = other.id
        return entries('change_request.opened')
      },
    },
    {
      endpoint: changes.withdraw,
      note: 'together',
      as: () => proposer.as,
      params: only(ids, { changeRequestId: 'togetherId' }),
      entries: () => entries('change_request.withdrawn'),
    },
  ]
}

/** Steps in which a token proposes each kind of change, and a person decides them in each possible way. */
export function approval(ids: Record<string, string>, { admin: proposer }: Tenant, reviewer: Actor): Step[] {
  const byToken = { as: proposer.as, who: token(proposer) }
  const byPerson = { as: reviewer.as, who: user(reviewer) }
  const inEnv = only(ids, { envId: 'envId' })
  const params = () => ({ ...inEnv(), name: 'GUARDED' })
  const write = { params, body: () => ({ ciphertext: ciphertext() }) }
  const proposes = (endpoint: Endpoint, id: string, body?: () => Record<string, unknown>) => {
    const parts = { params, resource: keeps(ids, id, 'changeRequest'), note: `queued, ${id}` }
    return step(endpoint, 'change_request.opened', byToken, body ? { ...parts, body } : parts)
  }
  const keepsDeleted = (id: string): Step => ({ ...proposes(secrets.delete, id), query: () => ({ keepFor: '30d' }) })
  const ofDeleted = (proposal: Step): Step => ({
    ...proposal,
    params: only(ids, { envId: 'envId', secretId: 'guardedId' }),
  })
  const approves = (id: string, ...actions: AuditAction[]): Step => ({
    endpoint: changes.approve,
    note: id,
    as: () => reviewer.as,
    params: only(ids, { changeRequestId: id }),
    entries: () =>
      (['change_request.approved', ...actions] as const).map((action) => ({
        action,
        resourceId: ids[action.startsWith('secret.') ? 'guardedId' : id] as string,
        actor: user(reviewer),
      })),
  })
  const closes = (endpoint: Endpoint, id: string, action: AuditAction) =>
    step(endpoint, action, byPerson, { params: only(ids, { changeRequestId: id }), resource: known(ids, id) })
  const protects = (endpoint: Endpoint, action: AuditAction) =>
    step(endpoint, action, byPerson, { params: inEnv, resource: known(ids, 'envId'), note: action })
  return [
    step(secrets.put, 'secret.written', byToken, {
      ...write,
      note: 'not yet guarded',
      resource: keeps(ids, 'guardedId', 'secret'),
    }),
    protects(protection.put, 'env.protection_enabled'),
    protects(protection.put, 'env.protection_updated'),
    proposes(secrets.put, 'putId', write.body),
    proposes(secrets.put, 'lateId', write.body),
    approves('putId', 'change_request.applied', 'secret.written'),
    approves('lateId', 'change_request.superseded'),
    proposes(secrets.restore, 'rejectedId', () => ({ version: 1 })),
    closes(changes.reject, 'rejectedId', 'change_request.rejected'),
    proposes(secrets.restore, 'restoreId', () => ({ version: 1 })),
    approves('restoreId', 'change_request.applied', 'secret.restored'),
    proposes(secrets.delete, 'withdrawnId'),
    closes(changes.withdraw, 'withdrawnId', 'change_request.withdrawn'),
    ...together(ids, proposer),
    keepsDeleted('deleteId'),
    approves('deleteId', 'change_request.applied', 'secret.deleted'),
    ofDeleted(proposes(deletedSecrets.restore, 'undeleteId', write.body)),
    approves('undeleteId', 'change_request.applied', 'secret.undeleted'),
    keepsDeleted('deleteAgainId'),
    approves('deleteAgainId', 'change_request.applied', 'secret.deleted'),
    ofDeleted(proposes(deletedSecrets.purge, 'purgeId')),
    approves('purgeId', 'change_request.applied', 'secret.purged'),
    protects(protection.delete, 'env.protection_disabled'),
  ]
}
