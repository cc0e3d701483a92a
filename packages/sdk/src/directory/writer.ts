import { parsePin } from '@skerry/crypto/directory/pin'
import type { TokenFormat } from '@skerry/crypto/token'
import { invalid } from '../errors.ts'
import type { OrgTrust } from './entries.ts'
import { type DirectorySettings, processMemory } from './memory.ts'

/** Settings for checking keys against the signed directory, for a caller who uses or grants keys of environments. */
export interface WriterDirectory extends DirectorySettings {
  /** The id and the format of the caller's service token, if the caller has one. */
  token?: { id: string; format: TokenFormat } | undefined
  /**
   * Says how old the newest head of the directory may be: at most 14 days with `write`, at most 30 days with `read`.
   * Use `read` for a caller who decrypts values, but writes and grants nothing. Default: `write`.
   */
  purpose?: OrgTrust['purpose'] | undefined
  /** A function that returns the present time, in milliseconds since 1970. Default: the clock of this machine. */
  now?: (() => number) | undefined
}

/**
 * The trust with which entries are verified before a key is used or given away. Undefined if this client trusts nothing
 * about the organization.
 */
export async function writingTrust(settings: WriterDirectory, orgId: string): Promise<OrgTrust | undefined> {
  const { memory = processMemory(), token, now, org, purpose = 'write' } = settings
  if (org !== undefined && org !== orgId) throw invalid(`directory.org: must be ${orgId}, whose key is asked for`)
  const pins = (settings.pins ?? []).map(parsePin)
  if (pins.length === 0 && (await memory.read(orgId)) === null) return undefined
  return { pins, memory, token: token?.format, purpose, now }
}

/** The same holder, for the key of the environment that a branch belongs to. */
export function asParent<H extends { directory?: WriterDirectory | undefined }>(holder: H): H {
  const { directory } = holder
  if (directory?.name === undefined) return holder
  return { ...holder, directory: { ...directory, name: directory.name.split('@')[0] } }
}
