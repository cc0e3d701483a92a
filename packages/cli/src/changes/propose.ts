import { Failure, usage } from '../failure.ts'
import type { AtPlace } from '../frame.ts'
import { checkSecretName } from '../names.ts'
import { note, type Output } from '../output.ts'
import { noSecret } from '../secrets/missing.ts'
import { makePlan, namesOf, type Reading, readValues, tellPlan } from '../secrets/plan.ts'
import { checkProposable, isProtected, proposeAsOne } from '../secrets/protection.ts'
import { withoutCiphertext } from '../secrets/queued.ts'
import { ownReferenceHint, refuseCycles } from '../secrets/references.ts'
import { storedSecrets } from '../secrets/values.ts'
import type { Flags } from '../settings.ts'

interface Options extends Flags, Reading {
  delete?: string[]
  note?: string
  dryRun?: boolean
}

/** Proposes the differences of a file, and deletions, as one change of a protected environment. */
export async function propose(
  _path: string | undefined,
  { session, flags, place, input: { gone, values } }: AtPlace<Options, typeof parsePropose>,
): Promise<Output> {
  if (!(await isProtected(session, place)))
    throw new Failure('conflict', `${place.label} is not protected`, 'write there with `skerry secrets import`')
  const stored = await storedSecrets(session, place)
  const versions = new Map(stored.map(({ name, version }) => [name, version]))
  const missing = gone.filter((name) => !versions.has(name))
  if (missing.length > 0) throw noSecret(missing, place.label, [...versions.keys()])
  const plan = makePlan(values, stored)
  tellPlan(plan, place, gone)
  const puts = [...plan.added, ...plan.changed]
  await refuseCycles(session, place, new Map(puts.map(({ name, value }) => [name, value])), ownReferenceHint)
  const deletes = gone.map((name) => ({ name, expectedVersion: versions.get(name)! }))
  const count = puts.length + deletes.length
  if (count === 0) throw new Failure('failure', 'nothing differs, so nothing was proposed')
  checkProposable(count)
  const report = { environment: { id: place.envId, label: place.label }, ...namesOf(plan), deleted: gone }
  if (flags.dryRun) {
    note('dry run: nothing was proposed')
    return { json: { ...report, groupId: null, changeRequests: [] } }
  }
  const { groupId, changeRequests } = await proposeAsOne(session, place, { puts, deletes }, flags)
  const id = groupId ?? changeRequests[0]?.id
  note(
    changeRequests.length === 1
      ? `proposed 1 change as ${id}`
      : `proposed ${changeRequests.length} changes as ${id}; an approval applies all of them`,
  )
  return { json: { ...report, groupId, changeRequests: changeRequests.map(withoutCiphertext) } }
}

export async function parsePropose(flags: Options, path: string | undefined) {
  const gone = [...new Set(flags.delete ?? [])].map(checkSecretName)
  if (path === undefined && gone.length === 0)
    throw usage('there is nothing to propose', 'name a .env file, or --delete NAME')
  const values = path === undefined ? new Map<string, string>() : await readValues(path, flags)
  const both = gone.filter((name) => values.has(name))
  if (both.length > 0) throw usage(`--delete and the file both name ${both.join(', ')}`)
  return { gone, values }
}
