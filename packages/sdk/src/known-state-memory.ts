import type { Cache } from './cache.ts'
import { hexSha256 } from './sealed-copy.ts'

/** Where a client's memory is kept. */
export interface MemorySettings {
  /** Where it is kept, for example `diskMemory()`. What is lost there is seen for the first time again. */
  store: Cache
  baseUrl: string
  /** Who is reading. What names mean is shared by all who read in an organization; two principals share nothing else. */
  principalId: string
  /** Told when the store fails, which stops nothing. */
  warn?: (message: string) => void
}

/** A store of JSON, by server and by whom or what it is about. */
export interface Memory {
  place(about: string, kind: string, id: string): Promise<string>
  /** Of this principal alone. */
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
        warn('what was seen before cannot be read')
        return undefined
      }
    },
    async write(at, value) {
      await store.write(at, JSON.stringify(value)).catch(() => warn('what was seen cannot be kept'))
    },
  }
}
