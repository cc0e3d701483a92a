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
   * The cached answers of resolve that the change makes wrong: those of the environment that the entry's metadata names
   * as `environmentId`, all of the organization, or none. `none` is also right where no cached answer can be wrong yet,
   * for example when an application is created.
   *
   * The server that made the change drops these answers as soon as the change is committed. On the embedded database
   * nothing else evicts. On PostgreSQL, triggers are coarser: a change in any table that resolve reads evicts on every
   * server at its next poll, including this one (server/src/db/invalidations.ts).
   */
  evicts: 'none' | 'environment' | 'organization'
  group: AuditGroup
  /** The name of the action in lists that people read. */
  label: string
}
