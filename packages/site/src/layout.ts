import { markdownFileOf, upFrom } from './links.ts'
import { escapeHtml } from './markdown.ts'
import type { Chapter, Page, Source } from './page.ts'

/** The addresses at which the pages find the script and the style of the site. */
export interface Assets {
  script: string
  style: string
}

/** A page as HTML. It loads only files of the site, and works without the script except for the search. */
export function layout(page: Page, chapters: readonly Chapter[], assets: Assets): string {
  const up = upFrom(page.url)
  const title = page.url === '' ? 'Skerry documentation' : `${page.title} · Skerry`
  return `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<meta name="description" content="${escapeHtml(page.summary)}">
<title>${escapeHtml(title)}</title>
<link rel="icon" href="${up}skerry.svg">
<link rel="alternate" type="text/markdown" href="${up}${markdownFileOf(page)}">
<link rel="stylesheet" href="${up}${assets.style}">
<script type="module" src="${up}${assets.script}"></script>
</head>
<body>
<a class="skip" href="#content">Skip to content</a>
<header class="bar">
<a class="brand" href="${up}"><img src="${up}skerry.svg" alt="" width="20" height="20">Skerry</a>
<div class="search" id="search" data-root="${up}"></div>
</header>
<div class="columns">
<nav class="chapters" aria-label="Chapters"><details class="menu" open><summary>All pages</summary>
${chapters.map((chapter) => chapterHtml(chapter, page, up)).join('\n')}
</details></nav>
<main id="content">
<article>
${page.html}</article>
${footer(page, chapters, up)}
</main>
${contents(page)}
</div>
</body>
</html>
`
}

function chapterHtml({ title, pages }: Chapter, current: Page, up: string): string {
  const isOpen = pages.some(({ url }) => url === current.url)
  const items = pages.map(({ url, label }) => {
    const mark = url === current.url ? ' aria-current="page"' : ''
    return `<li><a href="${up}${url}"${mark}>${escapeHtml(label)}</a></li>`
  })
  return `<details${isOpen ? ' open' : ''}><summary>${escapeHtml(title)}</summary><ul>${items.join('')}</ul></details>`
}

function footer(page: Page, chapters: readonly Chapter[], up: string): string {
  const all = chapters.flatMap(({ pages }) => pages)
  const index = all.findIndex(({ url }) => url === page.url)
  const link = (source: Source | undefined, words: string) =>
    source
      ? `<a class="tile" href="${up}${source.url}"><small>${words}</small>${escapeHtml(source.label)}</a>`
      : '<span></span>'
  return `<footer>
<div class="beside">${link(all[index - 1], 'Previous')}${link(all[index + 1], 'Next')}</div>
<p><a href="${up}${markdownFileOf(page)}">This page as Markdown</a></p>
</footer>`
}

function contents({ sections }: Page): string {
  const shown = sections.filter(({ level }) => level === 2 || level === 3)
  if (shown.length < 2) return '<aside class="contents"></aside>'
  const items = shown.map(
    ({ level, anchor, text }) => `<li class="level-${level}"><a href="#${anchor}">${escapeHtml(text)}</a></li>`,
  )
  return `<aside class="contents" aria-label="On this page"><p>On this page</p><ul>${items.join('')}</ul></aside>`
}
