import type { SyncPlace } from './provider.ts'

// Vercel stores the values of one name in records, each for some environments and perhaps one branch.

type Destination = SyncPlace<'frontend-cloud'>['destination']
type Target = Destination['targets'][number]

export interface EnvRecord {
  id: string
  key: string
  type: string
  targets: string[]
  gitBranch: string | null
  /** Whether the record also applies to custom environments of the project. */
  inCustom: boolean
  ofIntegration: boolean
  updatedAt: string
}

/** Environments that can share a record. */
export interface Slot {
  targets: Target[]
  type: 'sensitive' | 'encrypted'
}

/** A sensitive record cannot apply to development, so a destination with development needs two records. */
export function slotsOf({ targets }: Destination): Slot[] {
  const deployed = targets.filter((target) => target !== 'development')
  return [
    ...(deployed.length === 0 ? [] : [{ targets: deployed, type: 'sensitive' as const }]),
    ...(deployed.length === targets.length ? [] : [{ targets: ['development' as const], type: 'encrypted' as const }]),
  ]
}

/** The records of a name that have a value for the destination. */
export function recordsOfName(records: readonly EnvRecord[], name: string, { targets, gitBranch }: Destination) {
  return records.filter(
    (record) =>
      record.key === name &&
      record.gitBranch === (gitBranch ?? null) &&
      record.targets.some((target) => (targets as readonly string[]).includes(target)),
  )
}

export const revisionOf = (records: readonly EnvRecord[]) =>
  records
    .map(({ id, updatedAt }) => `${id}:${updatedAt}`)
    .sort()
    .join()

export function recordOf(row: Record<string, unknown>): EnvRecord {
  const { id, key, type, target, gitBranch, customEnvironmentIds, configurationId, updatedAt } = row
  return {
    id: encodeURIComponent(String(id)),
    key: String(key),
    type: String(type),
    targets: (Array.isArray(target) ? target : [target]).filter((each) => typeof each === 'string'),
    gitBranch: typeof gitBranch === 'string' && gitBranch !== '' ? gitBranch : null,
    inCustom: Array.isArray(customEnvironmentIds) && customEnvironmentIds.length > 0,
    ofIntegration: typeof configurationId === 'string',
    updatedAt: String(updatedAt),
  }
}
