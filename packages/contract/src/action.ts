/** The groups in which a timeline counts audit entries, in the order in which they are shown. */
export const auditGroups = [
  'secrets',
  'environments',
  'access',
  'people',
  'automation',
  'vault',
  'organization',
] as const

export type AuditGroup = (typeof auditGroups)[number]

/** One audit action. Names are `noun.verb_past`. */
export interface ActionRow {
  /** The type of the resource that its entries are about. All actions about one type have one group. */
  about: string
  /**
   * The cached answers of resolve that become wrong. The server that made the change drops them as soon as it is committed:
   * those of the environment that the entry's metadata name as `environmentId`, all of the organization, or none. `none` also
   * stands where no cached answer can be wrong yet, as when an application is created. On the embedded database nothing else
   * evicts. On PostgreSQL triggers are coarser: a change in any table that resolve reads evicts on every server, this one
   * too, with its next poll (server/src/db/invalidations.ts).
   */
  evicts: 'none' | 'environment' | 'organization'
  group: AuditGroup
  /** The action in a list that people read. */
  label: string
}
