import type { Answer, Endpoint } from '@skerry/contract/endpoint'
import type { endpoints } from '@skerry/contract/endpoints'
import { idPrefixes } from '@skerry/contract/prefixes'
import { fingerprint } from '@skerry/crypto/digest'
import type { Input } from '../client.ts'
import { decoyOf } from './differences.ts'
import { type DirectoryDraft, entryKeyOf, type Principal } from './draft.ts'
import * as changes from './edit-steps.ts'
import * as layers from './layer-steps.ts'
import { connectionOf, endHolder, managedKeyOf, requireHolder } from './named.ts'

// The entries that each operation of the API changes. Most changes carry their documents in their own request, so that the
// server stores both or neither (`changing`). The server makes the id of a new object, and some changes have effects that
// only the server knows. These are signed right after the change (`afterwards`). A change in both tables may be done in part:
// then it is sent again without documents, and the part that was done is signed.

type LooseInput = { params: Record<string, string>; query?: Record<string, unknown>; body?: Record<string, unknown> }

type Changing = (input: LooseInput, draft: DirectoryDraft) => Promise<void> | void
type Afterwards = (input: LooseInput, draft: DirectoryDraft, answer: unknown) => Promise<void> | void

type At<H extends keyof typeof endpoints, N extends keyof (typeof endpoints)[H]> = Extract<
  (typeof endpoints)[H][N],
  Endpoint
>

const changing =
  <H extends keyof typeof endpoints, N extends keyof (typeof endpoints)[H]>(
    edit: (input: Given<At<H, N>>, draft: DirectoryDraft) => Promise<void> | void,
  ): Changing =>
  (input, draft) =>
    edit(input as Given<At<H, N>>, draft)

const afterwards =
  <H extends keyof typeof endpoints, N extends keyof (typeof endpoints)[H]>(
    edit: (input: Given<At<H, N>>, draft: DirectoryDraft, answer: Answer<At<H, N>>) => Promise<void> | void,
  ): Afterwards =>
  (input, draft, answer) =>
    edit(input as Given<At<H, N>>, draft, answer as Answer<At<H, N>>)

/** The input of an endpoint. Missing parts are empty. */
type Given<E extends Endpoint> = { [P in 'params' | 'query' | 'body']: NonNullable<Input<E>[P]> }

