/**
 * Reads all pages of a list. Use it only for lists that are short enough to read completely.
 *
 * @example const pages = await allPages((query) => api.leases.targets({ params, query }, { signal }))
 */
export async function allPages<P extends { nextCursor: string | null }>(
  read: (query: { limit: number; cursor?: string }) => Promise<P>,
): Promise<P[]> {
  const pages: P[] = []
  let cursor: string | null = null
  do {
    const page: P = await read({ limit: 100, ...(cursor === null ? {} : { cursor }) })
    pages.push(page)
    cursor = page.nextCursor
  } while (cursor !== null)
  return pages
}
