import { useQueries, useQuery } from '@tanstack/react-query'
import { useMemo } from 'react'
import { type Checked, comparedPin, useChecked } from '../envs/pins.ts'
import { nameOfMember } from '../people/member.ts'
import { isFresh } from '../queries.ts'
import { membersQuery, tokensQuery } from '../secrets/use-name-of.ts'
import { type TeamDetail, teamQuery, teamsQuery } from '../teams/queries.ts'
import { isInForce, tokenLabel } from '../tokens/queries.ts'

/** A team, a person or a token that a grant names. */
export interface Principal {
  kind: 'team' | 'person' | 'token'
  id: string
}

/** A person or a token that would get keys: named in the grant, or a member of a team in it. */
export interface Receiver {
  principalType: 'user' | 'service_token'
  principalId: string
  label: string
  /** A person's e-mail address. */
  email?: string
  /** The name of a token. */
  tokenName?: string
  /** Null until the person has a keyring. */
  publicKeyJwk: string | null
  /** Undefined until the key was compared with the remembered one, and without a key. */
  checked: Checked | undefined
  /** The name under which this browser knows the key, if it differs from the shown one. */
  knownAs: string | null
  /** The environment to which a token is bound. */
  boundTo: string | null
  isNamed: boolean
  teamIds: readonly string[]
}

/**
 * Says whether a receiver can get keys now. `first`: nobody compared the words here. `changed`: the key differs from the
 * remembered one. `renamed`: this browser knows the key under another name.
 */
export type Readiness = 'ready' | 'checking' | 'without_keyring' | 'first' | 'changed' | 'renamed'

export function readinessOf({ publicKeyJwk, checked, knownAs }: Receiver): Readiness {
  if (publicKeyJwk === null) return 'without_keyring'
  if (!checked) return 'checking'
  if (checked.status !== 'verified') return checked.status
  return knownAs === null ? 'ready' : 'renamed'
}

type Unchecked = Omit<Receiver, 'checked' | 'knownAs'>

/** Returns all who would get keys, without this person, and whether the answers have just come from the server. */
export function useReceivers(orgId: string, ownId: string, principals: readonly Principal[]) {
  const members = useQuery({ ...membersQuery(orgId), staleTime: 0 })
  const tokens = useQuery({ ...tokensQuery(orgId), staleTime: 0 })
  const teamIds = principals.flatMap(({ kind, id }) => (kind === 'team' ? [id] : []))
  const answers = useQueries({ queries: teamIds.map((id) => ({ ...teamQuery(orgId, id), staleTime: 0 })) })
  const teams = answers.flatMap(({ data }) => data ?? [])
  const named = new Set(principals.map(({ id }) => id))
  const of = teamsByPerson(teams)
  const people = (members.data?.members ?? []).flatMap((member): Unchecked[] => {
    const { userId: principalId, publicKeyJwk } = member
    const [isNamed, ids] = [named.has(principalId), of.get(principalId) ?? []]
    if (principalId === ownId || !(isNamed || ids.length > 0)) return []
    const label = nameOfMember(member)
    return [
      {
        principalType: 'user',
        principalId,
        label,
        ...(member.email ? { email: member.email } : {}),
        publicKeyJwk,
        boundTo: null,
        isNamed,
        teamIds: ids,
      },
    ]
  })
  const machines = (tokens.data?.tokens ?? []).flatMap((token): Unchecked[] => {
    const { id: principalId, publicKeyJwk, environmentId: boundTo } = token
    if (!named.has(principalId) || !isInForce(token)) return []
    const label = tokenLabel(token)
    const shown = { principalType: 'service_token', principalId, label, tokenName: token.name } as const
    return [{ ...shown, publicKeyJwk, boundTo, isNamed: true, teamIds: [] }]
  })
  const receivers = useCheckedReceivers([...people, ...machines])
  const queries = [members, tokens, ...answers]
  return {
    receivers,
    teams,
    error: queries.find(({ error }) => error)?.error ?? null,
    isReady: queries.every(isFresh) && receivers.every((one) => readinessOf(one) !== 'checking'),
  }
}

function teamsByPerson(teams: readonly TeamDetail[]): ReadonlyMap<string, readonly string[]> {
  const found = new Map<string, string[]>()
  for (const { team, members } of teams)
    for (const { userId } of members) found.set(userId, [...(found.get(userId) ?? []), team.id])
  return found
}

/** Compares each public key, and the name of its holder, with those that this browser remembers. */
function useCheckedReceivers(receivers: readonly Unchecked[]): Receiver[] {
  const holders = receivers.flatMap(({ principalId, publicKeyJwk }) =>
    publicKeyJwk === null ? [] : [{ principalId, publicKeyJwk }],
  )
  const checked = useChecked(holders)
  const byId = new Map(holders.map(({ principalId }, i) => [principalId, checked?.[i]]))
  return receivers.map((one) => {
    const known = one.principalType === 'user' ? comparedPin(one.principalId)?.name : undefined
    const knownAs = known === undefined || known === one.label ? null : known
    return { ...one, checked: byId.get(one.principalId), knownAs }
  })
}

/** The options of the field “To”, and the label of each. */
export function usePrincipalOptions(orgId: string) {
  const members = useQuery(membersQuery(orgId)).data?.members
  const tokens = useQuery(tokensQuery(orgId)).data?.tokens
  const teams = useQuery(teamsQuery(orgId)).data?.teams
  return useMemo(
    () => [
      { group: 'Teams', items: (teams ?? []).map(({ id, name }) => ({ value: `team:${id}`, label: name })) },
      {
        group: 'People',
        items: (members ?? []).map((one) => ({ value: `person:${one.userId}`, label: nameOfMember(one) })),
      },
      {
        group: 'Service tokens',
        items: (tokens ?? []).filter(isInForce).map((one) => ({ value: `token:${one.id}`, label: tokenLabel(one) })),
      },
    ],
    [members, tokens, teams],
  )
}

export const optionOf = ({ kind, id }: Principal): string => `${kind}:${id}`

export function principalOf(value: string): Principal {
  const [kind, id = ''] = value.split(':')
  return { kind: kind as Principal['kind'], id }
}
