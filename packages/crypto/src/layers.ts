// Merges the layers of an environment into one set of values. Clients and the server's own readers use the same code.

/** The layer that a value comes from. `groupSlug` is set for `source: 'group'`. */
export interface Origin {
  source: 'group' | 'app' | 'branch'
  environmentId: string
  slug: string
  groupSlug?: string
}

/** A layer in plaintext. `values` has no prototype, so that a secret may be called `__proto__`. */
export interface DecryptedLayer extends Origin {
  values: Record<string, string>
}

/**
 * The layer that a value comes from. `overrides` lists the other layers that have a secret of the same name, whose
 * values are not used. The layer with the lowest precedence is first. The list has nothing to do with personal
 * overrides.
 */
export interface Provenance extends Origin {
  overrides: Origin[]
}

/** The values of all layers, and where each comes from. Neither record has a prototype. */
export interface Merged {
  values: Record<string, string>
  provenance: Record<string, Provenance>
}

/**
 * Merges layers into one value per name. A later layer overrides an earlier one.
 *
 * @example
 * const app = { source: 'app', environmentId: 'env_...', slug: 'production', values: { API_KEY: 'sk-live' } } as const
 * mergeLayers([app]).provenance.API_KEY // { source: 'app', ..., overrides: [] }
 */
export function mergeLayers(layers: readonly DecryptedLayer[]): Merged {
  const merged: Merged = { values: Object.create(null), provenance: Object.create(null) }
  for (const layer of layers) {
    for (const [name, value] of Object.entries(layer.values)) {
      const overridden = merged.provenance[name]
      const overrides = overridden ? [...overridden.overrides, originOf(overridden)] : []
      merged.values[name] = value
      merged.provenance[name] = { ...originOf(layer), overrides }
    }
  }
  return merged
}

/** Returns the origin alone, without the other members of a layer. */
export function originOf({ source, environmentId, slug, groupSlug }: Origin): Origin {
  return { source, environmentId, slug, ...(groupSlug === undefined ? {} : { groupSlug }) }
}
