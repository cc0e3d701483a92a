import type { Cache } from './cache.ts'
import { hexSha256 } from './sealed-copy.ts'

/** Settings of the store for a client's known state. */
export interface MemorySettings {
  /**
   * The store for the known state, for example `diskMemory()`. If the store no longer has a fact, the client cannot
   * notice that the server contradicts this fact.
   */
  store: Cache
  /** The base URL of the server. Each server has its own known state. */
  baseUrl: string
  /**
   * The id of the person or token that uses the client. All principals of an organization that use the same store share
   * what it remembers about names of environments and settings of lease targets. Everything else is remembered for each
   * principal separately.
   */
  principalId: string
  /**
   * Called with a message if the client cannot read or write the store. The client then continues without the
   * remembered facts.
   */
  warn?: (message: string) => void
}

/** A store of JSON values. Each key contains the server, and the organization or principal that the value is about. */
export interface Memory {
  place(about: string, kind: string, id: string): Promise<string>
  /** Builds a key for this principal alone. */
  ownPlace(kind: string, id: string): Promise<string>
  read<T>(place: string): Promise<T | undefined>
  write(place: string, value: unknown): Promise<void>
}

export function openMemory({ store, baseUrl, principalId, warn = () => {} }: MemorySettings): Memory {
  const place: Memory['place'] = (about, kind, id) => hexSha256(['skerry-seen-v1', baseUrl, about, kind, id].join('\n'))
  return {
    place,
    ownPlace: (kind, id) => place(principalId, kind, id),
    async read<T>(at: string) {
      try {
        const text = await store.read(at)
        return text === undefined ? undefined : (JSON.parse(text) as T)
      } catch {
        warn('the known state from earlier runs cannot be read')
        return undefined
      }
    },
    async write(at, value) {
      await store.write(at, JSON.stringify(value)).catch(() => warn('the known state cannot be stored'))
    },
  }
}
