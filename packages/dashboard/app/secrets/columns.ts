import type { Secret } from './queries.ts'

/** An environment as far as a matrix shows it: its own secrets, or null without a key. */
export interface Layer {
  environmentId: string
  /** As people call it: the slug of the environment, or of the group that it belongs to. */
  label: string
  wrappedDek: string
  secrets: ReadonlyMap<string, Secret>
}

/** The content of a cell: the secret that applies, and the layer that it comes from. */
export interface Entry {
  layer: Layer
  secret: Secret
  own: boolean
  /** False if a layer that this person cannot read may override it. */
  isCertain: boolean
}

/** An environment or branch: what its programs get, by name. */
export interface Column {
  environmentId: string
  name: string
  slug: string
  isBranch: boolean
  /** Null without a key grant on the environment itself. */
  own: Layer | null
  /** Lowest precedence first. */
  layers: Layer[]
  entries: ReadonlyMap<string, Entry>
  /** Layers below that this person has no key to. */
  unreadable: string[]
  loading: boolean
  error: unknown
  isProtected: boolean
  queued: ReadonlySet<string>
}

/** Later layers override earlier ones. Null means a layer that this person cannot read. */
export function mergeLayers(layers: readonly (Layer | null)[], ownId: string): ReadonlyMap<string, Entry> {
  const entries = new Map<string, Entry>()
  for (const [i, layer] of layers.entries()) {
    if (!layer) continue
    const isCertain = !layers.slice(i).includes(null)
    const own = layer.environmentId === ownId
    for (const [name, secret] of layer.secrets) entries.set(name, { layer, secret, own, isCertain })
  }
  return entries
}

/** Whether the value that programs get is unknown, because this person cannot read a layer that may set or override it. */
export function isUnreadable({ entries, own, unreadable, loading }: Column, name: string): boolean {
  const entry = entries.get(name)
  if (entry) return !entry.isCertain
  return !loading && (own === null || unreadable.length > 0)
}

/** Includes secrets that are proposed and do not exist yet. */
export function namesOf(columns: Column[]): string[] {
  const names = new Set<string>()
  for (const { entries, own, queued } of columns) {
    for (const name of entries.keys()) names.add(name)
    if (own) for (const name of queued) names.add(name)
  }
  return [...names].sort()
}

/** What the keyring's worker needs of some of a layer's secrets. */
export const sealedPart = ({ wrappedDek, environmentId }: Layer, secrets: Secret[]) => ({
  wrappedDek,
  environmentId,
  secrets: secrets.map(({ name, ciphertext }) => ({ name, ciphertext })),
})

/** A column's entries by the layer that they come from, for the keyring's worker. */
export function sealedParts(entries: Iterable<Entry>) {
  const byLayer = new Map<Layer, Secret[]>()
  for (const { layer, secret } of entries) {
    const secrets = byLayer.get(layer)
    if (secrets) secrets.push(secret)
    else byLayer.set(layer, [secret])
  }
  return [...byLayer].map(([layer, secrets]) => sealedPart(layer, secrets))
}
