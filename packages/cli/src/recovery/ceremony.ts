import { rmSync } from 'node:fs'
import { join } from 'node:path'
import { decodeBase64url, encodeBase64url } from '@skerry/crypto/base64url'
import { CryptoError } from '@skerry/crypto/errors'
import { exportPrivateKey, generateKeyPair, importPrivateKey } from '@skerry/crypto/keys'
import { isShareOf, rewrapShare } from '@skerry/crypto/recovery'
import { unwrapKey } from '@skerry/crypto/wrap'
import { FalseSharesError, gatherRecoveryKey, type RecoveryRequest, recoverKeys } from '@skerry/sdk/recovery'
import { Failure, usage } from '../failure.ts'
import { readIfThere, writePrivate } from '../files.ts'
import { makePrivate, stateFolder } from '../folders.js'
import type { InOrg } from '../frame.ts'
import { note, type Output, warn, writeLine } from '../output.ts'
import { canonical, wordsOf } from '../pins.ts'
import { listPlaces } from '../places.ts'
import { ask, canAsk, confirmOrRefuse } from '../prompt.ts'
import { ownPublicKey, type Session } from '../session.ts'
import type { Confirmable, Flags } from '../settings.ts'
import { notedTime } from '../times.ts'
import { count } from '../units.ts'
import { notSetUp } from './configure.ts'
import { checkRecoveryKey } from './key.ts'
import { targetName, tellOpened } from './request.ts'

async function knownKey(session: Session, orgId: string): Promise<string> {
  const { recoveryPublicKeyJwk } = await session.client.recovery.publicKey({ params: { orgId } })
  if (recoveryPublicKeyJwk === null) throw notSetUp()
  return checkRecoveryKey(session, recoveryPublicKeyJwk)
}

/** Checks that the caller's share opens, and that it belongs to the recovery key that this machine knows. */
export async function share({ session, orgId }: InOrg): Promise<Output> {
  const recoveryPublicKeyJwk = await knownKey(session, orgId)
  const { share } = await session.client.recovery.share({ params: { orgId } })
  const { shareIndex, threshold } = share
  const opened = await unwrapKey(share.wrappedShare, await session.key()).catch(notOurs)
  if (!(await isShareOf(opened, recoveryPublicKeyJwk, { orgId, shareIndex, threshold }))) return notOurs()
  note(`your share has number ${shareIndex}; any ${threshold} shares open the recovery key with these words:`)
  const words = await wordsOf(recoveryPublicKeyJwk)
  return { json: { shareIndex, threshold, recoveryPublicKeyJwk, fingerprint: words }, text: () => writeLine(words) }
}

function notOurs(error?: unknown): never {
  if (error !== undefined && !(error instanceof CryptoError)) throw error
  throw new Failure(
    'failure',
    'your share does not belong to the recovery key',
    'tell the admin who set recovery up: `skerry recovery rotate` makes new shares',
  )
}

export async function contribute(
  requestId: string,
  { session, flags, orgId }: InOrg<Flags & { words?: string }>,
): Promise<Output> {
  const { request } = await session.client.recoveryRequests.get({ params: { orgId, recoveryRequestId: requestId } })
  checkOpen(request)
  const recoveryPublicKeyJwk = await knownKey(session, orgId)
  const { share } = await session.client.recovery.share({ params: { orgId } })
  const name = await targetName(session, request)
  await compare(name, request, flags)
  const { shareIndex, threshold } = share
  const place = { orgId, shareIndex, threshold }
  const key = await session.key()
  const contributedShare = await rewrapShare(
    share.wrappedShare,
    key,
    request.targetPublicKeyJwk,
    recoveryPublicKeyJwk,
    place,
  ).catch(notOurs)
  const answer = await session.client.recoveryRequests.contribute({
    params: { orgId, recoveryRequestId: requestId },
    body: { shareIndex, contributedShare },
  })
  const { contributed } = answer.request
  note(`gave share ${shareIndex}: ${contributed} of ${request.threshold}`)
  if (contributed >= request.threshold)
    note(
      request.drill
        ? `these are enough; the person who started the drill now runs \`skerry recovery drill ${requestId}\``
        : `these are enough; ${name} now runs \`skerry recovery complete ${requestId}\``,
    )
  return { json: { request: answer.request } }
}

