import { checkKeys } from '../envs/pins.ts'
import { type Member, nameOfMember } from '../people/member.ts'
import { fetchCached, invalidate, orgQueries, type Stale } from '../queries.ts'
import { type AccessRequest, ownersQuery, requestQueries } from '../requests/queries.ts'
import { membersQuery } from '../secrets/use-name-of.ts'
import { type PassedKey, passOn, reasonText } from './pass-on.ts'
import { missingQueries, type WantedKey, wantedOf } from './queries.ts'

export const countOf = (count: number): string => (count === 1 ? '1 environment' : `${count} environments`)

/** The queries that change when somebody got these keys. */
export const passedQueries = (orgId: string, keys: readonly WantedKey[]): Stale[] => [
  missingQueries(orgId),
  requestQueries(orgId),
  ...keys.map(({ environmentId }) => orgQueries(orgId, 'envs', environmentId)),
]

/** Says what the person can read now, and why a key was not passed on. */
export function resultText(name: string, passed: readonly PassedKey[]): string {
  const done = passed.filter(({ key, outcome }) => outcome === 'done' && !key.isComposed)
  const refused = passed.filter(({ outcome }) => outcome === 'refused')
  const first = done.length === 0 ? '' : `${name} can read ${countOf(done.length)} now.`
  return [first, ...refused.map(({ key, reason }) => `${key.label}: ${reasonText(reason)}.`)].filter(Boolean).join(' ')
}

/** The person’s key differs from the one that was compared, or it was never compared. */
export class NotCompared extends Error {}

/**
 * Grants the keys of a request without a dialog, to a person whose words were compared in this browser. Everything that
 * decides who gets a key is read anew. Returns the message to show.
 *
 * @throws NotCompared if the words have to be compared first.
 */
export async function grantAtOnce(
  orgId: string,
  request: AccessRequest,
  onProgress: (done: number) => void = () => {},
): Promise<string> {
  const [{ members }] = await Promise.all([
    fetchCached({ ...membersQuery(orgId), staleTime: 0 }),
    fetchCached(ownersQuery(orgId)),
  ])
  const member = members.find(({ userId }) => userId === request.userId)
  if (!member) return 'This person has left the organization. Nothing was granted.'
  const { to, isCompared, fingerprint } = await receiverOf(member)
  if (!to || !isCompared) throw new NotCompared()
  const keys = (await wantedOf(orgId, request)).filter(({ held }) => held)
  const passed = await passOn(orgId, { ...to, fingerprint }, keys, onProgress)
  await invalidate(...passedQueries(orgId, keys))
  return resultText(nameOfMember(member), passed) || 'Somebody else answered this request already.'
}

async function receiverOf({ userId, publicKeyJwk }: Member) {
  if (publicKeyJwk === null) return { to: null, isCompared: false, fingerprint: '' }
  const to = { principalId: userId, publicKeyJwk }
  const [checked] = await checkKeys([to])
  return { to, isCompared: checked?.status === 'verified', fingerprint: checked?.fingerprint ?? '' }
}