/** Changes that carry their documents in their own request. */
export const changingEdits: Readonly<Record<string, Changing>> = {
  'grants.create': changing<'grants', 'create'>(({ params, body }, draft) =>
    changes.addReader(draft, params.envId, body),
  ),
  'grants.createMany': changing<'grants', 'createMany'>(async ({ body }, draft) => {
    for (const { environmentId, ...grantee } of body.grants) await changes.addReader(draft, environmentId, grantee)
  }),
  'grants.delete': changing<'grants', 'delete'>(({ params }, draft) =>
    changes.removeGrant(draft, params.envId, params.grantId),
  ),
  'rekey.run': changing<'rekey', 'run'>(async ({ params, body }, draft) => {
    const key = draft.environmentKey(params.envId)
    if (key !== undefined) await changes.replaceKey(draft, key, body.grants)
  }),
  'envs.delete': changing<'envs', 'delete'>(({ params }, draft) => changes.endEnvironment(draft, params.envId)),
  'apps.delete': changing<'apps', 'delete'>(async ({ params }, draft) => {
    const { app } = await draft.context.client.apps.get({ params })
    await changes.endOwned(draft, app.slug, '/')
  }),
  'groups.delete': changing<'groups', 'delete'>(async ({ params }, draft) => {
    const { group } = await draft.context.client.groups.get({ params })
    await changes.endOwned(draft, group.slug, ':')
  }),
  'composition.set': changing<'composition', 'set'>(({ params, body }, draft) =>
    layers.compose(draft, params.envId, body),
  ),
  'composition.delete': changing<'composition', 'delete'>(({ params }, draft) =>
    layers.decompose(draft, params.envId, params.groupId),
  ),
  'tokens.update': changing<'tokens', 'update'>(({ params, body }, draft) => {
    requireHolder(draft, `token/${params.tokenId}`)
    const value = draft.valueOf(`token/${params.tokenId}`)
    if (value) draft.set(`token/${params.tokenId}`, { ...value, name: body.name })
  }),
  'tokens.revoke': changing<'tokens', 'revoke'>(({ params }, draft) => endHolder(draft, `token/${params.tokenId}`)),
  'tokens.delete': changing<'tokens', 'delete'>(({ params }, draft) => endHolder(draft, `token/${params.tokenId}`)),
  'members.update': changing<'members', 'update'>(async ({ params, body }, draft) => {
    requireHolder(draft, `person/${params.userId}`)
    // A member is no admin, and only admins may sign.
    if (body.role === 'member') await changes.endSigner(draft, params.userId)
  }),
  'members.remove': changing<'members', 'remove'>(async ({ params }, draft) => {
    requireHolder(draft, `person/${params.userId}`)
    await changes.endSigner(draft, params.userId)
    await draft.endPrincipals([`person/${params.userId}`])
  }),
  'recovery.enable': changing<'recovery', 'enable'>(({ body }, draft) => changes.setRecovery(draft, body)),
  'recovery.rotate': changing<'recovery', 'rotate'>(({ body }, draft) => changes.setRecovery(draft, body)),
  'recovery.disable': changing<'recovery', 'disable'>((_, draft) =>
    draft.changeRoot(() => ({ recovery: null }), 'recovery'),
  ),
  'recoveryRequests.complete': changing<'recoveryRequests', 'complete'>(async ({ body }, draft) => {
    const { principalType, principalId, grants } = body
    if (principalType === undefined || principalId === undefined) return
    for (const { environmentId } of grants)
      await changes.addReader(draft, environmentId, { principalType, principalId })
  }),
  'sync.deleteConnection': changing<'sync', 'deleteConnection'>(({ params }, draft) =>
    draft.endPrincipals([`worker/${params.connectionId}`]),
  ),
  'sync.createBinding': changing<'sync', 'createBinding'>(({ body }, draft) =>
    changes.addWorker(draft, body.wrappedDeks, { principalType: 'sync_connection', principalId: body.connectionId }),
  ),
  'rotation.create': changing<'rotation', 'create'>(({ body }, draft) =>
    changes.addWorker(draft, body.wrappedDek === undefined ? [] : [body], {
      principalType: 'rotator',
      principalId: draft.context.orgId,
    }),
  ),
  'kms.grant': changing<'kms', 'grant'>(async ({ params, body }, draft) => {
    const key = managedKeyOf(draft, params.kmsKeyId)
    const reader = key && (await draft.reader(body, key))
    if (key && !reader) draft.unsigned.add(key)
    if (key && reader)
      await draft.changeReaders(key, (all) => [...all.filter(([other]) => other !== reader[0]), reader])
  }),
  'kms.revoke': changing<'kms', 'revoke'>(async ({ params, query }, draft) => {
    const key = managedKeyOf(draft, params.kmsKeyId)
    const ended = entryKeyOf(query as Principal, draft.context.orgId)
    requireHolder(draft, ended)
    if (key) await draft.changeReaders(key, (all) => all.filter(([other]) => other !== ended))
  }),
  'kms.rotate': changing<'kms', 'rotate'>(async ({ params, body }, draft) => {
    const key = managedKeyOf(draft, params.kmsKeyId)
    if (key !== undefined) await changes.addVersion(draft, key, body)
  }),
  'kms.delete': changing<'kms', 'delete'>(({ params }, draft) => {
    const key = managedKeyOf(draft, params.kmsKeyId)
    if (key !== undefined) draft.end(key)
  }),
}

/**
 * Changes that are signed right after they were made. The entry comes from the request. The answer adds only what the server
 * makes, such as an id: a server could answer with the name or the id of another object, and have that one replaced.
 */
