import { CryptoError } from '@skerry/crypto/errors'
import { expandReferences } from '@skerry/crypto/references'
import { openSecret, sealSecret } from '@skerry/crypto/secret'
import { dekOf } from './deks.ts'

/** Secrets of one environment, and its key as it was granted to this person. */
export interface SealedLayer {
  wrappedDek: string
  environmentId: string
  secrets: { name: string; ciphertext: string }[]
}

/** A secret's value, or why it cannot be decrypted. */
export type Opened = { value: string } | { problem: string }

/**
 * Which secrets hold the same text, told without the text: equal values of one name have equal numbers. The texts stay
 * here and end with the worker.
 */
const seen = new Map<string, number>()

function numberOf(name: string, value: string): number {
  const key = `${name}=${value}`
  const known = seen.get(key)
  if (known !== undefined) return known
  seen.set(key, seen.size)
  return seen.size - 1
}

/** Replaces the value of a secret that cannot be decrypted: altered, moved from elsewhere, or under another key. */
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

/** `${NAME}` as crypto's references has it; an escaped one leads nowhere and does no harm here. */
const reference = /\$\{([A-Za-z_][A-Za-z0-9_]*)\}/g

export const layerOperations = {
  /** Each is decrypted by itself, so that one that was tampered with leaves the others usable. */
  openEach: openLayer,

  /** A number for each secret, equal for equal values of a name; -1 for a secret that cannot be decrypted. */
  identifyValues: async (layer: SealedLayer): Promise<number[]> => {
    const opened = await openLayer(layer)
    return opened.map((one, i) => ('value' in one ? numberOf(layer.secrets[i]!.name, one.value) : unopened))
  },

  /** Values for an environment. */
  sealSecrets: async (input: {
    wrappedDek: string
    environmentId: string
    secrets: Record<'name' | 'value', string>[]
  }) => {
    const dek = await dekOf(input.wrappedDek)
    return Promise.all(input.secrets.map(({ name, value }) => sealSecret(value, dek, input.environmentId, name)))
  },

  /** The same values for another environment: they do not leave this worker. All or none. */
  resealSecrets: async ({ from, to }: { from: SealedLayer[]; to: { wrappedDek: string; environmentId: string } }) => {
    const target = await dekOf(to.wrappedDek)
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

  /** One value with its references expanded. Of the rest, only what it leads to is opened. */
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
