import { useQuery } from '@tanstack/react-query'
import { membersQuery, tokensQuery } from '../secrets/use-name-of.ts'
import { isInForce, tokenLabel } from '../tokens/queries.ts'

/** A person or token that can receive a key. */
export interface Candidate {
  principalType: 'user' | 'service_token'
  principalId: string
  publicKeyJwk: string
  label: string
  /** A person's e-mail address. */
  email?: string
  /** The name of a token. */
  tokenName?: string
}

/** Returns the members and service tokens that have a public key, except those in `held`. */
export function useCandidates(orgId: string, held: { principalId: string }[]): Candidate[] {
  const members = useQuery(membersQuery(orgId)).data?.members ?? []
  const tokens = useQuery(tokensQuery(orgId)).data?.tokens ?? []
  const without = new Set(held.map(({ principalId }) => principalId))
  const people = members.flatMap(({ userId, name, email, publicKeyJwk }) =>
    publicKeyJwk === null
      ? []
      : [
          {
            principalType: 'user' as const,
            principalId: userId,
            publicKeyJwk,
            label: name ?? email ?? userId,
            ...(email ? { email } : {}),
          },
        ],
  )
  const machines = tokens.filter(isInForce).map((token) => ({
    principalType: 'service_token' as const,
    principalId: token.id,
    publicKeyJwk: token.publicKeyJwk,
    label: tokenLabel(token),
    tokenName: token.name,
  }))
  return [...people, ...machines].filter(({ principalId }) => !without.has(principalId))
}

/** The options of a field to choose a candidate. */
export const candidateOptions = (candidates: Candidate[]) => [
  { group: 'Members', items: optionsOf(candidates, 'user') },
  { group: 'Service tokens', items: optionsOf(candidates, 'service_token') },
]

const optionsOf = (candidates: Candidate[], type: Candidate['principalType']) =>
  candidates
    .filter(({ principalType }) => principalType === type)
    .map(({ principalId, label }) => ({ value: principalId, label }))
