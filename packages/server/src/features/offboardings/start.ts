import type { offboardings } from '@skerry/contract/offboardings/endpoints'
import type { In, Out } from '../../http/route.ts'
import { fail } from '../../kernel/errors.ts'
import { lockOrg } from '../../model/organizations/table.ts'
import { disableAgentsMadeBy, listAgentsMadeBy } from '../agents/made-by.ts'
import { listLeasesRequestedBy, revokeLeasesRequestedBy } from '../leases/made-by.ts'
import { listClientsMadeBy, revokeClientsMadeBy } from '../machine-clients/made-by.ts'
import { mayBecome, removeMember } from '../members/members.ts'
import { listInvitesConcerning, revokeInvitesConcerning } from '../members/withdrawn.ts'
import type { InOrg, Org } from '../orgs/scope.ts'
import { listTokensMadeBy, revokeTokensMadeBy } from '../tokens/made-by.ts'
import { listPlatformKeysMadeBy, revokePlatformKeysMadeBy } from '../vault/projects/made-by.ts'
import { findPerson, findShare, isMadeBy, listKnown, listSecrets, lockPrincipal, type Person } from './known-store.ts'
import { findOffboarding } from './scope.ts'
import { findRunning, insertOffboarding, insertRows, type NewRow, putRevoked, type Revoked } from './store.ts'

export async function preview(input: In<typeof offboardings.preview, InOrg>): Out<typeof offboardings.preview> {
  const { db, org, params, now } = input
  const { userId } = params
  const person = await findPerson(db, org, userId)
  if (!person) throw fail('not_found', 'no such member')
  const share = await findShare(db, org, userId)
  const revokes = [
    ...labelled('service_token', await listTokensMadeBy(db, org, userId)),
    ...labelled('machine_client', await listClientsMadeBy(db, org, userId)),
    ...labelled('agent', await listAgentsMadeBy(db, org, userId)),
    ...labelled('platform_key', await listPlatformKeysMadeBy(db, org, userId)),
    ...labelled('lease', await listLeasesRequestedBy(db, org, userId)),
    ...labelled('invitation', await listInvitesConcerning(db, org, userId, now)),
  ]
  return {
    preview: {
      ...person,
      environments: (await listKnown(db, input, userId, now)).map(({ knownUntil: _, ...known }) => known),
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
 * Removes the person and revokes what they made. The environments, values and shares that they know remain as rows.
 *
 * The lock on the organization comes first: of two starts at once the second one finds the first, and a former member who
 * joins again at the same time is found as a member. The lock on the membership comes next: credentials that the person
 * is making are then found, and later ones are refused. The keys are listed after the revocation, so that no token gets
 * one meanwhile.
 */
export async function start(input: Start): Out<typeof offboardings.start> {
  const { db, org, body, now, newId, principal, audit } = input
  const { userId } = body
  await lockOrg(db, org)
  const person = await checkPerson(input)
  const { email, name } = person
  const id = newId('offboarding')
  if (!(await insertOffboarding(db, org, { id, userId, email, name, by: principal, now })))
    throw fail('conflict', `an offboarding of ${calledOf(person)} is running: ${await findRunning(db, org, userId)}`)
  const role = person.role === null ? null : await mayBecome(input, userId, null)
  await lockPrincipal(db, org, userId)
  const revoked = await revokeMadeBy(input, userId)
  const environments = await listKnown(db, input, userId, now)
  const rows = await rowsOf(input, environments)
  if (role !== null) await removeMember(input, userId, role)
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
  return [
    ...(await revokeCredentials(input, userId)),
    ...labelled('agent', await disableAgentsMadeBy(input, userId)),
    ...labelled('platform_key', await revokePlatformKeysMadeBy(input, userId)),
    ...labelled('lease', await revokeLeasesRequestedBy(input, userId)),
    ...labelled('invitation', await revokeInvitesConcerning(input, userId)),
  ]
}

/**
 * Revokes tokens and machine clients until none is left. One of them may be making another one: the revocation waits for
 * it, and only the next round sees the new credential.
 */
async function revokeCredentials(input: Start, userId: string): Promise<Revoked[]> {
  const tokens: Revoked[] = []
  const clients: Revoked[] = []
  for (;;) {
    const more = labelled('service_token', await revokeTokensMadeBy(input, userId))
    const others = labelled('machine_client', await revokeClientsMadeBy(input, userId))
    if (more.length + others.length === 0) return [...tokens, ...clients]
    tokens.push(...more)
    clients.push(...others)
  }
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
async function rowsOf(
  { db, org, body }: Start,
  environments: Awaited<ReturnType<typeof listKnown>>,
): Promise<NewRow[]> {
  const share = await findShare(db, org, body.userId)
  const secrets = Map.groupBy(await listSecrets(db, org, environments), (secret) => secret.environmentId)
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
        baseVersion: secret.baseVersion,
      })),
    ),
  ]
}

async function getOffboarding({ db, org, now }: { db: Start['db']; org: Org; now: string }, id: string) {
  const row = await findOffboarding(db, org, id, now)
  if (!row) throw new Error('an offboarding in this transaction exists')
  return row
}
