import type { offboardings } from '@skerry/contract/offboardings/endpoints'
import type { In, Out } from '../../http/route.ts'
import { fail } from '../../kernel/errors.ts'
import { agentsOf, disableMadeBy } from '../agents/made-by.ts'
import { leasesOf, revokeLeasesOf } from '../leases/made-by.ts'
import { clientsOf, revokeClientsOf } from '../machine-clients/made-by.ts'
import { mayBecome, removeMember } from '../members/members.ts'
import { invitesOf, withdrawInvitesOf } from '../members/withdrawn.ts'
import type { InOrg, Org } from '../orgs/scope.ts'
import { revokeTokensOf, tokensOf } from '../tokens/made-by.ts'
import {
  findPerson,
  findShare,
  isMadeBy,
  type Known,
  listKnown,
  listSecrets,
  lockPrincipal,
  type Person,
} from './known-store.ts'
import { findOffboarding } from './scope.ts'
import { findRunning, insertOffboarding, insertRows, type NewRow, putRevoked, type Revoked } from './store.ts'

export async function preview(input: In<typeof offboardings.preview, InOrg>): Out<typeof offboardings.preview> {
  const { db, org, params, now } = input
  const { userId } = params
  const person = await findPerson(db, org, userId)
  if (!person) throw fail('not_found', 'no such member')
  const share = await findShare(db, org, userId)
  const revokes = [
    ...labelled('service_token', await tokensOf(db, org, userId)),
    ...labelled('machine_client', await clientsOf(db, org, userId)),
    ...labelled('agent', await agentsOf(db, org, userId)),
    ...labelled('lease', await leasesOf(db, org, userId)),
    ...labelled('invitation', await invitesOf(db, org, userId, now)),
  ]
  return {
    preview: {
      ...person,
      environments: await listKnown(db, input, userId, now),
      revokes,
      recovery: share ? { sharesLeft: share.sharesLeft, threshold: share.threshold } : null,
      runningId: await findRunning(db, org, userId),
    },
  }
}

const labelled = (kind: Revoked['kind'], made: { id: string; name: string }[]): Revoked[] =>
  made.map(({ id, name }) => ({ kind, id, name }))

type Start = In<typeof offboardings.start, InOrg>

/**
 * Removes the person and revokes what they made. The environments, values and shares that they know remain as rows. The
 * offboarding is inserted first, so that of two starts at once the second one finds the first.
 */
export async function start(input: Start): Out<typeof offboardings.start> {
  const { db, org, body, now, newId, principal, audit } = input
  const { userId } = body
  const person = await checkPerson(input)
  const { email, name } = person
  const id = newId('offboarding')
  if (!(await insertOffboarding(db, org, { id, userId, email, name, by: principal, now })))
    throw fail('conflict', `an offboarding of ${calledOf(person)} is running: ${await findRunning(db, org, userId)}`)
  if (person.role !== null) await mayBecome(input, userId, null)
  await lockPrincipal(db, org, userId)
  const environments = await listKnown(db, input, userId, now)
  const rows = await rowsOf(input, environments)
  if (person.role !== null) await removeMember(input, userId)
  const revoked = await revokeMadeBy(input, userId)
  await putRevoked(db, org, id, revoked)
  // Lists have the order of the ids.
  const ids = rows.map(() => newId('offboardingRow')).sort()
  await insertRows(
    db,
    org,
    id,
    rows.map((row, at) => ({ ...row, id: ids[at] as string })),
  )
  audit('offboarding.started', id, {
    userId,
    environmentIds: environments.map(({ environmentId }) => environmentId),
    revoked: revoked.map((one) => ({ kind: one.kind, id: one.id })),
    rows: rows.length,
  })
  return { offboarding: await getOffboarding(input, id) }
}

async function checkPerson({ db, org, principal, body }: Start): Promise<Person> {
  const { userId, confirmEmail } = body
  if (principal.type === 'user' && principal.id === userId)
    throw fail('conflict', 'you cannot offboard yourself: ask another admin to do it, or leave the organization')
  const person = await findPerson(db, org, userId)
  if (!person) throw fail('not_found', 'no such member')
  if (confirmEmail !== undefined && confirmEmail.toLowerCase() !== person.email?.toLowerCase())
    throw fail('invalid_request', 'body.confirmEmail: is not the address of this person')
  if (await isMadeBy(db, org, principal, userId))
    throw fail('conflict', `${calledOf(person)} made this credential, which would be revoked: use another one`)
  return person
}

const calledOf = ({ email, name, userId }: Person): string => email ?? name ?? userId

async function revokeMadeBy(input: Start, userId: string): Promise<Revoked[]> {
  // Leases first: those of a token are found by the person who made the token.
  const leases = labelled('lease', await revokeLeasesOf(input, userId))
  return [
    ...labelled('service_token', await revokeTokensOf(input, userId)),
    ...labelled('machine_client', await revokeClientsOf(input, userId)),
    ...labelled('agent', await disableMadeBy(input, userId)),
    ...leases,
    ...labelled('invitation', await withdrawInvitesOf(input, userId)),
  ]
}

const blank = {
  state: 'waiting',
  environmentId: null,
  label: null,
  via: null,
  secretId: null,
  secretName: null,
  baseVersion: null,
  sharedAt: null,
} as const

/** Returns the rows in the order in which they are shown. */
async function rowsOf({ db, org, body }: Start, environments: Known[]): Promise<NewRow[]> {
  const share = await findShare(db, org, body.userId)
  const secrets = Map.groupBy(await listSecrets(db, org, environments.map(idOf)), (secret) => secret.environmentId)
  const known = environments.map(({ environmentId, label, via }) => ({ ...blank, environmentId, label, via }))
  return [
    ...(share ? [{ ...blank, kind: 'recovery_share' as const, sharedAt: share.sharedAt }] : []),
    ...known.map((row, at) => ({
      ...row,
      kind: 'rekey' as const,
      state: environments[at]?.rekeyed ? ('done' as const) : row.state,
    })),
    ...known.flatMap((row) =>
      (secrets.get(row.environmentId) ?? []).map((secret) => ({
        ...row,
        kind: 'rotate_value' as const,
        secretId: secret.id,
        secretName: secret.name,
        baseVersion: secret.currentVersion,
      })),
    ),
  ]
}

const idOf = ({ environmentId }: Known): string => environmentId

async function getOffboarding({ db, org, now }: { db: Start['db']; org: Org; now: string }, id: string) {
  const row = await findOffboarding(db, org, id, now)
  if (!row) throw new Error('an offboarding in this transaction exists')
  return row
}
