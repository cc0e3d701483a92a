// Which versions of a secret are ours, as a memo keeps it. Numbers begin again with a secret that was made anew, so the
// instant of its making stands beside them.

interface VersionMemo {
  createTime: string
  versions: number[]
}

/** So many numbers fit a memo. */
const versionsMax = 80

/** The versions that a memo names, of the secret that was made at this instant. */
export function ownVersions(memo: string | null, createTime: string | undefined): number[] {
  const read = parsed(memo)
  return read !== null && read.createTime === createTime ? read.versions : []
}

export const numberedMemo = (createTime: string | undefined, versions: readonly number[]): string | null =>
  createTime === undefined ? null : JSON.stringify({ createTime, versions: versions.slice(-versionsMax) })

/** One memo of several, of those about the secret that was made last. */
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
