import type { Cache } from './cache.ts'
import { hexSha256 } from './sealed-copy.ts'

/** Settings of the store for a client's known state. */
export interface MemorySettings {
  /** The store, for example `diskMemory()`. What it loses counts as never seen. */
  store: Cache
  baseUrl: string
  /** The principal that reads. All principals of an organization share what its names stand for, and nothing else. */
  principalId: string
  /** Called when the store fails. A failure stops nothing. */
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
