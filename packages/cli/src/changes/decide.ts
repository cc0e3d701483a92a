import { openSecret } from '@skerry/crypto/secret'
import { isSecretChange } from '@skerry/sdk/secret-change'
import type { ChangeRequest, ShownChange } from '@skerry/sdk/secrets'
import { exitCodes, Failure, toFailure, usage } from '../failure.ts'
import type { InOrg } from '../frame.ts'
import { note, type Output, warn } from '../output.ts'
import { findPlaceById, type Place } from '../places.ts'
import { ask, canAsk } from '../prompt.ts'
import type { ReaderFlags } from '../reader-names.ts'
import { withoutCiphertext } from '../secrets/queued.ts'
import { openKey } from '../secrets/values.ts'
import type { Session } from '../session.ts'
import type { Flags } from '../settings.ts'
import { newApproverSteps } from './approvers.ts'
import { compareRestored, originalOf, unprovenWarning } from './compare.ts'
import { findChange } from './find.ts'
import { proposerEnd } from './proposer.ts'
import { checkRekey } from './rekey.ts'
import { nameOfChange, verbs } from './show.ts'

interface Options extends Flags {
  comment?: string
  /** The same as `comment`: proposals have a note and requests for access a reason, so people try them here. */
  note?: string
  reason?: string
}

interface ApproveOptions extends Options, ReaderFlags {
  yes?: boolean
}

/** The subject of a decision: one change, or all changes that were proposed together. */
interface Decided {
  id: string
  names: string
  together: ShownChange[]
  params: { orgId: string; changeRequestId: string }
}

export async function approve(ids: string[], work: InOrg<ApproveOptions>): Promise<Output> {
  return decideEach(ids, work, async (session, decided) => {
    const { id, names, together, params } = decided
    const place = await findPlaceById(session, params.orgId, together[0]!.environmentId)
    const rekey = isRekey(decided) ? await checkRekey(session, place, together[0]!, work.flags) : undefined
    const seen = rekey ? { canSee: rekey.canSee, unproven: [] } : await checkReadable(session, place, decided)
    await confirmApproval(decided, place, seen, work.flags)
    const { body } = bodyOf(work.flags)
    const { changeRequest, approvals, required } = await session.client.changes
      .approve({ params, body: rekey ? { ...body, rekey: true } : body })
      .catch(async (error) => {
        throw (await onlyAdmin(error, session, place, id)) ?? error
      })
    const { status } = changeRequest
    await rekey?.keep(status === 'applied')
    if (status === 'applied') note(`approved ${id}: ${rekey ? `${place.label} has a new key` : `applied to ${names}`}`)
    else if (status === 'open') note(`approved ${id}: it has ${approvals} of ${required} approvals and still waits`)
    else {
      const moved = movedWords(decided, place)
      note(`${id} is superseded, because ${moved} changed after it was proposed; nothing was written`)
      process.exitCode = exitCodes.conflict
    }
    return changeRequest
  })
}

const isRekey = ({ together }: Decided): boolean => !together.every(isSecretChange)

/** The things that changed after the proposal. */
function movedWords(decided: Decided, { label }: Place): string {
  if (isRekey(decided)) return `a secret or a reader of ${label}`
  return decided.together.length === 1 ? decided.names : `one of ${decided.names}`
}

/**
 * Refuses a value that does not open with the environment’s key, because it would break every read of the environment. Refuses
 * a restore whose value is not that of the version or the deleted secret which it names.
 * Only a client with the key can see that; a client without the key leaves it to others.
 *
 * @returns whether this credential can see the proposed values, and the originals of restores that nobody can compare
 */
async function checkReadable(session: Session, place: Place, { id, together }: Decided): Promise<Seen> {
  const unproven: string[] = []
  if (together.every(({ action }) => action === 'delete')) return { canSee: true, unproven }
  const key = await openKey(session, place).catch((error: unknown) => {
    if (toFailure(error).kind !== 'refused') throw error
  })
  if (!key) return { canSee: false, unproven }
  for (const change of together.filter(isSecretChange)) {
    const { ciphertext, secretName } = change
    if (ciphertext === null) continue
    const value = await openSecret(ciphertext, key.dek, place.envId, secretName).catch(() => {
      throw new Failure(
        'failure',
        `${id} was not approved: the proposed value of ${secretName} cannot be decrypted with the key of ${place.label}`,
        `reject it with \`skerry changes reject ${id}\``,
      )
    })
    const restored = await compareRestored(session, place, change, key.dek, value)
    if (restored === 'different')
      throw new Failure(
        'failure',
        `${id} was not approved: the proposed value is not that of ${originalOf(change)}`,
        `reject it with \`skerry changes reject ${id}\``,
      )
    if (restored === 'unproven') unproven.push(originalOf(change))
  }
  return { canSee: true, unproven }
}

