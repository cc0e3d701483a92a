import { usage } from '../failure.ts'
import type { ExportFormat } from '../formats/names.ts'

export interface MountOptions {
  /** The path of a named pipe. */
  mount?: string
  /** How often the pipe can be read; 0: any number of times. */
  mountMaxReads?: string
  /** The path of a regular file, for programs that open it several times, or ask for its size. */
  mountFile?: string
  format?: ExportFormat
}

/** Refuses options that do not fit together, before anything is fetched. */
export function checkMount({ mount, mountMaxReads, mountFile, format }: MountOptions): void {
  if (mount !== undefined && mountFile !== undefined) throw usage('--mount and --mount-file cannot be used together')
  if (mount === undefined && mountMaxReads !== undefined) throw usage('--mount-max-reads goes with --mount')
  if (mount === undefined && mountFile === undefined && format !== undefined)
    throw usage('--format goes with --mount or --mount-file')
  if (mount === '' || mountFile === '') throw usage(`${mount === '' ? '--mount' : '--mount-file'} takes a path`)
  parseReads(mountMaxReads)
}

export const isMounting = ({ mount, mountFile }: MountOptions) => mount !== undefined || mountFile !== undefined

export function parseReads(text = '1'): number {
  if (/^\d{1,9}$/.test(text)) return Number(text) || Number.POSITIVE_INFINITY
  throw usage(`--mount-max-reads ${text} is not a whole number`, 'write 1 or more, or 0 for any number of reads')
}
