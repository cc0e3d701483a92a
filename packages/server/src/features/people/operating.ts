import type { Database, Sql, Tx } from '../../db/database.ts'
import { endSessions } from '../../identity/linking-store.ts'
import { ownIssuer } from '../../identity/session-tokens.ts'
import { listOrgIds } from '../../identity/store.ts'
import { type Entry, recordIn, system } from '../../kernel/audit.ts'
import { deleteUser, updateIdentity } from '../../model/people/users.ts'
import { moveMembership, raiseToOwner } from '../members/operating.ts'
import type { Org } from '../orgs/scope.ts'
import {
  findPeople,
  type ListedPerson,
  listKeyOrgs,
  listPeople,
  lockMemberships,
  lockPeople,
  type MembershipRow,
  type PersonRow,
} from './store.ts'

// Repairs by operators, who have the database and no principal. Every change is an audit entry of each organization that it
// concerns.

/** Refuses a change, with the reason. */
export class NotPossible extends Error {}

interface OperatorDeps {
  db: Database
  now: () => Date
}

export const peopleOf = (db: Sql, filter: { email: string | null; orgId: string | null }): Promise<ListedPerson[]> =>
  listPeople(db, filter)

/** The person with this id or verified address. */
export async function personOf(db: Sql, given: string): Promise<PersonRow> {
  const [found, another] = await findPeople(db, given)
  const look = `Give an id; \`skerry-server people list --email ${given}\` shows the people with this address.`
  if (!found && given.includes('@')) throw new NotPossible(`No person has the verified address ${given}. ${look}`)
  if (!found) throw new NotPossible(`There is no person ${given}.`)
  if (another) throw new NotPossible(`More than one person has the address ${given}. ${look}`)
  return found
}

export interface Linked {
  userId: string
  issuer: string
  subject: string
  mergedUserId: string
  /** Slugs of the organizations whose membership moved to the person. */
  joined: string[]
}

/**
 * Lets `person` sign in as `other` does, and deletes `other`. Memberships of `other` move. Keys cannot: they are encrypted for
 * `other` alone, so a person who has any is not linked.
 */
export const linkPeople = (deps: OperatorDeps, person: { id: string }, other: { id: string }): Promise<Linked> =>
  deps.db.transaction(async (tx) => {
    if (person.id === other.id) throw new NotPossible('You gave the same person twice.')
    const rows = await lockPeople(tx, [person.id, other.id])
    const [kept, merged] = [rows.find(({ id }) => id === person.id), rows.find(({ id }) => id === other.id)]
    if (!kept || !merged) throw new NotPossible('A person was deleted meanwhile. Run the command again.')
    const own = new Set(await listOrgIds(tx, kept.id))
    const memberships = await lockMemberships(tx, merged.id)
    await checkSeparable(tx, merged, memberships, own)
    const now = deps.now().toISOString()
    for (const membership of memberships) await takeOver({ deps, tx, now }, kept, merged, membership)
    await deleteUser(tx, merged.id)
    await updateIdentity(tx, kept.id, merged)
    // A former issuer may have verified an address that was not this person's. `linkIdentity` ends its sessions as well.
    if (kept.issuer !== ownIssuer) await endSessions(tx, kept.id, now)
    const { issuer, subject } = merged
    const metadata = { issuer, formerIssuer: kept.issuer, mergedUserId: merged.id }
    const joined = memberships.map(({ orgId }) => orgId)
    const orgIds = [...own, ...joined]
    for (const orgId of orgIds.length > 0 ? orgIds : [null])
      record(deps, tx, orgId, 'user.identity_linked', kept.id, metadata)
    return { userId: kept.id, issuer, subject, mergedUserId: merged.id, joined: memberships.map(({ slug }) => slug) }
  })

async function checkSeparable(
  tx: Tx,
  merged: PersonRow,
  memberships: MembershipRow[],
  own: ReadonlySet<string>,
): Promise<void> {
  const name = nameOf(merged)
  const shared = memberships.filter(({ orgId }) => own.has(orgId)).map(({ slug }) => slug)
  if (shared.length > 0)
    throw new NotPossible(
      `The two people are both members of ${shared.join(', ')}. Remove ${name} there first: \`skerry members rm\`, or the page Members.`,
    )
  const keyOrgs = await listKeyOrgs(tx, merged.id)
  if (keyOrgs.length > 0)
    throw new NotPossible(
      `${name} has keys in ${keyOrgs.join(', ')}, which nobody else could use. Share them there with another admin or with a token, remove ${name} from the organization, and run the command again.`,
    )
}

async function takeOver(
  { deps, tx, now }: { deps: OperatorDeps; tx: Tx; now: string },
  kept: PersonRow,
  merged: PersonRow,
  { orgId, role }: MembershipRow,
): Promise<void> {
  await moveMembership(tx, { id: orgId } as Org, { from: merged.id, to: kept.id, role, now })
  record(deps, tx, orgId, 'member.joined', kept.id, { role, mergedUserId: merged.id })
  record(deps, tx, orgId, 'member.removed', merged.id, { role, environmentIds: [] })
}

/** Returns the previous role, or null if the person was not a member. Ownership brings no keys. */
export const makeOwner = (deps: OperatorDeps, person: { id: string }, orgId: string): Promise<string | null> =>
  deps.db.transaction(async (tx) => {
    const from = await raiseToOwner(tx, { id: orgId } as Org, person.id, deps.now().toISOString())
    if (from === null) record(deps, tx, orgId, 'member.joined', person.id, { role: 'owner' })
    else if (from !== 'owner') record(deps, tx, orgId, 'member.role_changed', person.id, { from, to: 'owner' })
    return from
  })

const record = (
  deps: OperatorDeps,
  tx: Tx,
  orgId: string | null,
  action: Entry['action'],
  resourceId: string,
  metadata: Entry['metadata'],
): void => recordIn(deps, tx, system, { orgId, action, resourceId, metadata })

/** The address as operators read it, with a note if nobody has verified that the person owns it. */
export const addressOf = ({ email, emailVerified }: Pick<PersonRow, 'email' | 'emailVerified'>): string | null =>
  email === null || emailVerified ? email : `${email} (unverified)`

/** Names a person with the id, because two people may claim one address or name. */
export const nameOf = (person: Pick<PersonRow, 'id' | 'email' | 'emailVerified' | 'name'>): string => {
  const name = addressOf(person) ?? person.name
  return name === null ? person.id : `${name} [${person.id}]`
}
