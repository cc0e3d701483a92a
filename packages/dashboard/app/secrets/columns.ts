import type { Secret } from './queries.ts'

/** An environment's own secrets, as a layer of a column. */
export interface Layer {
  environmentId: string
  /** The name for people: the slug of the environment, or of its group. */
  label: string
  wrappedDek: string
  secrets: ReadonlyMap<string, Secret>
}

/** A cell: the secret that applies, and its layer. */
export interface Entry {
  layer: Layer
  secret: Secret
  own: boolean
  /** False if a layer that this person cannot read might override it. */
  isCertain: boolean
}

/** An environment or branch, with the secrets that its programs get, by name. */
export interface Column {
  environmentId: string
  name: string
  slug: string
  isBranch: boolean
  /** Null if this person does not hold the environment's key. */
  own: Layer | null
  /** The readable layers, lowest precedence first. */
  layers: Layer[]
  entries: ReadonlyMap<string, Entry>
  /** The lower layers whose key this person does not hold. */
  unreadable: string[]
  loading: boolean
  error: unknown
  isProtected: boolean
  queued: ReadonlySet<string>
  /** The names that the environment does not need. Only the matrix fills this. */
  notNeeded: ReadonlySet<string>
}

/** Merges layers. Later layers override earlier ones. A null layer is one that this person cannot read. */
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

/** Whether programs may get a value that this person cannot see, because an unreadable layer may set or override it. */
export function isUnreadable({ entries, own, unreadable, loading }: Column, name: string): boolean {
  const entry = entries.get(name)
  if (entry) return !entry.isCertain
  return !loading && (own === null || unreadable.length > 0)
}

/** Whether the environment needs a secret that it does not have. */
export const isMissing = (column: Column, name: string): boolean =>
  !column.loading && !column.entries.has(name) && !column.notNeeded.has(name) && !isUnreadable(column, name)

/** Returns all names, including proposed secrets that do not exist yet. */
export function namesOf(columns: Column[]): string[] {
  const names = new Set<string>()
  for (const { entries, own, queued } of columns) {
    for (const name of entries.keys()) names.add(name)
    if (own) for (const name of queued) names.add(name)
  }
  return [...names].sort()
}

/** Returns some of a layer's secrets in the form that the keyring's worker needs. */
export const sealedPart = ({ wrappedDek, environmentId }: Layer, secrets: Secret[]) => ({
  wrappedDek,
  environmentId,
  secrets: secrets.map(({ name, ciphertext }) => ({ name, ciphertext })),
})

/** Groups a column's entries by layer, for the keyring's worker. */
export function sealedParts(entries: Iterable<Entry>) {
  const byLayer = new Map<Layer, Secret[]>()
  for (const { layer, secret } of entries) {
    const secrets = byLayer.get(layer)
    if (secrets) secrets.push(secret)
    else byLayer.set(layer, [secret])
  }
  return [...byLayer].map(([layer, secrets]) => sealedPart(layer, secrets))
}

/** The names that can be copied from a column. Only secrets of its own environment can be moved away from it. */
export const namesIn = ({ own, entries }: Column, names: readonly string[], kind: 'copy' | 'move'): string[] =>
  names.filter((name) => (kind === 'copy' ? entries.has(name) : own !== null && entries.get(name)?.own))
