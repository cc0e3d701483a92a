import { type VaultSlot, vaultSlots } from '@skerry/contract/vault/facts'
import type { VaultExecutorCapture } from '@skerry/contract/vault/schemas'
import type { Static } from 'typebox'
import type { Tx } from '../../../db/database.ts'
import type { Work } from '../../../http/route.ts'
import { endUserDigest } from '../../../kernel/end-user.ts'
import { fail } from '../../../kernel/errors.ts'
import { type Connection, toResponse } from '../connections/scope.ts'
import {
  findAccountDigest,
  insertConnection,
  lockConnection,
  putCredential,
  repairConnection,
  reread,
} from '../connections/store.ts'
import type { Provider } from '../executor/catalog.ts'
import { type Executor, findActive } from '../executor/scope.ts'
import { connectionLifecycle, projectLifecycle, sessionLifecycle } from '../lifecycles.ts'
import { lockProject } from '../projects/store.ts'
import { type CaptureSession, lockSession } from './scope.ts'
import { completeSession } from './store.ts'
import { nextRevisions } from './view.ts'

type Captured = Static<typeof VaultExecutorCapture>
type Slots = Captured['slots']
/** Says who captured a slot: the browser, if a person typed the value, or the executor, if a provider returned it. */
type From = 'browser' | 'executor'
type Capturing = Pick<
  Work<'vault.connection.created' | 'vault.connection.reactivated' | 'vault.credential.written'>,
  'db' | 'audit' | 'emit'
> & { now: string }

/** Stores the captured slots and completes the session. */
export async function capture(input: Capturing, session: CaptureSession, from: From, body: Captured) {
  const { db, audit, emit, now } = input
  const held = (await lockSession(db, session, now)) as CaptureSession
  sessionLifecycle.check(held.status, 'complete')
  const { provider, executor } = await offered(db, held)
  checkConsent(held, provider)
  checkSlots(body.slots, provider, from)
  checkKeys(body.slots, executor)
  const before = held.purpose === 'reconnect' ? await lockRepaired(db, held) : null
  const isOther = before !== null && (await checkAccount(db, before, held, body.accountDigest))
  await checkRevisions(db, body.slots, held)
  const { orgId, connectionId } = held
  await store(db, held, provider, { ...body, before, now })
  await completeSession(db, held, now)
  const by = { orgId, actor: { type: 'vault_end_user', id: endUserDigest(held.projectId, held.userRef) } }
  const { projectId } = held
  const facts = { projectId, providerId: provider.id, sessionId: held.id }
  if (!before) audit('vault.connection.created', connectionId, facts, by)
  if (before?.status === 'reauth_required') audit('vault.connection.reactivated', connectionId, facts, by)
  for (const { slot, revision } of body.slots)
    audit('vault.credential.written', connectionId, { projectId, slot, revision, accountChanged: isOther }, by)
  const connection = await reread(db, { orgId, id: connectionId })
  await emit('vault.connection.ready', { projectId, connection: toResponse(connection) }, orgId)
  return { connectionId, returnUrl: held.returnUrl }
}

/**
 * Reads the executor and the provider that the project offers now. Since the link was created, the project may have
 * been disabled or the provider removed.
 */
export async function offered(db: Tx, { orgId, projectId, provider: { id } }: CaptureSession) {
  const project = await lockProject(db, { orgId, id: projectId })
  projectLifecycle.check(project.status, 'use')
  const executor = await findActive(db, project)
  const provider = executor?.catalog.providers.find((one) => one.id === id)
  if (!executor || !provider) throw fail('conflict', 'the product no longer offers this provider')
  return { executor, provider }
}

function checkConsent({ consentVersion }: CaptureSession, provider: Provider): void {
  if (consentVersion === null) throw fail('conflict', 'the person has not consented')
  if (consentVersion !== provider.consentVersion)
    throw fail('conflict', 'the person consented to another version of the text')
}

/** Requires every slot that this side captures. An executor may also pass on slots that the person typed in. */
function checkSlots(given: Slots, provider: Provider, from: From): void {
  const names = given.map(({ slot }) => slot)
  for (const [index, slot] of names.entries()) {
    const place = `body.slots.${index}.slot`
    if (names.indexOf(slot) !== index) throw fail('invalid_request', `${place}: is there twice`)
    if (!provider.slots.includes(slot)) throw fail('invalid_request', `${place}: the provider has no slot ${slot}`)
    if (from === 'browser' && vaultSlots[slot] !== 'browser')
      throw fail('invalid_request', `${place}: ${slot} is captured by the executor`)
  }
  const own: VaultSlot[] = provider.slots.filter((slot) => vaultSlots[slot] === from)
  if (own.length === 0) throw fail('invalid_request', `body.slots: the ${from} captures nothing of this provider`)
  const missing = own.find((slot) => !names.includes(slot))
  if (missing !== undefined) throw fail('invalid_request', `body.slots: ${missing} is missing`)
}

function checkKeys(given: Slots, { keys }: Executor): void {
  for (const [index, { keyThumbprint }] of given.entries())
    checkLive(keyThumbprint, keys, `body.slots.${index}.keyThumbprint`)
}

export function checkLive(thumbprint: string, keys: Executor['keys'], place: string): void {
  if (!keys.some((key) => key.thumbprint === thumbprint))
    throw fail('invalid_request', `${place}: is not a live key of the executor`)
}

async function lockRepaired(db: Tx, { orgId, connectionId }: CaptureSession): Promise<Connection> {
  const before = await lockConnection(db, { orgId, id: connectionId })
  connectionLifecycle.check(before.status, 'capture')
  return before
}

/**
 * Returns whether the person signed in with another account. It returns false if the account is unknown: for an API
 * key, or for a provider that gives no id token.
 */
async function checkAccount(
  db: Tx,
  before: Connection,
  { allowAccountChange }: CaptureSession,
  digest: string | undefined,
): Promise<boolean> {
  const known = await findAccountDigest(db, before)
  const isOther = known !== null && digest !== undefined && known !== digest
  if (isOther && !allowAccountChange)
    throw fail('conflict', 'another account was connected before: sign in with that account')
  return isOther
}

async function checkRevisions(db: Tx, given: Slots, { orgId, connectionId }: CaptureSession): Promise<void> {
  const next = await nextRevisions(db, orgId, connectionId)
  for (const [index, { slot, revision }] of given.entries())
    if (revision !== next(slot))
      throw fail('conflict', `body.slots.${index}.revision: the next revision of ${slot} is ${next(slot)}`)
}

async function store(
  db: Tx,
  session: CaptureSession,
  provider: Provider,
  { slots, accountLabel, accountDigest, before, now }: Captured & { before: Connection | null; now: string },
): Promise<void> {
  const { orgId, projectId, connectionId: id, userRef } = session
  const consent = {
    consentedAt: session.consentedAt as string,
    consentVersion: session.consentVersion as number,
  }
  const account = { accountLabel: accountLabel ?? null, accountDigest: accountDigest ?? null }
  const facts = { providerName: provider.displayName, ...account, ...consent, now }
  if (before) await repairConnection(db, before, facts)
  else {
    const { id: providerId, method } = provider
    await insertConnection(db, { orgId, id: projectId }, { id, userRef, providerId, method, ...facts })
  }
  for (const slot of slots) await putCredential(db, { orgId, id }, slot, now)
}
