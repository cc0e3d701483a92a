import { openSecret } from '@skerry/crypto/secret'
import type { ChangeRequest } from '@skerry/sdk/secrets'
import { exitCodes, Failure, toFailure } from '../failure.ts'
import { note, writeJson } from '../output.ts'
import { findPlaceById } from '../places.ts'
import { withoutCiphertext } from '../secrets/queued.ts'
import { openKey } from '../secrets/values.ts'
import { openSession, type Session } from '../session.ts'
import type { Flags } from '../settings.ts'

interface Options extends Flags {
  comment?: string
}

export async function approve(ids: string[], flags: Options): Promise<void> {
  await decideEach(ids, flags, async (session, params) => {
    await checkReadable(session, params)
    const { changeRequest, approvals, required } = await session.client.changes.approve({ params, ...bodyOf(flags) })
    const { id, status, secretName } = changeRequest
    if (status === 'applied') note(`approved ${id}: applied to ${secretName}`)
    else if (status === 'open') note(`approved ${id}: ${approvals} of ${required} approvals, so it still waits`)
    else {
      note(`${id} is superseded: ${secretName} has moved on since it was proposed; nothing was written`)
      process.exitCode = exitCodes.conflict
    }
    return changeRequest
  })
}

/**
 * A value that does not open with the environment’s key would fail every read of the environment. Only clients can see
 * that; one without the key leaves it to others.
 */
async function checkReadable(session: Session, params: { orgId: string; changeRequestId: string }): Promise<void> {
  const { changeRequest: change } = await session.client.changes.get({ params })
  if (change.ciphertext === null) return
  const place = await findPlaceById(session, params.orgId, change.environmentId)
  const key = await openKey(session, place).catch((error: unknown) => {
    if (toFailure(error).kind !== 'refused') throw error
  })
  if (!key) return
  await openSecret(change.ciphertext, key.dek, place.envId, change.secretName).catch(() => {
    throw new Failure(
      'failure',
      `${change.id} was not approved: its value does not open with the key of ${place.label}, so reading there would fail`,
      `reject it with \`skerry changes reject ${change.id}\``,
    )
  })
}

export async function reject(ids: string[], flags: Options): Promise<void> {
  await decideEach(ids, flags, async (session, params) => {
    const { changeRequest } = await session.client.changes.reject({ params, ...bodyOf(flags) })
    note(`rejected ${changeRequest.id}: ${changeRequest.secretName} stays as it is`)
    return changeRequest
  })
}

export async function withdraw(ids: string[], flags: Options): Promise<void> {
  await decideEach(ids, flags, async (session, params) => {
    const { changeRequest } = await session.client.changes.withdraw({ params })
    note(`withdrew ${changeRequest.id}`)
    return changeRequest
  })
}

const bodyOf = ({ comment }: Options) => ({ body: comment === undefined ? {} : { comment } })

/** One after the other, each told as it is done: the first that is refused ends it. */
async function decideEach(
  ids: string[],
  flags: Options,
  decide: (session: Session, params: { orgId: string; changeRequestId: string }) => Promise<ChangeRequest>,
): Promise<void> {
  const session = await openSession(flags)
  const { id: orgId } = await session.org()
  const decided: ChangeRequest[] = []
  for (const changeRequestId of ids) decided.push(await decide(session, { orgId, changeRequestId }))
  if (flags.json) writeJson({ changeRequests: decided.map(withoutCiphertext) })
}
