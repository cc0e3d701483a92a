// The versions of a secret that Skerry wrote, as a memo stores them. Version numbers start again with a secret that was
// created again, so the memo also contains its creation time.

interface VersionMemo {
  createTime: string
  versions: number[]
}

/** The most version numbers that fit into a memo. */
const versionsMax = 80

/** The versions in a memo, if the secret still has the same creation time. */
export function ownVersions(memo: string | null, createTime: string | undefined): number[] {
  const read = parsed(memo)
  return read !== null && read.createTime === createTime ? read.versions : []
}

export const numberedMemo = (createTime: string | undefined, versions: readonly number[]): string | null =>
  createTime === undefined ? null : JSON.stringify({ createTime, versions: versions.slice(-versionsMax) })

/** Merges several memos. Keeps only those about the secret that was created last. */
export function mergedMemos(memos: readonly (string | null)[]): string | null {
  const read = memos.map(parsed).filter((memo) => memo !== null)
  const createTime = read
    .map((memo) => memo.createTime)
    .sort()
    .at(-1)
  const versions = read.filter((memo) => memo.createTime === createTime).flatMap((memo) => memo.versions)
  return numberedMemo(
    createTime,
    [...new Set(versions)].sort((one, other) => one - other),
  )
}

function parsed(memo: string | null): VersionMemo | null {
  try {
    const { createTime, versions } = JSON.parse(memo ?? 'null') ?? {}
    if (typeof createTime !== 'string' || !Array.isArray(versions)) return null
    return { createTime, versions: versions.filter(Number.isSafeInteger) }
  } catch {
    return null
  }
}
