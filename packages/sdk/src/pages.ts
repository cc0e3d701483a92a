/** Reads the pages of a list, from the first one to the last one. */
export async function* pagesOf<P extends { nextCursor: string | null }>(
  read: (page: { cursor?: string }) => Promise<P>,
): AsyncGenerator<P> {
  let cursor: string | null = null
  do {
    const page: P = await read(cursor === null ? {} : { cursor })
    yield page
    cursor = page.nextCursor
  } while (cursor !== null)
}