interface Seen {
  canSee: boolean
  /** Versions and deleted secrets that nobody can compare with the proposed values. */
  unproven: string[]
}

/** Names the secrets that would change, and asks. A script must say `--yes`, because the last approval writes. */
async function confirmApproval(
  { id, together }: Decided,
  { label }: Place,
  { canSee, unproven }: Seen,
  { yes = false }: ApproveOptions,
): Promise<void> {
  const ended = proposerEnd(together[0]!)
  if (ended !== undefined) warn(`the proposer of ${id} was ${ended}: approve it only if you know where it comes from`)
  for (const original of unproven) warn(unprovenWarning(original, id))
  const effects = new Intl.ListFormat('en').format(together.map((one) => `${verbs[one.action]} ${nameOfChange(one)}`))
  const unseen = canSee ? '' : ' You cannot see the values.'
  if (!yes && !canAsk())
    throw usage(`This approves ${id}: ${effects} in ${label}.${unseen}`, 'Run again with `--yes` to do it.')
  if (!canSee) warn(`you cannot see the values of ${id}, because you do not have the key of ${label}`)
  if (yes || (await ask(`You approve ${id}: ${effects} in ${label}.${unseen} Continue?`))) return
  throw new Failure('failure', `${id} was not approved`)
}

/** The failure of an only admin who may not approve their own change, and finds nobody else who could. */
async function onlyAdmin(error: unknown, session: Session, { orgId, label }: Place, id: string) {
  if (!toFailure(error).message.startsWith('someone else has to approve')) return undefined
  const { members } = await session.client.orgs.members({ params: { orgId } })
  if (members.filter(({ role }) => role !== 'member').length > 1) return undefined
  return new Failure(
    'refused',
    `you proposed ${id}, and you are the only admin, so nobody can approve it`,
    newApproverSteps(label, id),
  )
}

export async function reject(ids: string[], work: InOrg<Options>): Promise<Output> {
  return decideEach(ids, work, async (session, { id, names, together, params }) => {
    const { changeRequest } = await session.client.changes.reject({ params, ...bodyOf(work.flags) })
    note(`rejected ${id}: ${names} ${together.length === 1 ? 'stays as it is' : 'stay as they are'}`)
    return changeRequest
  })
}

export async function withdraw(ids: string[], work: InOrg<Options>): Promise<Output> {
  return decideEach(ids, work, async (session, { id, params }) => {
    const { changeRequest } = await session.client.changes.withdraw({ params })
    note(`withdrew ${id}`)
    return changeRequest
  })
}

function bodyOf({ comment, note: sameAsComment, reason }: Options) {
  const text = comment ?? sameAsComment ?? reason
  return { body: text === undefined ? {} : { comment: text } }
}

/** Decides one change after the other and reports each. A change that is closed already does not stop the others. */
async function decideEach(
  ids: string[],
  { session, orgId }: InOrg<Options>,
  decide: (session: Session, decided: Decided) => Promise<ChangeRequest>,
): Promise<Output> {
  const decided = new Map<string, ChangeRequest>()
  const closed: string[] = []
  for (const named of ids) {
    const { id, change, together } = await findChange(session, orgId, named)
    // If the change was already decided together with its group, it is skipped.
    if (decided.has(id)) continue
    const names = together.map(nameOfChange).join(', ')
    const params = { orgId, changeRequestId: change.id }
    if (change.status !== 'open') {
      closed.push(`${id} (${names}) is ${change.status} already`)
      continue
    }
    try {
      decided.set(id, await decide(session, { id, names, together, params }))
    } catch (error) {
      // Somebody else closed it after it was found here.
      if (error instanceof Failure || toFailure(error).kind !== 'conflict') throw error
      closed.push(`${id} (${names}): ${toFailure(error).message}`)
    }
  }
  if (closed.length > 0) throw new Failure('conflict', closed.join(', '), 'see `skerry changes ls --status any`')
  return { json: { changeRequests: [...decided.values()].map(withoutCiphertext) } }
}
