import MiniSearch from 'minisearch'
import { type Entry, indexOptions } from './client/index-options.ts'
import type { Page } from './page.ts'

/** The search index as JSON. A section of a page is one entry, so that a result leads to its heading. */
export function searchIndex(pages: readonly Page[]): string {
  const index = new MiniSearch<Entry>(indexOptions)
  const entries = pages.flatMap(({ url, title, sections }) =>
    sections.map(({ level, text, anchor, body }) => ({
      title: level === 1 ? '' : title,
      heading: text,
      url: level === 1 ? url : `${url}#${anchor}`,
      body,
    })),
  )
  index.addAll(entries.map((entry, id) => ({ id, ...entry })))
  return JSON.stringify(index)
}
