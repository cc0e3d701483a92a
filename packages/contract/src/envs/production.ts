const slugs: ReadonlySet<string> = new Set(['prod', 'production', 'live'])

/**
 * Returns true if clients treat an environment with this slug as production, for example by leaving it out of a grant of all
 * other environments. It is a convention: the server makes no difference.
 *
 * @example isProduction('production') // true
 */
export const isProduction = (slug: string): boolean => slugs.has(slug)
