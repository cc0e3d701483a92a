/**
 * Returns the slugs of groups, lowest precedence first, as the server orders them.
 *
 * @example slugsInOrder([{ slug: 'mail', position: 1 }, { slug: 'base', position: 0 }]) // ['base', 'mail']
 */
export const slugsInOrder = (groups: readonly { slug: string; position: number }[]): string[] =>
  groups
    .toSorted((one, other) => one.position - other.position || (one.slug < other.slug ? -1 : 1))
    .map(({ slug }) => slug)
