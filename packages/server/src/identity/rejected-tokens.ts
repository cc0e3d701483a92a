interface From {
  ipAddress: string | null
  userAgent: string | null
  requestId: string | null
}

/**
 * The facts about a service token that was refused, or that was sent where none is needed. The token itself is never
 * kept.
 */
export interface Presented {
  bearerHash: string
  /** The public part of the presented token, whether the id exists or not. */
  tokenId: string
  /**
   * The hash of the bearer that is derived from it if it is a whole token; null if it does not have the format of one.
   */
  derivedHash: string | null
  /** The organization that tried to register its id; null if the token was presented as a credential. */
  byOrgId: string | null
}

/** A rejected token with the address, the user agent and a count. */
export interface RejectedToken extends Presented, From {
  times: number
  /** The time of the last attempt. */
  at: string
}

export interface RejectedTokens {
  /** Records a rejected token in memory. For every kind of token, this is the only work before the answer. */
  note(presented: Presented, from: From, at: string): void
  /** Passes the records to `record`. If it fails, they are kept for the next flush. Only one flush runs at a time. */
  flush(record: (rejectedTokens: RejectedToken[]) => Promise<void>): Promise<void>
}

const userAgentCharacters = 500
/** More than a server can refuse between two flushes. If flushes fail, further tokens are not recorded. */
const keptMax = 50_000

export function openRejectedTokens(): RejectedTokens {
  let seen = new Map<string, RejectedToken>()
  let flushing: Promise<void> = Promise.resolve()

  const add = (rejected: RejectedToken) => {
    const key = JSON.stringify([rejected.bearerHash, rejected.byOrgId, rejected.ipAddress, rejected.userAgent])
    const known = seen.get(key)
    if (!known && seen.size >= keptMax) return
    const last = known && known.at > rejected.at ? known : rejected
    seen.set(key, { ...last, times: rejected.times + (known?.times ?? 0) })
  }
  const flushOnce = async (record: (rejectedTokens: RejectedToken[]) => Promise<void>) => {
    if (seen.size === 0) return
    const taken = [...seen.values()]
    seen = new Map()
    try {
      await record(taken)
    } catch (error) {
      for (const rejected of taken) add(rejected)
      throw error
    }
  }
  return {
    note(presented, { ipAddress, userAgent, requestId }, at) {
      const from = { ipAddress, userAgent: userAgent?.slice(0, userAgentCharacters) ?? null, requestId }
      add({ ...presented, ...from, times: 1, at })
    },
    flush(record) {
      flushing = flushing.catch(() => {}).then(() => flushOnce(record))
      return flushing
    },
  }
}
