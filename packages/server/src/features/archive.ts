// The archive of an organization, as a table. Each feature lists its tables in its descriptor, and this file has their order.

/**
 * Sections in the order in which an archive lists them. A restore inserts them in this order, so a section comes after all
 * sections that its rows refer to. The order is a part of the format: only add to it.
 *
 * The organization, its people and its audit log come from several tables: `export/queries.ts` has them.
 */
const sectionOrder = [
  'memberships',
  'invitations',
  'machineClients',
  'applications',
  'groups',
  'environments',
  'compositions',
  'serviceTokens',
  'honeyTokens',
  'keyGrants',
  'secrets',
  'secretVersions',
  'changeRequests',
  'changeReviews',
  'kmsKeys',
  'kmsKeyVersions',
  'kmsGrants',
  'recoveries',
  'recoveryCustodians',
  'recoveryGrants',
  'recoveryRequests',
  'recoveryContributions',
  'agents',
  'agentPolicies',
  'leaseTargets',
  'rotationPolicies',
  'syncConnections',
  'syncBindings',
  'logSinks',
  'accessRequests',
  'accessRequestEnvironments',
  'deletedSecrets',
  'deletedSecretVersions',
  'secretDetails',
  'offboardings',
  'offboardingRows',
  'overrides',
  'teams',
  'teamMembers',
  'teamEnvironments',
  'keyExclusions',
  'plannedGrants',
  'invitationTeams',
  'invitationEnvironments',
  'proposedRekeys',
  'directoryRoots',
  'directoryHeads',
  'directoryEntries',
  'directoryReaders',
] as const

type SectionName = (typeof sectionOrder)[number]

/** Tables or columns that no archive holds, each with the reason. */
type Withheld = Readonly<Record<string, string>>

/** Rows of one kind. They all come from one table. */
export interface Section {
  /** The key in `data`. */
  name: SectionName
  table: string
  /** All columns, without `org_id` and without those that are withheld. */
  columns: string
  order: string
  /** A condition on `t`, if the archive does not hold all rows of the organization. */
  where?: string
  /** Columns that no archive holds. */
  withheld?: Withheld
  /** Columns that no archive holds and that must not be empty, with the SQL that fills them. */
  filled?: { columns: string; sql: string }
  /** Rows that are of no use on another server. A restore prints the advice and the label of each row. */
  notRestored?: { label: string; advice: string }
}

/** The tables of a feature that have an `org_id`, or the reason why it has none. Every table is in exactly one feature. */
export type ArchivePart = { sections: readonly Section[]; withheld: Withheld } | { nothing: string }

/** The sections of all features, in the order of the format. */
export function orderSections(features: readonly { archive: ArchivePart }[]): readonly Section[] {
  const sections = features.flatMap(({ archive }) => ('sections' in archive ? archive.sections : []))
  return sectionOrder.map((name) => {
    const [section, another] = sections.filter((one) => one.name === name)
    if (!section || another) throw new Error(`the archive needs one section ${name}`)
    return section
  })
}
