import { expandReferences } from '@skerry/crypto/references'
import { formatDotenv } from '@skerry/sdk/internal/dotenv-format'
import { dekOf } from './deks.ts'
import type { SealedLayer } from './layers.ts'
import { openNamed } from './open-named.ts'

export const dotenvOperations = {
  /**
   * Writes the values that programs get as a `.env` file, as `skerry secrets export` does. References are expanded. All
   * secrets must open: a file without some of them would look complete.
   */
  writeDotenv: async ({ layers }: { layers: SealedLayer[] }) => {
    const values: Record<string, string> = Object.create(null)
    for (const { wrappedDek, environmentId, secrets } of layers) {
      const dek = await dekOf(wrappedDek)
      for (const { name, ciphertext } of secrets) values[name] = await openNamed(ciphertext, dek, environmentId, name)
    }
    const { values: expanded, unresolved } = expandReferences(values)
    const sorted = Object.entries(expanded).sort(([a], [b]) => (a < b ? -1 : 1))
    return { ...formatDotenv(new Map(sorted), false), unresolved }
  },
}
