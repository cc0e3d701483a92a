import { CryptoError } from '@skerry/crypto/errors'
import { expandReferences } from '@skerry/crypto/references'
import { openSecret, sealSecret } from '@skerry/crypto/secret'
import { sealingDekOf } from './committed.ts'
import { dekOf } from './deks.ts'

/** Secrets of one environment, and this person's wrapped copy of its key. */
export interface SealedLayer {
  wrappedDek: string
  environmentId: string
  secrets: { name: string; ciphertext: string }[]
}

/** A secret's value, or why it cannot be decrypted. */
export type Opened = { value: string } | { problem: string }

/**
 * Numbers the values that were decrypted, so that equal values of one name have equal numbers. The values stay in this
 * worker and end with it.
 */
const seen = new Map<string, number>()

function numberOf(name: string, value: string): number {
  const key = `${name}=${value}`
  const known = seen.get(key)
  if (known !== undefined) return known
  seen.set(key, seen.size)
  return seen.size - 1
}

/**
 * The number of a secret that cannot be decrypted: it was altered, moved from elsewhere, or sealed under another key.
 */
const unopened = -1

async function openLayer(layer: SealedLayer): Promise<Opened[]> {
  const dek = await dekOf(layer.wrappedDek)
  return Promise.all(
    layer.secrets.map(async ({ name, ciphertext }) => {
      try {
        return { value: await openSecret(ciphertext, dek, layer.environmentId, name) }
      } catch (error) {
        return { problem: error instanceof CryptoError ? error.code : 'internal' }
      }
    }),
  )
}

/**
 * Matches `${NAME}` as in the references of @skerry/crypto. It also matches an escaped one, which does no harm here.
 */
const reference = /\$\{([A-Za-z_][A-Za-z0-9_]*)\}/g

export const layerOperations = {
  /** Decrypts each secret separately, so that a damaged one does not affect the others. */
  openEach: openLayer,

  /**
   * Returns a number for each secret. Equal values of a name have equal numbers. -1 means that a secret cannot be
   * decrypted.
   */
  identifyValues: async (layer: SealedLayer): Promise<number[]> => {
    const opened = await openLayer(layer)
    return opened.map((one, i) => ('value' in one ? numberOf(layer.secrets[i]!.name, one.value) : unopened))
  },

  /** Returns the names of the secrets whose value contains the text, in either case of letters. */
  findInValues: async ({ text, ...layer }: SealedLayer & { text: string }): Promise<string[]> => {
    const wanted = text.toLowerCase()
    const opened = await openLayer(layer)
    return layer.secrets.flatMap(({ name }, i) => {
      const one = opened[i]!
      return 'value' in one && one.value.toLowerCase().includes(wanted) ? [name] : []
    })
  },

  /** Seals values for an environment. */
  sealSecrets: async (input: {
    wrappedDek: string
    environmentId: string
    secrets: Record<'name' | 'value', string>[]
  }) => {
    const dek = await sealingDekOf(input)
    return Promise.all(input.secrets.map(({ name, value }) => sealSecret(value, dek, input.environmentId, name)))
  },

  /** Seals the same values for another environment, all or none. The values do not leave this worker. */
  resealSecrets: async ({ from, to }: { from: SealedLayer[]; to: { wrappedDek: string; environmentId: string } }) => {
    const target = await sealingDekOf(to)
    const layers = from.map(async ({ wrappedDek, environmentId, secrets }) => {
      const dek = await dekOf(wrappedDek)
      return Promise.all(
        secrets.map(async ({ name, ciphertext }) => {
          const value = await openSecret(ciphertext, dek, environmentId, name)
          return { name, ciphertext: await sealSecret(value, target, to.environmentId, name) }
        }),
      )
    })
    return (await Promise.all(layers)).flat()
  },

  /**
   * Returns one value with its references expanded. Of the other secrets, it decrypts only those that are referenced.
   */
  expandSecret: async ({ name, layers }: { name: string; layers: SealedLayer[] }) => {
    const place = new Map(
      layers.flatMap(({ secrets, ...key }) => secrets.map((secret) => [secret.name, { ...key, ...secret }] as const)),
    )
    const values: Record<string, string> = Object.create(null)
    const pending = [name]
    for (let next = pending.pop(); next !== undefined; next = pending.pop()) {
      const secret = place.get(next)
      if (!secret || next in values) continue
      const value = await openSecret(secret.ciphertext, await dekOf(secret.wrappedDek), secret.environmentId, next)
      values[next] = value
      for (const match of value.matchAll(reference)) pending.push(match[1]!)
    }
    const { values: expanded, unresolved } = expandReferences(values)
    return { value: expanded[name] ?? '', unresolved }
  },
}
