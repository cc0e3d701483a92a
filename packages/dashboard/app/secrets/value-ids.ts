import { useEffect, useRef, useState, useSyncExternalStore } from 'react'
import { KeyringError, keyring, useUnlocked } from '../keyring.ts'
import { isProduction } from '../look/environments.ts'
import { type Column, isMissing, isUnreadable, type Layer, sealedPart } from './columns.ts'
import type { Secret } from './queries.ts'

// Finds equal values without showing them. The keyring's worker decrypts the values and numbers them: equal values of
// one name get the same number. Visible rows are numbered first, the rest in batches.

const pieceSize = 200
const tellEveryMs = 120

export interface ValueIds {
  /**
   * Equal values of a name have equal numbers. -1 means that a value cannot be decrypted. Undefined until it is known.
   */
  of: (layer: Layer, secret: Secret) => number | undefined
}

function createValueIds() {
  const known = new Map<string, Map<string, { ciphertext: string; wrappedDek: string; id: number }>>()
  const listeners = new Set<() => void>()
  let version = 0
  const of: ValueIds['of'] = ({ environmentId, wrappedDek }, { name, ciphertext }) => {
    const found = known.get(environmentId)?.get(name)
    return found?.ciphertext === ciphertext && found.wrappedDek === wrappedDek ? found.id : undefined
  }
  const tell = () => {
    version++
    for (const listener of listeners) listener()
  }
  let telling = false
  /** Notifies listeners at most every 120 ms, even if many batches arrive. */
  const tellSoon = () => {
    if (telling) return
    telling = true
    setTimeout(() => {
      telling = false
      tell()
    }, tellEveryMs)
  }
  return {
    of,
    missing: ({ layer, names }: { layer: Layer; names: Iterable<string> }): Secret[] => {
      const secrets = [...names].flatMap((name) => layer.secrets.get(name) ?? [])
      return secrets.filter((secret) => of(layer, secret) === undefined)
    },
    put(layer: Layer, secrets: Secret[], valueIds: number[]) {
      const { environmentId, wrappedDek } = layer
      const ofLayer = known.get(environmentId) ?? new Map()
      for (const [i, { name, ciphertext }] of secrets.entries())
        ofLayer.set(name, { ciphertext, wrappedDek, id: valueIds[i] })
      known.set(environmentId, ofLayer)
      tellSoon()
    },
    /** The numbers are valid for one worker only. */
    clear() {
      if (known.size === 0) return
      known.clear()
      tell()
    },
    version: () => version,
    subscribe: (listener: () => void) => {
      listeners.add(listener)
      return () => void listeners.delete(listener)
    },
  }
}

/**
 * Returns the numbers of all values in the columns, starting with the names of `visible`. `version` rises as batches
 * arrive. `isComplete` says whether all have arrived.
 */
export function useValueIds(
  columns: Column[],
  visible: () => string[],
): { valueIds: ValueIds; version: number; isComplete: boolean } {
  const [store] = useState(createValueIds)
  const unlocked = useUnlocked()
  const version = useSyncExternalStore(store.subscribe, store.version)
  const latestVisible = useRef(visible)
  latestVisible.current = visible
  const [numbered, setNumbered] = useState<Column[] | null>(null)
  useEffect(() => {
    if (!unlocked) return store.clear()
    let ended = false
    void fill(
      store,
      columns,
      () => latestVisible.current(),
      () => ended,
    ).then((isWhole) => !ended && isWhole && setNumbered(columns))
    return () => {
      ended = true
    }
  }, [store, columns, unlocked])
  return { valueIds: store, version, isComplete: unlocked && numbered === columns }
}

