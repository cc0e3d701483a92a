import { hueOf, isProduction } from '../look/environments.ts'
import type { Owner } from '../requests/queries.ts'

export type OwnedEnvironment = Owner['environments'][number]

/** The environments that a tick at an application takes. */
export type Take = 'all-but-production' | 'all'

/** The environments of all applications with the same slug. */
export interface GridColumn {
  slug: string
  name: string
}

/** A phone has space for this many columns. */
const columnsMax = 6

const hues = ['prod', 'staging', 'qa', 'preview', 'ci', 'dev']

/** Returns the most common environments as columns, production first. Other environments have no column of their own. */
export function columnsOf(owners: readonly Owner[]): GridColumn[] {
  const bySlug = Map.groupBy(
    owners.flatMap(({ environments }) => environments),
    ({ slug }) => slug,
  )
  const orderOf = (slug: string) => hues.indexOf(hueOf(slug))
  return [...bySlug]
    .sort(([a, one], [b, other]) => other.length - one.length || orderOf(a) - orderOf(b) || a.localeCompare(b))
    .slice(0, columnsMax)
    .sort(([a], [b]) => orderOf(a) - orderOf(b) || a.localeCompare(b))
    .map(([slug, [first]]) => ({ slug, name: first?.name ?? slug }))
}

/** Returns the environments that a tick takes, of those that can be chosen. */
export const takenBy = (take: Take, choosable: readonly OwnedEnvironment[]): OwnedEnvironment[] =>
  choosable.filter(({ slug }) => take === 'all' || !isProduction(slug))

/** Whether all or some of these environments are chosen. */
export function choiceOf(environments: readonly OwnedEnvironment[], chosen: ReadonlySet<string>) {
  const count = environments.filter(({ id }) => chosen.has(id)).length
  return { isAll: count > 0 && count === environments.length, isSome: count > 0 && count < environments.length }
}

/** Adds these environments, or removes them. */
export function choose(
  chosen: ReadonlySet<string>,
  environments: readonly OwnedEnvironment[],
  isAdded: boolean,
): ReadonlySet<string> {
  const next = new Set(chosen)
  for (const { id } of environments) isAdded ? next.add(id) : next.delete(id)
  return next
}
