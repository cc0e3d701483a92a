import { markdownFileOf } from './links.ts'
import type { Page } from './page.ts'

/** `llms.txt`: all pages as Markdown files, for programs that read documents (llmstxt.org). */
export function llmsTxt(chapters: readonly { title: string; pages: readonly Page[] }[]): string {
  const sections = chapters.map(({ title, pages }) => {
    const lines = pages.map((page) => `- [${page.title}](${markdownFileOf(page)}): ${page.summary}`)
    return `## ${title}\n\n${lines.join('\n')}`
  })
  return `# Skerry

> A self-hosted control plane for secrets that holds ciphertext only. Clients make and keep the keys.

${sections.join('\n\n')}
`
}
