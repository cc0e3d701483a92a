import { CryptoError } from '@skerry/crypto/errors'
import { type DecryptedLayer, mergeLayers } from '@skerry/crypto/layers'
import { expandEach, referencesIn } from '@skerry/crypto/references'
import type { Sql } from '../db/database.ts'
import type { Keypairs } from './keypairs.ts'
import type { KeyOwner } from './keypairs-store.ts'

/** A layer of an environment as resolve returns it, lowest precedence first. */
export interface SealedLayer {
  source: 'group' | 'app' | 'branch'
  environmentId: string
  slug: string
  wrappedDek: string
  secrets: readonly { name: string; ciphertext: string }[]
}

/** The variables that `skerry run` would set, and the names that it cannot set, each with the reason as text. */
export interface Resolved {
  values: ReadonlyMap<string, string>
  failed: ReadonlyMap<string, string>
}

/** A layer whose key or secret could not be decrypted. The error names it, and none of its content. */
export class UnopenedLayer extends Error {
  constructor(slug: string, name?: string) {
    super(name === undefined ? `the key of ${slug} does not open` : `${name} of ${slug} does not open under its key`)
    this.name = 'UnopenedLayer'
  }
}

/**
 * Decrypts an environment as its reader: all layers, merged, with references expanded. It fails as a whole, like
 * clients do. Otherwise a part would be pushed as if the rest had been deleted.
 */
export async function openResolved(
  keypairs: Keypairs,
  db: Sql,
  owner: KeyOwner,
  layers: readonly SealedLayer[],
): Promise<Resolved> {
  const opened: DecryptedLayer[] = []
  for (const layer of layers) opened.push(await openLayer(keypairs, db, owner, layer))
  return expanded(mergeLayers(opened).values)
}

async function openLayer(keypairs: Keypairs, db: Sql, owner: KeyOwner, layer: SealedLayer): Promise<DecryptedLayer> {
  const { source, environmentId, slug, secrets } = layer
  const key = await keypairs.openEnvironment(db, owner, layer)
  if (!key) throw new UnopenedLayer(slug)
  const values: Record<string, string> = Object.create(null)
  await Promise.all(
    secrets.map(async ({ name, ciphertext }) => {
      values[name] = await key.open(name, ciphertext).catch((error: unknown) => {
        throw error instanceof CryptoError ? new UnopenedLayer(slug, name) : error
      })
    }),
  )
  return { source, environmentId, slug, values }
}

/**
 * Expands references. A reference to a missing name stays as text where people see it. A push would treat that text as
 * the value, so such a name fails.
 */
function expanded(stored: Record<string, string>): Resolved {
  const { values, unresolved, failed: errors } = expandEach(stored)
  const failed = new Map([...errors].map(([name, { code, subject }]) => [name, reasonOf(code, subject)]))
  for (const [name, missing] of leadingNowhere(stored, unresolved))
    if (!failed.has(name)) failed.set(name, `It refers to ${missing}, which is not there.`)
  return { values: new Map(Object.entries(values).filter(([name]) => !failed.has(name))), failed }
}

const reasonOf = (code: string, subject: string | undefined): string =>
  code === 'reference_cycle'
    ? `Its references go round in a circle: ${subject}.`
    : `With its references expanded, ${subject} is longer than a value may be.`

/** Finds each name that refers to a missing name, directly or through others, together with that missing name. */
function leadingNowhere(stored: Record<string, string>, unresolved: readonly string[]): Map<string, string> {
  const referring = new Map<string, string[]>()
  for (const [name, value] of Object.entries(stored))
    for (const to of referencesIn(value)) referring.set(to, [...(referring.get(to) ?? []), name])
  const found = new Map<string, string>()
  const left = unresolved.map((name): [string, string] => [name, name])
  for (let next = left.pop(); next !== undefined; next = left.pop()) {
    const [to, missing] = next
    for (const name of referring.get(to) ?? []) {
      if (found.has(name)) continue
      found.set(name, missing)
      left.push([name, missing])
    }
  }
  return found
}
