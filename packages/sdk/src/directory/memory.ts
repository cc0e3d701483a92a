import type { KnownDirectory } from '@skerry/crypto/directory/verify'

/** Stores the newest directory that a client has verified, for each organization. */
export interface DirectoryMemory {
  read(orgId: string): Promise<KnownDirectory | null>
  /**
   * Stores `known`. If another process has already stored a directory with a later head, this function must not replace
   * that directory.
   */
  write(orgId: string, known: KnownDirectory): Promise<void>
}

/** Settings with which a client checks responses against the signed directory. */
export interface DirectorySettings {
  /** Hashes of roots that you trust, as `skerry trust pin` prints them. */
  pins?: readonly string[] | undefined
  /** Remembers the newest verified directory, so that the client refuses an older one. */
  memory?: DirectoryMemory | undefined
  /**
   * The id of the organization. Set this id if you give a memory and no pin. Without the id, the server names the
   * organization. A hostile server could then name an organization that the memory does not know, and the client would
   * not check the response.
   */
  org?: string | undefined
  /**
   * The name of the environment that you want to read: `app/env`, or `app/env@branch`. A token can contain this name.
   * If neither this setting nor the token has a name, the client uses the name that the signed directory has for the
   * environment of the token.
   */
  name?: string | undefined
  /**
   * If true, the client throws an error for a layer that the signed directory does not list. If false, the client
   * leaves out such a layer and calls `warn`. Default: false.
   */
  strict?: boolean | undefined
  /** Called with a message that names a layer, for each layer that the client leaves out. */
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