function checkOpen({ id, status }: RecoveryRequest): void {
  if (status !== 'open') throw new Failure('conflict', `recovery request ${id} is ${status}`)
}

/**
 * Asks the custodian to compare the words, which no program can do. `--yes` does not help: a script must pass the
 * compared words with `--words`.
 */
async function compare(name: string, request: RecoveryRequest, flags: { words?: string }): Promise<void> {
  const words = await wordsOf(request.targetPublicKeyJwk)
  note(`recovery ${request.id} for ${name}${request.reason === null ? '' : `, because: ${request.reason}`}`)
  if (flags.words !== undefined) {
    const said = flags.words.trim().toLowerCase().split(/\s+/).join(' ')
    if (said === words) return
    throw new Failure(
      'refused',
      'your words do not match the key in this request; nothing was given',
      `ask ${name} again; if they still differ, ask an admin to cancel the request`,
    )
  }
  note(`  ${words}`)
  if (!canAsk())
    throw usage('--words is missing', `give the words of \`skerry keys fingerprint\` that ${name} told you`)
  const same = await ask(`did ${name} tell you these words, in person or by phone`)
  if (!same) throw new Failure('refused', 'nothing was given', 'an admin can cancel the request')
}

function checkEnough({ id, contributed, threshold }: RecoveryRequest): void {
  if (contributed < threshold)
    throw new Failure(
      'conflict',
      `custodians contributed ${contributed} of ${threshold} shares`,
      `ask ${count(threshold - contributed, 'more custodian')} to run \`skerry recovery contribute ${id}\``,
    )
}

/** Runs on the target's machine only. It combines the shares there, and forgets the recovery key at the end. */
export async function complete(
  requestId: string,
  { session, flags, orgId }: InOrg<Flags & { only?: string[] }>,
): Promise<Output> {
  const params = { orgId, recoveryRequestId: requestId }
  const { request, shares } = await session.client.recoveryRequests.get({ params })
  checkOpen(request)
  const targetPublicKeyJwk = await ownPublicKey(session)
  if (request.drill || canonical(request.targetPublicKeyJwk) !== targetPublicKeyJwk)
    throw new Failure(
      'refused',
      `recovery request ${requestId} is for another person`,
      'they complete it on their own machine',
    )
  checkEnough(request)
  const recoveryPublicKeyJwk = await knownKey(session, orgId)
  const recoveryKey = await gather(session, { orgId, request, shares }, await session.key(), recoveryPublicKeyJwk)
  const places = new Map((await listPlaces(session)).map(({ envId, label }) => [envId, label]))
  const chosen = flags.only === undefined ? {} : { chosen: chosenOf(flags.only, places) }
  const { grants, unreadable } = await recoverKeys(
    session.client,
    { orgId, targetPublicKeyJwk, ...chosen },
    recoveryKey,
  )
  const labelOf = (id: string) => places.get(id) ?? id
  for (const id of unreadable) warn(`the recovery key does not cover ${labelOf(id)}, so it is left out`)
  if (grants.length === 0) throw new Failure('notFound', 'the recovery key covers none of these environments')
  const { type: principalType, id: principalId } = session.principal
  await session.client.recoveryRequests.complete({ params, body: { principalType, principalId, grants } })
  const granted = grants.map(({ environmentId }) => ({ id: environmentId, label: labelOf(environmentId) }))
  for (const { label } of granted) note(`you now have the key of ${label}`)
  note('this machine had the recovery key in memory; an admin should replace it with `skerry recovery rotate`')
  return { json: { granted, unreadable } }
}

function chosenOf(labels: string[], places: Map<string, string>): Set<string> {
  const ids = new Map([...places].map(([id, label]) => [label, id]))
  return new Set(
    labels.map((label) => {
      const id = ids.get(label)
      if (id === undefined)
        throw new Failure('notFound', `there is no environment ${label}`, 'write app/env, app/env@branch or group:env')
      return id
    }),
  )
}

