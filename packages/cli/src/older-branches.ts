import { NoKeyFailure } from './failure.ts'
import { type OpenPlace, openPlace } from './grants.ts'
import { shellWord } from './labels.ts'
import { note } from './output.ts'
import { eachAtOnce } from './parallel.ts'
import { checkNames, type Place } from './places.ts'
import type { Session } from './session.ts'

// A branch gives its key to the readers that its environment has at that time. A reader who gets the environment later
// cannot read the older branches.

interface Branch {
  envId: string
  label: string
}

export const branchesOption = ['--branches', 'also grant the branches of the environment that you can read'] as const

/** The branches of an environment; none for a branch or a group. */
export async function listBranchesOf(session: Session, place: Place | undefined): Promise<Branch[]> {
  if (place?.kind !== 'app') return []
  const { orgId, envId, label } = place
  const { branches } = await session.client.branches.list({ params: { orgId, envId } })
  return branches.map(({ id, slug }) => ({ envId: id, label: `${label}@${slug}` }))
}

/** Opens the branches that this credential can read. */
export async function openBranches(session: Session, orgId: string, branches: Branch[]): Promise<OpenPlace[]> {
  await checkNames(session, orgId, branches)
  const opened = await eachAtOnce(branches, ({ envId, label }) =>
    openPlace(session, orgId, envId, label).catch((error) => {
      if (error instanceof NoKeyFailure) return undefined
      throw error
    }),
  )
  return opened.filter((one) => one !== undefined)
}

/** The branches whose key a person or a token lacks. */
export const lackedBy = async (session: Session, orgId: string, principalId: string, branches: Branch[]) =>
  (
    await eachAtOnce(branches, async (branch) => {
      const { grants } = await session.client.grants.list({ params: { orgId, envId: branch.envId } })
      return grants.some((one) => one.principalId === principalId) ? [] : [branch]
    })
  ).flat()

const shownMax = 5

/** Names branches that a new reader cannot read, with the commands that let them. */
export function hintOlderBranches(branches: Branch[], holder: string): void {
  if (branches.length === 0) return
  const shown = branches.slice(0, shownMax)
  const names = shown.map(({ label }) => label).join(', ')
  const more = branches.length > shownMax ? ` and ${branches.length - shownMax} more` : ''
  note(`${holder} cannot read branches that were made before: ${names}${more}; grant them with`)
  for (const { label } of shown) note(`  skerry grant ${shellWord(holder)} ${shellWord(label)}`)
}
