/**
 * Stores texts. Each text has a name (`key`), which the SDK chooses: 64 lowercase hexadecimal characters.
 *
 * The SDK uses a `Cache` for copies of responses and for the known state. The SDK encrypts the copies with an
 * encryption key that it derives from the token, so the cache need not protect them. The SDK does not encrypt the known
 * state.
 */
export interface Cache {
  read(key: string): Promise<string | undefined>
  write(key: string, text: string): Promise<void>
  delete(key: string): Promise<void>
}

/**
 * Makes a cache that stores copies of responses in the memory of this process, for a short time. Use it for the setting
 * `reuse` of `createSkerry`. While `resolve` uses a copy, it does not ask the server. Your program therefore notices a
 * change of a secret, or the revocation of its token, up to `ttlSeconds` later. The cache does not store errors.
 *
 * @param options.ttlSeconds the number of seconds for which `resolve` uses a copy. Default: 60. With 0, the cache
 *   stores nothing.
 * @param options.now a function that returns the present time, in milliseconds since 1970.
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