type Gathered = Parameters<typeof gatherRecoveryKey>

/** Combines the shares into the recovery key. If it fails, the error names the custodians whose shares are false. */
async function gather(session: Session, from: Gathered[0], holder: Gathered[1], recoveryPublicKeyJwk: string) {
  const { members } = await session.client.orgs.members({ params: { orgId: from.orgId } })
  const nameOf = (id: string) => members.find(({ userId }) => userId === id)?.email ?? id
  try {
    const { recoveryKey, falseShares } = await gatherRecoveryKey(from, holder, recoveryPublicKeyJwk)
    for (const { userId, shareIndex } of falseShares)
      warn(`share ${shareIndex} of ${nameOf(userId)} is false and was not used`)
    return recoveryKey
  } catch (error) {
    if (!(error instanceof FalseSharesError)) throw error
    const whose = error.falseShares
      .map(({ userId, shareIndex }) => `share ${shareIndex} of ${nameOf(userId)}`)
      .join(', ')
    const all = error.falseShares.length === from.shares.length
    throw new Failure(
      'failure',
      all
        ? 'none of the shares belongs to the recovery key that the server shows'
        : `these shares do not belong to the recovery key: ${whose}`,
      all
        ? 'compare the words of `skerry recovery status` with a custodian’s `skerry recovery share`'
        : 'ask another custodian, or cancel this request and open another without them',
    )
  }
}

export async function cancel(requestId: string, { session, flags, orgId }: InOrg<Confirmable>): Promise<Output> {
  await confirmOrRefuse(`cancels recovery request ${requestId}`, flags)
  const params = { orgId, recoveryRequestId: requestId }
  const { request } = await session.client.recoveryRequests.cancel({ params })
  note(`cancelled recovery request ${requestId}`)
  return { json: { request } }
}

/** Without an id it starts a drill, with a key pair that only this machine has. With an id it completes that drill. */
export async function drill(requestId: string | undefined, { session, orgId }: InOrg): Promise<Output> {
  if (requestId === undefined) return beginDrill(session, orgId)
  const params = { orgId, recoveryRequestId: requestId }
  const { request, shares } = await session.client.recoveryRequests.get({ params })
  checkOpen(request)
  const kept = /^rcr_[0-9A-Za-z]{22}$/.test(requestId) ? readIfThere(drillPath(requestId)) : null
  if (!request.drill || kept === null)
    throw new Failure(
      'refused',
      `${requestId} is not a drill that was started on this machine`,
      'finish a drill on the machine where `skerry recovery drill` started it',
    )
  checkEnough(request)
  const holder = await importPrivateKey(decodeBase64url(kept.trim(), 'malformed_key'))
  await gather(session, { orgId, request, shares }, holder, await knownKey(session, orgId))
  await session.client.recoveryRequests.complete({ params, body: { grants: [] } })
  rmSync(drillPath(requestId), { force: true })
  const { recovery } = await session.client.recovery.get({ params: { orgId } })
  const lastDrillAt = recovery?.lastDrillAt ?? null
  note(
    `the drill passed${lastDrillAt ? ` at ${notedTime(lastDrillAt)}` : ''}: ${count(shares.length, 'custodian')} contributed, ${request.threshold} were needed`,
  )
  return { json: { request: requestId, lastDrillAt } }
}

const drillPath = (requestId: string) => join(stateFolder(), 'drills', requestId)

async function beginDrill(session: Session, orgId: string): Promise<Output> {
  await knownKey(session, orgId)
  const { privateKey, publicKeyJwk } = await generateKeyPair()
  const body = { targetPublicKeyJwk: publicKeyJwk, drill: true }
  const { recoveryPublicKeyJwk } = await session.client.recovery.publicKey({ params: { orgId } })
  if (recoveryPublicKeyJwk === null) throw notSetUp()
  const { request } = await session.client.recoveryRequests.open({ params: { orgId }, body })
  makePrivate(join(stateFolder(), 'drills'))
  writePrivate(drillPath(request.id), `${encodeBase64url(await exportPrivateKey(privateKey))}\n`)
  return tellOpened(session, request)
}
