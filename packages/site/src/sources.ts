import { existsSync, globSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { pagePathOf } from '@skerry/contract/docs/page-path'
import { type ChapterRows, navigation } from './navigation.ts'
import type { Chapter, Source } from './page.ts'

/**
 * Reads every document, in the chapters of the navigation.
 *
 * @param generated pages without a file: path -> Markdown
 */
export function readChapters(root: string, generated: Readonly<Record<string, string>>): Chapter[] {
  const documents = globSync('docs/**/*.md', { cwd: root }).map((path) => path.replaceAll('\\', '/'))
  const all = [...documents, ...Object.keys(generated)].sort()
  const named = new Set(navigation.flatMap(({ rows }) => rows.map(([path]) => path)))
  const read = (path: string) => generated[path] ?? readFileSync(join(root, path), 'utf8')
  const chapters = navigation.map(({ title, rows, others }: ChapterRows) => {
    const rest = all.filter((path) => others !== undefined && path.startsWith(`${others}/`) && !named.has(path))
    for (const path of rest) named.add(path)
    const pages = [...rows, ...rest.map((path) => [path] as const)].map(([path, label]) => sourceOf(path, read, label))
    return { title, pages }
  })
  return chapters.filter(({ pages }) => pages.length > 0)
}

function sourceOf(path: string, read: (path: string) => string, label?: string): Source {
  const markdown = read(path)
  const title = /^# (.+)$/m.exec(markdown)?.[1]?.replaceAll('`', '') ?? path
  return { path, url: pagePathOf(path), label: label ?? title, markdown }
}

export const isThere = (root: string) => (path: string) => existsSync(join(root, path))
