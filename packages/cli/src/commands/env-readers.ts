import { writeJson, writeLine, writeTable } from '../output.ts'
import { findNamed } from '../places.ts'
import { openSession } from '../session.ts'
import type { Flags } from '../settings.ts'

/** For auditors: who can read an environment, since when, and who gave it to them. */
export async function readers(slug: string, flags: Flags): Promise<void> {
  const session = await openSession(flags)
  const place = await findNamed(session, slug, flags)
  const params = { orgId: place.orgId, envId: place.envId }
  const answer = await session.client.grants.readers({ params })
  if (flags.json) return writeJson(answer)
  writeTable(
    ['reader', 'type', 'since', 'through', 'given by', 'in force'],
    answer.readers.map(({ name, principalId, principalType, since, grantId, ...one }) => [
      name ?? principalId,
      principalType,
      since,
      grantId,
      one.grantedByName ?? one.grantedById,
      one.inForce ? 'yes' : 'no',
    ]),
  )
  if (answer.recovery === null) return
  const { threshold, custodians, since } = answer.recovery
  const names = custodians.map(({ name, userId }) => name ?? userId).join(', ')
  writeLine(`and any ${threshold} of these custodians together, since ${since}: ${names}`)
}