export const afterwardEdits: Readonly<Record<string, Afterwards>> = {
  'grants.createMany': afterwards<'grants', 'createMany'>(async ({ body }, draft, { results }) => {
    // The results are in the order of the grants. What was granted to whom is read from the request alone.
    for (const [at, { environmentId, ...grantee }] of body.grants.entries())
      if (results[at] && results[at].result !== 'conflict') await changes.addReader(draft, environmentId, grantee)
  }),
  'apps.createEnv': afterwards<'apps', 'createEnv'>(async ({ params, body }, draft, { environment }) => {
    const { app } = await draft.context.client.apps.get({ params })
    await changes.addOwned(draft, { shown: app.slug, mark: '/', slug: body.slug }, environment.id, body.wrappedDek)
  }),
  'groups.createEnv': afterwards<'groups', 'createEnv'>(async ({ params, body }, draft, { environment }) => {
    const { group } = await draft.context.client.groups.get({ params })
    const named = { shown: group.slug, mark: ':', slug: body.slug } as const
    const isAdded = await changes.addOwned(draft, named, environment.id, body.wrappedDek)
    if (isAdded) await layers.leaveLayer(draft, `${group.slug}:${body.slug}`)
  }),
  'tokens.create': afterwards<'tokens', 'create'>(async ({ body }, draft) => {
    const key = `token/${body.tokenId}`
    const environment = await changes.nameOfBound(draft, body.environmentId ?? null)
    if (environment === undefined) draft.unsigned.add(key)
    else draft.set(key, { name: body.name, environment, kid: await fingerprint(body.publicKeyJwk) })
  }),
  'honeyTokens.create': afterwards<'honeyTokens', 'create'>(async ({ body }, draft) => {
    const key = `token/${body.tokenId}`
    await draft.claims([key])
    const claim = draft.claimOf(key)?.value
    if (claim) draft.set(key, decoyOf(claim as { environment: string | null }))
  }),
  'honeyTokens.delete': afterwards<'honeyTokens', 'delete'>((_, draft) => {
    const { holderId } = draft.typed
    return draft.signEnds((key) => key.startsWith('token/') && (holderId === undefined || key === `token/${holderId}`))
  }),
  'sync.createConnection': afterwards<'sync', 'createConnection'>(async (_, draft, { connection }) => {
    // The server makes the key of a connection. The caller has just wrapped a credential to it.
    const key = `worker/${connection.id}`
    const isNew = connection.id.startsWith(idPrefixes.syncConnection) && draft.valueOf(key) === undefined
    if (isNew) await draft.vouched(key, await fingerprint(connection.publicKeyJwk))
    else draft.unsigned.add(key)
  }),
  'sync.updateBinding': afterwards<'sync', 'updateBinding'>(async ({ body }, draft, { binding }) =>
    changes.addWorker(draft, body.wrappedDeks ?? [], {
      principalType: 'sync_connection',
      principalId: connectionOf(draft, binding.connectionId),
    }),
  ),
  'sync.deleteBinding': afterwards<'sync', 'deleteBinding'>((_, draft) => {
    const { connectionId } = draft.typed
    const kind = `worker/${idPrefixes.syncConnection}`
    return draft.signEnds((key) =>
      connectionId === undefined ? key.startsWith(kind) : key === `worker/${connectionId}`,
    )
  }),
  'rotation.delete': afterwards<'rotation', 'delete'>((_, draft) =>
    draft.signEnds((key) => key === `worker/${draft.context.orgId}`),
  ),
  'offboardings.start': afterwards<'offboardings', 'start'>(async ({ body }, draft, { offboarding }) => {
    requireHolder(draft, `person/${body.userId}`)
    // The person has left already, also if other signers must agree that they sign no more.
    await changes.endSigner(draft, body.userId).catch(() => draft.unsigned.add('root'))
    // The server says which tokens the person made. It could claim the person and these tokens still.
    const tokens = offboarding.revoked.filter(({ kind }) => kind === 'service_token')
    const ended = changes.shownTokens(draft, tokens)
    await draft.endPrincipals([`person/${body.userId}`, ...ended])
  }),
  'kms.create': afterwards<'kms', 'create'>(async ({ body }, draft, { key }) => {
    const versions = await changes.versionOf(draft, { keyId: key.id, version: 1 }, body)
    await changes.addManagedKey(draft, { id: key.id, name: body.name }, versions, body.grants)
  }),
}
