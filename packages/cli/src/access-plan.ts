import { changePlan } from '@skerry/sdk/internal/granting'
import { findNamed } from './current-place.ts'
import { openDirectory, principalIdOf } from './directory.ts'
import { usage } from './failure.ts'
import type { InOrg } from './frame.ts'
import { note, type Output, writeTable } from './output.ts'
import type { Flags } from './settings.ts'

export interface Planning extends Flags {
  remove?: boolean
}

export function checkPlanning({ remove }: Planning, _: string, environments: string[]): void {
  if (remove && environments.length === 0) throw usage('the environment is missing', 'name environments as app/env')
}

/** Shows the environments that a person should get without a team, or changes them. */
export async function planAccess(
  who: string,
  named: string[],
  { session, flags, orgId }: InOrg<Planning>,
): Promise<Output> {
  const userId = await principalIdOf(session, who, 'member')
  if (!userId.startsWith('usr_')) throw usage(`${who} is not a person`, 'name a member by e-mail address')
  const places = await Promise.all(named.map((name) => findNamed(session, name, flags)))
  const ids = places.map(({ envId }) => envId)
  const environmentIds =
    ids.length === 0
      ? (await session.client.grants.planned({ params: { orgId, userId } })).environmentIds
      : await changePlan(session.client, orgId, userId, flags.remove ? { remove: ids } : { add: ids })
  for (const { envId, label } of places) note(changeText(label, environmentIds.includes(envId), flags))
  return {
    json: { environmentIds },
    text: async () => {
      const nameOf = await openDirectory(session, environmentIds)
      writeTable(
        ['environment', 'id'],
        environmentIds.map((id) => [nameOf(id) ?? '', id]),
        `no keys are planned for ${who}`,
      )
    },
  }
}

function changeText(label: string, isPlanned: boolean, { remove }: Planning): string {
  if (isPlanned) return `${label} is planned; an admin who has its key grants it with \`skerry access complete\``
  return remove ? `${label} is no longer planned` : `${label} needs no plan: the person has its key`
}
