import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { bundleClient } from './bundle.ts'
import { problemsOf } from './check.ts'
import { layout } from './layout.ts'
import { linksOf, markdownFileOf } from './links.ts'
import { llmsTxt } from './llms.ts'
import { render, withoutComments } from './markdown.ts'
import { apiDocuments } from './reference/api.ts'
import { searchIndex } from './search-index.ts'
import { isThere, readChapters } from './sources.ts'

/** Makes all files of the site: path -> content. Throws if a page requests something from elsewhere or has a dead link. */
export async function siteFiles(root: string): Promise<Map<string, Uint8Array>> {
  const { assets, files } = await bundleClient()
  const chapters = readChapters(root, apiDocuments())
  const links = linksOf(
    chapters.flatMap(({ pages }) => pages),
    isThere(root),
  )
  const rendered = chapters.map(({ title, pages }) => ({ title, pages: pages.map((page) => render(page, links)) }))
  const pages = rendered.flatMap((chapter) => chapter.pages)
  const write = (path: string, text: string) => files.set(path, Buffer.from(text))
  for (const page of pages) {
    write(`${page.url}index.html`, layout(page, chapters, assets))
    const markdown = withoutComments(page.markdown).replaceAll(/\]\(([^)\s]+)\)/g, (link, href) => {
      const target = links.resolveMarkdown(page, href)
      return target === null ? link : `](${target})`
    })
    write(markdownFileOf(page), markdown)
  }
  for (const [path, name] of links.files) files.set(name, readFileSync(join(root, path)))
  files.set('skerry.svg', readFileSync(join(root, 'packages/dashboard/public/skerry.svg')))
  write('search.json', searchIndex(pages))
  write('llms.txt', llmsTxt(rendered))
  const problems = problemsOf(texts(files))
  if (problems.length > 0) throw new Error(`the site is not whole:\n${problems.join('\n')}`)
  return files
}

function texts(files: ReadonlyMap<string, Uint8Array>): Map<string, string> {
  const isText = (path: string) => /\.(?:html|css)$/.test(path)
  return new Map([...files].map(([path, bytes]) => [path, isText(path) ? Buffer.from(bytes).toString() : '']))
}
