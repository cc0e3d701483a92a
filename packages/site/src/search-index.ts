import MiniSearch from 'minisearch'
import { tasks } from '../../cli/src/help/tasks.ts'
import { type Entry, indexOptions } from './client/index-options.ts'
import type { Page } from './page.ts'

/**
 * The search index as JSON. A section of a page is one entry, so that a result leads to its heading. So is a task of
 * `skerry help`, which people find by other words than those of the page.
 */
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
  index.addAll([...entries, ...tasksOf(pages)].map((entry, id) => ({ id, ...entry })))
  return JSON.stringify(index)
}

function tasksOf(pages: readonly Page[]): Omit<Entry, 'id'>[] {
  return tasks.map(({ title, words, steps, document }) => {
    const [path = '', anchor] = document.split('#')
    const page = pages.find((one) => one.path === path)
    if (!page) throw new Error(`the task "${title}" leads to ${path}, which is no page`)
    const body = steps.flat().join(' ')
    return { title: page.title, heading: title, url: anchor ? `${page.url}#${anchor}` : page.url, words, body }
  })
}
