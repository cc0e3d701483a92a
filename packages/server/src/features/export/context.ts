import type { Context } from '../../http/context.ts'
import type { Section } from '../archive.ts'

export interface ExportContext extends Context {
  /** The sections of all features, from their descriptors, in the order of the format. */
  archiveSections: readonly Section[]
}
