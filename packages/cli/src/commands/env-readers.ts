import { openDirectory } from '../directory.ts'
import type { AtPlace } from '../frame.ts'
import { type Output, writeLine, writeTable } from '../output.ts'
import { typeName } from '../principals.ts'
import { shownMoment } from '../times.ts'

/** For auditors: lists who can read an environment, since when, and who granted it. */
export async function readers(_slug: string, { session, place }: AtPlace): Promise<Output> {
  const params = { orgId: place.orgId, envId: place.envId }
  const answer = await session.client.grants.readers({ params })
  return {
    json: answer,
    text: async () => {
      const nameOf = await openDirectory(
        session,
        answer.readers.flatMap((one) => [one.principalId, one.grantedById]),
      )
      writeTable(
        ['reader', 'type', 'since', 'until', 'granted by', 'in force', 'grant'],
        answer.readers.map(({ name, principalId, principalType, since, grantId, ...one }) => [
          nameOf(principalId) ?? name ?? principalId,
          typeName(principalType),
          shownMoment(since),
          // A server of an earlier release has no temporary grants, and does not send this.
          one.endsAt ? shownMoment(one.endsAt) : '',
          nameOf(one.grantedById) ?? one.grantedByName ?? one.grantedById ?? '',
          one.inForce ? 'yes' : 'no',
          grantId,
        ]),
      )
      if (answer.recovery === null) return
      const { threshold, custodians, since } = answer.recovery
      const names = custodians.map(({ name, userId }) => name ?? userId).join(', ')
      writeLine(`and any ${threshold} of these custodians together, since ${shownMoment(since)}: ${names}`)
    },
  }
}