/** Returns false if the keyring was locked before all values were numbered. */
async function fill(
  store: ReturnType<typeof createValueIds>,
  columns: Column[],
  visible: () => string[],
  ended: () => boolean,
): Promise<boolean> {
  const layers = [
    ...new Map(columns.flatMap((one) => one.layers).map((layer) => [layer.environmentId, layer])).values(),
  ]
  const identify = async (layer: Layer, secrets: Secret[]) => {
    if (secrets.length === 0 || ended()) return
    store.put(layer, secrets, await markLayer(layer, secrets))
  }
  const first = () => Promise.all(layers.map((layer) => identify(layer, store.missing({ layer, names: visible() }))))
  try {
    await first()
    for (const layer of layers) {
      const missing = store.missing({ layer, names: layer.secrets.keys() })
      for (let from = 0; from < missing.length && !ended(); from += pieceSize) {
        await identify(layer, missing.slice(from, from + pieceSize))
        await first()
      }
    }
    return true
  } catch (error) {
    // Locking the keyring also clears the numbers.
    if (!(error instanceof KeyringError)) throw error
    return false
  }
}

/** Numbers a layer's values. If its key cannot be unwrapped, all are -1 and the other layers stay usable. */
async function markLayer(layer: Layer, secrets: Secret[]): Promise<number[]> {
  try {
    return await keyring.call('identifyValues', sealedPart(layer, secrets))
  } catch (error) {
    if (!(error instanceof KeyringError) || error.code === 'locked') throw error
    return secrets.map(() => -1)
  }
}

/** The comparison of a row's cells, and counts of missing, unreadable and damaged cells. */
export interface RowState {
  /**
   * The mark of each cell: `=` if all environments have the same value, a letter for a value that several have, and null
   * for a value of its own.
   */
  letters: (string | null)[]
  /** The mark of production’s value, if another environment has that value and not all have it. */
  productionLetter: string | null
  /** How the readable cells compare. It is `same` only if all cells can be read. */
  kind: 'same' | 'different' | 'unknown'
  missing: number
  /** The number of cells whose value this person cannot know. */
  unreadable: number
  tampered: boolean
}

export function rowState(name: string, columns: Column[], valueIds: ValueIds): RowState {
  const order: number[] = []
  let known = true
  let missing = 0
  let unreadable = 0
  let tampered = false
  let isWhole = true
  const ids = columns.map((column) => {
    const entry = column.entries.get(name)
    const isHidden = isUnreadable(column, name)
    if (isHidden) unreadable++
    if (!entry) {
      isWhole = false
      if (isMissing(column, name)) missing++
      return null
    }
    const id = valueIds.of(entry.layer, entry.secret)
    if (id === -1) tampered = true
    if (isHidden) return null
    if (id === undefined) known = false
    if (id === undefined || id === -1) return null
    if (!order.includes(id)) order.push(id)
    return id
  })
  const kind = !known ? 'unknown' : order.length > 1 ? 'different' : unreadable > 0 ? 'unknown' : 'same'
  return { ...marksOf(ids, columns, kind === 'same' && isWhole), kind, missing, unreadable, tampered }
}

/** Marks the values that several environments have. A value that one environment has alone is normal and gets no mark. */
function marksOf(
  ids: readonly (number | null)[],
  columns: Column[],
  areAllSame: boolean,
): Pick<RowState, 'letters' | 'productionLetter'> {
  const counts = new Map<number, number>()
  for (const id of ids) if (id !== null) counts.set(id, (counts.get(id) ?? 0) + 1)
  const shared = [...counts].filter(([, count]) => count > 1).map(([id]) => id)
  const letters = ids.map((id) => {
    if (id === null || !shared.includes(id)) return null
    return areAllSame ? '=' : String.fromCharCode(65 + (shared.indexOf(id) % 26))
  })
  const production = areAllSame ? -1 : columns.findIndex(({ slug, isBranch }) => !isBranch && isProduction(slug))
  return { letters, productionLetter: letters[production] ?? null }
}

/** Returns a text that stays the same as long as the row looks the same. */
export function stateKey(name: string, columns: Column[], valueIds: ValueIds): string {
  const { letters, productionLetter, kind, missing, unreadable, tampered } = rowState(name, columns, valueIds)
  const broken = columns.map(({ entries }) => {
    const entry = entries.get(name)
    return entry && valueIds.of(entry.layer, entry.secret) === -1 ? 1 : 0
  })
  return [kind, missing, unreadable, tampered, productionLetter, ...letters, ...broken].join()
}
