/**
 * Stores copies of resolve bodies. Each copy is encrypted under a key derived from the token, so a cache need not
 * protect its content. Keys are 64 lowercase hexadecimal characters.
 */
export interface Cache {
  read(key: string): Promise<string | undefined>
  write(key: string, text: string): Promise<void>
  delete(key: string): Promise<void>
}

/**
 * Keeps copies in this process for a short time. If it is the setting `reuse` of `createSkerry`, it answers without
 * asking the server. A change or a revocation then takes effect up to `ttlSeconds` late. Failures are never cached.
 *
 * @param options.ttlSeconds default: 60. 0 caches nothing.
 * @param options.now the clock, milliseconds since 1970.
 * @example const skerry = createSkerry({ baseUrl, token, reuse: memoryCache({ ttlSeconds: 10 }) })
 */
export function memoryCache(options: { ttlSeconds?: number; now?: () => number } = {}): Cache {
  const { ttlSeconds = 60, now = Date.now } = options
  const kept = new Map<string, { text: string; writtenAtMs: number }>()
  const isAlive = (writtenAtMs: number) => writtenAtMs <= now() && now() - writtenAtMs < ttlSeconds * 1000
  return {
    async read(key) {
      const entry = kept.get(key)
      if (entry && isAlive(entry.writtenAtMs)) return entry.text
      kept.delete(key)
    },
    async write(key, text) {
      for (const [other, entry] of kept) if (!isAlive(entry.writtenAtMs)) kept.delete(other)
      if (ttlSeconds > 0) kept.set(key, { text, writtenAtMs: now() })
    },
    async delete(key) {
      kept.delete(key)
    },
  }
}
