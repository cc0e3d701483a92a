import { idLength, idPrefixes } from '@skerry/contract/prefixes'

interface From {
  ipAddress: string | null
  userAgent: string | null
  requestId: string | null
}

/** A service token that did not work, or that nobody had asked for; from where and how often. Never the bearer. */
export interface Sighting extends From {
  bearerHash: string
  /** The public segment of what was presented, whatever it names. */
  tokenId: string
  times: number
  /** Of the last time. */
  at: string
}

export interface Sightings {
  /** Notes what was presented. In memory alone: whatever it is, this is all that happens before the answer. */
  note(bearer: string, bearerHash: string, from: From, at: string): void
  /** Hands over what was noted. What `record` could not take is kept for the next time; one at a time. */
  flush(record: (sightings: Sighting[]) => Promise<void>): Promise<void>
}

const userAgentCharacters = 500
/** More than a server can refuse between two flushes; what goes beyond, while no flush succeeds, is not noted. */
const keptMax = 50_000

export function openSightings(): Sightings {
  let seen = new Map<string, Sighting>()
  let flushing: Promise<void> = Promise.resolve()

  const add = (sighting: Sighting) => {
    const key = JSON.stringify([sighting.bearerHash, sighting.ipAddress, sighting.userAgent])
    const known = seen.get(key)
    if (!known && seen.size >= keptMax) return
    const last = known && known.at > sighting.at ? known : sighting
    seen.set(key, { ...last, times: sighting.times + (known?.times ?? 0) })
  }
  const flushOnce = async (record: (sightings: Sighting[]) => Promise<void>) => {
    if (seen.size === 0) return
    const taken = [...seen.values()]
    seen = new Map()
    try {
      await record(taken)
    } catch (error) {
      for (const sighting of taken) add(sighting)
      throw error
    }
  }
  return {
    note(bearer, bearerHash, { ipAddress, userAgent, requestId }, at) {
      const tokenId = bearer.slice(0, idPrefixes.serviceToken.length + idLength)
      const from = { ipAddress, userAgent: userAgent?.slice(0, userAgentCharacters) ?? null, requestId }
      add({ bearerHash, tokenId, times: 1, at, ...from })
    },
    flush(record) {
      flushing = flushing.catch(() => {}).then(() => flushOnce(record))
      return flushing
    },
  }
}
