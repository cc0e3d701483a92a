import { changePlan, listMissingGrants, type MissingGrant, type WantedGrant } from '@skerry/sdk/internal/granting'
import { api } from '../api.ts'
import { checkMeanings } from '../envs/meanings.ts'
import { comparedPin } from '../envs/pins.ts'
import { grantOne } from '../envs/wrap-key.ts'
import type { TeamDetail } from '../teams/queries.ts'
import { type Receiver, readinessOf } from './principals.ts'
import { type OnSettled, problemOf, sendAll } from './send.ts'

/** The content of the dialog “Grant access” when it is submitted. */
export interface Order {
  orgId: string
  teams: readonly TeamDetail[]
  receivers: readonly Receiver[]
  environments: readonly { id: string; canDecrypt: boolean; isOfGroup: boolean }[]
  /** After this time the access ends. Null if it does not end. */
  seconds: number | null
}

/**
 * Stores what the teams shall read and what the people shall get, and grants the keys that this person holds. The server keeps
 * what is stored, so that anyone who holds a key can grant the rest.
 */
export async function carryOut(order: Order, onSettled: OnSettled): Promise<void> {
  await checkMeanings(order.environments.map(({ id }) => id))
  if (order.seconds !== null) return grantForTime(order, order.seconds, onSettled)
  await store(order)
  const wanted = await wantedBy(order, onSettled)
  const open = new Set(wanted.map(({ environmentId }) => environmentId))
  // Nobody can get these keys now. They wait, and need no tick any longer.
  for (const { id } of order.environments) if (!open.has(id)) onSettled(id, null)
  if (wanted.length > 0) await sendAll(order.orgId, wanted, onSettled)
}

async function store({ orgId, teams, receivers, environments }: Order): Promise<void> {
  for (const { team, environments: there } of teams) {
    const known = new Set(there.map(({ environmentId }) => environmentId))
    const environmentIds = environments.map(({ id }) => id).filter((id) => !known.has(id))
    const params = { orgId, teamId: team.id }
    if (environmentIds.length > 0) await api.teams.addEnvironments({ params, body: { environmentIds } })
  }
  for (const { principalType, principalId: userId, isNamed } of receivers) {
    if (!isNamed || principalType !== 'user') continue
    await changePlan(api, orgId, userId, { add: environments.map(({ id }) => id) })
  }
}

/** Returns the keys that can be granted now. Each key that a person has directly does not end with a team. */
async function wantedBy(order: Order, onSettled: OnSettled): Promise<WantedGrant[]> {
  const ready = order.receivers.filter((one) => readinessOf(one) === 'ready')
  const held = order.environments.filter(({ canDecrypt }) => canDecrypt)
  const direct = held.flatMap(({ id: environmentId, isOfGroup }) =>
    ready
      .filter(({ isNamed, boundTo }) => isNamed && (boundTo === null || boundTo === environmentId || isOfGroup))
      .map((one): WantedGrant => grantOf(environmentId, one, true)),
  )
  const wanted = new Map(direct.map((one) => [pairOf(one), one]))
  for (const { team } of order.teams)
    for (const row of await listMissingGrants(api, order.orgId, { teamId: team.id })) {
      const one = ready.find(({ principalId }) => principalId === row.principalId)
      if (!one || wanted.has(pairOf(row)) || !held.some(({ id }) => id === row.environmentId)) continue
      if (row.publicKeyJwk === one.publicKeyJwk) wanted.set(pairOf(row), grantOf(row.environmentId, one, false))
      else onSettled(row.environmentId, `The server shows another key of ${one.label} than a moment ago.`)
    }
  return [...wanted.values()]
}

const pairOf = ({ environmentId, principalId }: Pick<MissingGrant, 'environmentId' | 'principalId'>) =>
  `${environmentId} ${principalId}`

const grantOf = (
  environmentId: string,
  { principalType, principalId, publicKeyJwk }: Receiver,
  direct: boolean,
): WantedGrant => ({ environmentId, principalType, principalId, publicKeyJwk: publicKeyJwk ?? '', direct })

/** Access with an end is granted at once or not at all, because no plan stores the end. */
async function grantForTime(order: Order, seconds: number, onSettled: OnSettled): Promise<void> {
  const ready = order.receivers.filter((one) => one.isNamed && readinessOf(one) === 'ready')
  for (const { id } of order.environments)
    onSettled(
      id,
      await problemOf(async () => {
        for (const { principalType, principalId, publicKeyJwk } of ready) {
          const fingerprint = comparedPin(principalId)?.fingerprint ?? ''
          const to = { principalType, principalId, publicKeyJwk: publicKeyJwk ?? '', fingerprint }
          await grantOne(order.orgId, id, to, seconds)
        }
        return null
      }),
    )
}
