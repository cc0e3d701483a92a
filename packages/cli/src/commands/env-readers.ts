import type { AtPlace } from '../frame.ts'
import { type Output, writeLine, writeTable } from '../output.ts'

/** For auditors: lists who can read an environment, since when, and who granted it. */
export async function readers(_slug: string, { session, place }: AtPlace): Promise<Output> {
  const params = { orgId: place.orgId, envId: place.envId }
  const answer = await session.client.grants.readers({ params })
  return {
    json: answer,
    text: () => {
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
    },
  }
}
