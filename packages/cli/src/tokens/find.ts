import type { Answer } from '@skerry/contract/endpoint'
import { idPattern } from '@skerry/contract/prefixes'
import type { tokens as endpoints } from '@skerry/contract/tokens/endpoints'
import { findOne } from '../find-one.ts'
import { checkTokenId } from '../names.ts'
import { everyRow } from '../pages.ts'
import type { Session } from '../session.ts'
import { shownTime } from '../times.ts'

type ServiceToken = Answer<typeof endpoints.list>['tokens'][number]

/** Every service token of the organization, revoked ones too. */
export async function listTokens(
  session: Pick<Session, 'client'> & { org: () => Promise<{ id: string }> },
): Promise<ServiceToken[]> {
  const { id: orgId } = await session.org()
  return everyRow(
    (query) => session.client.tokens.list({ params: { orgId }, query }),
    ({ tokens }) => tokens,
  )
}

type Ending = Pick<ServiceToken, 'revokedAt' | 'expiresAt'>

const hasExpired = ({ expiresAt }: Ending) => expiresAt !== null && Date.parse(expiresAt) <= Date.now()

export const isLive = (token: Ending): boolean => token.revokedAt === null && !hasExpired(token)

/** The state of a token in words: `until 2026-05-01 10:00`. */
export function tokenState(token: Ending): string {
  if (token.revokedAt !== null) return 'revoked'
  if (token.expiresAt === null) return 'active'
  return hasExpired(token) ? 'expired' : `until ${shownTime(token.expiresAt)}`
}

/** Finds a token by id or name. A name finds active tokens first, and revoked ones only if no active token has it. */
export async function findToken(session: Session, wanted: string): Promise<ServiceToken> {
  checkTokenId(wanted)
  const tokens = await listTokens(session)
  const active = tokens.filter(({ id, name, revokedAt }) => id === wanted || (name === wanted && revokedAt === null))
  return findOne(active.length > 0 ? active : tokens, wanted, {
    kind: 'serviceToken',
    noun: 'token',
    list: 'skerry token ls',
    nameOf: ({ name }) => name,
  })
}

/** The name by which the user named a token; undefined if the user wrote its id. */
export const wantedTokenName = (wanted: string): string | undefined =>
  new RegExp(idPattern('serviceToken')).test(wanted) ? undefined : wanted
