interface Page<Row> {
  rows: Row[]
  nextCursor: string | null
}

/** Follows a list's cursors to its end. `between` runs once, after the first page. */
export async function readPages<Row>(
  read: (cursor: { cursor?: string }) => Promise<Page<Row>>,
  between: () => Promise<unknown> = async () => {},
): Promise<Row[][]> {
  const pages: Row[][] = []
  let cursor: { cursor?: string } = {}
  for (;;) {
    const page = await read(cursor)
    pages.push(page.rows)
    if (page.nextCursor === null) return pages
    if (pages.length === 1) await between()
    if (pages.length > 1000) throw new Error('a list without end')
    cursor = { cursor: page.nextCursor }
  }
}
