import { isNamed } from '@skerry/contract/prefixes'
import type { Offboarding, OffboardingRow } from '@skerry/sdk/internal/offboarding'
import type { Session } from '../session.ts'

/** Finds the offboarding of a person, by e-mail address or id: the running one, or else the last one. */
export async function findOffboarding(session: Session, orgId: string, who: string): Promise<Offboarding | undefined> {
  const { offboardings } = await session.client.offboardings.list({ params: { orgId } })
  const ofPerson = offboardings.filter(({ userId: id, email: name }) => isNamed(who, 'user', { id, name }))
  return ofPerson.find(({ finishedAt }) => finishedAt === null) ?? ofPerson.at(-1)
}

export const listRows = async (session: Session, orgId: string, { id }: Offboarding): Promise<OffboardingRow[]> =>
  (await session.client.offboardings.rows({ params: { orgId, offboardingId: id } })).rows

export const labelOf = ({ email, name, userId }: Pick<Offboarding, 'email' | 'name' | 'userId'>): string =>
  email ?? name ?? userId
