import type { KnownDirectory } from '@skerry/crypto/directory/verify'

/** Stores the newest directory that a client has verified, for each organization. */
export interface DirectoryMemory {
  read(orgId: string): Promise<KnownDirectory | null>
  /** Keeps the newer one if another process has stored a later head meanwhile: `newerDirectory`. */
  write(orgId: string, known: KnownDirectory): Promise<void>
}

/** The pins and the memory of a reader, and the name that it expects an answer to be about. */
export interface DirectorySettings {
  /** Hashes of roots that the reader got from a person, as `formatPin` writes them. */
  pins?: readonly string[] | undefined
  memory?: DirectoryMemory | undefined
  /**
   * The id of the organization. Give it where there is a memory and no pin. Without it, the first answer says which
   * organization this is, so that a server can name one that the memory does not know.
   */
  org?: string | undefined
  /**
   * The environment that the caller asked for: `app/env`, or `app/env@branch`. A token may carry this name. Without it, the
   * signed entry of the token says which environment the token is bound to.
   */
  name?: string | undefined
  /** Refuses a layer that is not listed. Unless this is true, such a layer is left out with a warning. */
  strict?: boolean | undefined
  /** Called with the name of each layer that is left out. */
  warn?: ((message: string) => void) | undefined
}

/** The proof of a stored copy: the trust before and after it was verified, and the name that it is about. */
export interface CopyProof {
  before: KnownDirectory | null
  after: KnownDirectory
  name: string
}

/**
 * Returns the newer of two verified directories of one organization. A memory stores it, because two processes may verify
 * answers at the same time.
 *
 * @example newerDirectory(verified.known, null)
 */
export function newerDirectory(one: KnownDirectory, other: KnownDirectory | null): KnownDirectory {
  if (other === null || other.org !== one.org) return one
  const newer = other.head.version > one.head.version ? other : one
  return { ...newer, time: Math.max(one.time, other.time), pins: [...new Set([...one.pins, ...other.pins])] }
}

/**
 * Keeps what this process has verified, and nothing longer.
 *
 * @example const memory = processMemory()
 */
export function processMemory(): DirectoryMemory {
  const directories = new Map<string, KnownDirectory>()
  return {
    read: async (orgId) => directories.get(orgId) ?? null,
    write: async (orgId, known) => void directories.set(orgId, newerDirectory(known, directories.get(orgId) ?? null)),
  }
}
