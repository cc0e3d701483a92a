// The file to which entries of the audit log are written before a server removes them. It has a header, and then one
// entry on each line, in the order of the tree and in the form of RFC 8785. With the server's public key, anyone can
// check a file offline.

export const auditArchiveFormat = 'skerry.audit-archive.v1'

/** The first line of an archive of the audit log. Hashes are base64. */
export interface AuditArchiveHeader {
  format: typeof auditArchiveFormat
  orgId: string
  /** The index of its first entry in the tree. */
  start: number
  /** The number of entries in the tree up to the last entry of the archive. */
  size: number
  /** Complete subtrees of the entries before `start`, the largest first. */
  edge: { hash: string; leaves: number }[]
  /** The note that the server had signed when the archive was made; its tree may be larger. */
  checkpoint: string
  /** Proof that the tree of `size` entries is the beginning of the checkpoint's tree. */
  consistency: string[]
}
