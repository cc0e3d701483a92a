// Lists that the server answers page by page.

interface Page {
  nextCursor?: string | null
}

/**
 * Yields the pages of a list. A caller that has enough stops the loop, and no further page is asked for.
 *
 * @param read asks for a page. Its argument is a part of the query: empty for the first page.
 */
export async function* eachPage<P extends Page>(read: (at: { cursor?: string }) => Promise<P>): AsyncGenerator<P> {
  for (let cursor: string | null | undefined; cursor !== null; ) {
    const page: P = await read(cursor === undefined ? {} : { cursor })
    yield page
    cursor = page.nextCursor ?? null
  }
}

/** Reads the rows of all pages. */
export async function everyRow<P extends Page, R>(
  read: (at: { cursor?: string }) => Promise<P>,
  rowsOf: (page: P) => readonly R[],
): Promise<R[]> {
  const rows: R[] = []
  for await (const page of eachPage(read)) rows.push(...rowsOf(page))
  return rows
}
