import type { Answer } from '@skerry/contract/endpoint'
import type { tokens as endpoints } from '@skerry/contract/tokens'
import { Failure } from '../failure.ts'
import { findOne } from '../find-one.ts'
import { checkTokenId } from '../names.ts'
import { findPin } from '../pins.ts'
import type { Session } from '../session.ts'

type ServiceToken = Answer<typeof endpoints.list>['tokens'][number]

/** Every service token of the organization, revoked ones too. */
export async function listTokens(session: Session): Promise<ServiceToken[]> {
  const { id: orgId } = await session.org()
  const tokens: ServiceToken[] = []
  for (let cursor: string | null | undefined; cursor !== null; ) {
    const query = cursor === undefined ? {} : { cursor }
    const page: Answer<typeof endpoints.list> = await session.client.tokens.list({ params: { orgId }, query })
    tokens.push(...page.tokens)
    cursor = page.nextCursor
  }
  return tokens
}

/** Finds a token by id or name. A name finds active tokens first, and revoked ones only if no active token has it. */
export async function findToken(session: Session, wanted: string): Promise<ServiceToken> {
  checkTokenId(wanted)
  const tokens = await listTokens(session)
  const active = tokens.filter(({ id, name, revokedAt }) => id === wanted || (name === wanted && revokedAt === null))
  return findOne(active.length > 0 ? active : tokens, wanted, {
    kind: 'serviceToken',
    noun: 'token',
    list: 'skerry token list',
    nameOf: ({ name }) => name,
  })
}

/**
 * Finds a token to wrap a key to. A hostile server could show a token of its own under any name. So a name is accepted only
 * for a token whose public key this machine knows.
 */
export async function findKnownToken(session: Session, wanted: string): Promise<ServiceToken> {
  const found = await findToken(session, wanted)
  const { id: orgId } = await session.org()
  if (found.id === wanted || findPin(session, orgId, found.id)) return found
  throw new Failure(
    'refused',
    `this machine does not know the token '${wanted}', so the server could show any token under that name`,
    `compare the id ${found.id} with the maker of the token, then name the token by its id`,
  )
}
