interface From {
  ipAddress: string | null
  userAgent: string | null
  requestId: string | null
}

/** What is kept of a service token that did not work, or that nobody had asked for. Never the bearer. */
export interface Presented {
  bearerHash: string
  /** The public segment of what was presented, whatever it names. */
  tokenId: string
  /** The hash of the bearer that is derived from it if it is a whole token; null where it does not have the form of one. */
  derivedHash: string | null
  /** The organization that tried to register its id; null where it was presented. */
  byOrgId: string | null
}

/** With from where and how often. */
export interface RejectedToken extends Presented, From {
  times: number
  /** Of the last time. */
  at: string
}

export interface RejectedTokens {
  /** Notes what was presented. In memory alone: whatever it is, this is all that happens before the answer. */
  note(presented: Presented, from: From, at: string): void
  /** Hands over what was noted. What `record` could not take is kept for the next time; one at a time. */
  flush(record: (rejectedTokens: RejectedToken[]) => Promise<void>): Promise<void>
}

const userAgentCharacters = 500
/** More than a server can refuse between two flushes; what goes beyond, while no flush succeeds, is not noted. */
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
