import type { grants } from '@skerry/contract/grants/endpoints'
import type { grantConflicts } from '@skerry/contract/grants/schemas'
import { checkPublicKey } from '../../http/public-key.ts'
import type { In, Out } from '../../http/route.ts'
import { fail } from '../../kernel/errors.ts'
import { type LockedEnvironment, lockEnvironments } from '../../model/environments/table.ts'
import { giveGrants } from '../../model/grants/write.ts'
import { lockOrg } from '../../model/organizations/table.ts'
import { closeAnswered } from '../access-requests/answered.ts'
import type { InOrg } from '../orgs/scope.ts'
import { type Grantee, listAskedFor, listHeld, lockOwn, lockPeople, lockTokens } from './many-store.ts'

type Request = In<typeof grants.createMany, InOrg>
type Row = Request['body']['grants'][number]
type Conflict = (typeof grantConflicts)[number]

/** The stored rows that decide whether each key can be granted. They are locked until commit. */
interface Facts {
  environments: Map<string, LockedEnvironment>
  own: Map<string, string>
  people: Map<string, Grantee>
  tokens: Map<string, Grantee>
  askedFor: Set<string>
}

const pairOf = ({ environmentId, principalId }: Pick<Row, 'environmentId' | 'principalId'>) =>
  `${environmentId} ${principalId}`

/**
 * Gives the keys of several environments. A row that cannot be granted, for example because the key was replaced meanwhile,
 * gets its reason and does not stop the others. Requests of the same organization wait for each other, so that a team
 * cannot change between the check and the grant.
 */
export async function createMany(input: Request): Out<typeof grants.createMany> {
  const { db, org, body, now } = input
  checkRows(body.grants)
  await lockOrg(db, org)
  const facts = await lockFacts(input)
  const conflicts = body.grants.map((row) => conflictOf(row, facts))
  const granted = await giveGrants(
    input,
    org.id,
    body.grants.filter((_, index) => conflicts[index] === null),
  )
  const done = new Map(granted.map((grant) => [pairOf(grant), grant.id]))
  const held = await listHeld(db, org, body.grants, now)
  const toPeople = granted.filter(({ principalType }) => principalType === 'user')
  await closeAnswered(input, org.id, toPeople)
  return {
    results: body.grants.map((row, index) => {
      const { environmentId, principalType, principalId } = row
      const reason = conflicts[index] ?? null
      const result = done.has(pairOf(row)) ? 'done' : reason === null || held.has(pairOf(row)) ? 'already' : 'conflict'
      const grantId = result === 'conflict' ? null : (held.get(pairOf(row)) ?? null)
      return {
        environmentId,
        principalType,
        principalId,
        result,
        reason: result === 'conflict' ? reason : null,
        grantId,
      }
    }),
  }
}

function checkRows(rows: readonly Row[]) {
  const seen = new Set<string>()
  for (const [index, row] of rows.entries()) {
    checkPublicKey(`body.grants.${index}.publicKeyJwk`, row.publicKeyJwk)
    if (row.direct === false && row.principalType !== 'user')
      throw fail('invalid_request', `body.grants.${index}.direct: no team or plan asks for the key of a token`)
    if (seen.has(pairOf(row)))
      throw fail('invalid_request', `body.grants.${index}: ${row.principalId} is named twice for this environment`)
    seen.add(pairOf(row))
  }
}

async function lockFacts({ db, org, principal, body, now }: Request): Promise<Facts> {
  const environmentIds = [...new Set(body.grants.map(({ environmentId }) => environmentId))]
  const idsOf = (type: Row['principalType']) => [
    ...new Set(body.grants.filter(({ principalType }) => principalType === type).map(({ principalId }) => principalId)),
  ]
  // Locks the environments first, as a re-key does, so that the two never wait for each other.
  const environments = await lockEnvironments(db, org.id, environmentIds, now)
  return {
    environments,
    own: await lockOwn(db, org, principal, environmentIds),
    people: await lockPeople(db, org, idsOf('user')),
    tokens: await lockTokens(db, org, idsOf('service_token'), now),
    askedFor: await listAskedFor(db, org, body.grants),
  }
}

/** Returns why the row cannot be granted, or null. */
function conflictOf(row: Row, { environments, own, people, tokens, askedFor }: Facts): Conflict | null {
  const env = environments.get(row.environmentId)
  if (!env) return 'no_environment'
  const key = own.get(env.id)
  if (key === undefined) return 'not_held'
  if (key !== row.ownWrappedDek) return 'key_replaced'
  const grantee = (row.principalType === 'user' ? people : tokens).get(row.principalId)
  if (!grantee) return 'no_principal'
  if (!isSameKey(grantee.publicKeyJwk, row.publicKeyJwk)) return 'public_key_changed'
  if (!isInReach(env, grantee)) return 'bound_elsewhere'
  return row.direct === false && !askedFor.has(pairOf(row)) ? 'not_planned' : null
}

/** Compares the coordinates, because one key can be written in many ways. Both texts were checked to be public keys. */
function isSameKey(one: string, other: string): boolean {
  const [a, b] = [JSON.parse(one), JSON.parse(other)]
  return a.x === b.x && a.y === b.y
}

/** The same rule as for a single grant: a bound token also gets keys of branches, of the parent, and of groups. */
function isInReach(env: LockedEnvironment, { environmentId: bound, parentEnvironmentId }: Grantee): boolean {
  if (bound === null || env.groupId !== null || env.id === bound) return true
  return env.parentEnvironmentId === bound || env.id === parentEnvironmentId
}
