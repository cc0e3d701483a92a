import { existsSync, globSync, readFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { expect, test } from 'vitest'

// Documents lead to files, tests and sections. A file that is renamed, or a heading that is reworded, must not leave a dead link.

const root = join(import.meta.dirname, '..')
const exclude = (path: string) => /(^|\/)(node_modules|dist|\.cache)$/.test(path)
const documents = globSync(
  ['*.md', 'docs/**/*.md', '{packages,examples}/*/README.md', 'integrations/**/*.md', 'bench/*.md'],
  {
    cwd: root,
    exclude,
  },
)
const textOf = (document: string) => readFileSync(join(root, document), 'utf8')

/** Code blocks show the reader's own files and shell lines. */
const proseOf = (document: string) =>
  textOf(document)
    .replaceAll(/^```[\s\S]*?^```$/gm, '')
    .replaceAll(/^ {4}.*$/gm, '')

/** Headings -> the anchors that GitHub gives them. */
const anchorsOf = (document: string) =>
  [...textOf(document).matchAll(/^#+ (.+)$/gm)].map(([, heading = '']) =>
    heading
      .toLowerCase()
      .replaceAll(/[^\p{L}\p{N}\- _]/gu, '')
      .replaceAll(' ', '-'),
  )

test.each(documents)('every link of %s leads to a file, and to a heading in it', (document) => {
  const links = [...proseOf(document).matchAll(/\]\((?!\w+:)([^)#\s]*)(?:#([^)\s]*))?\)/g)]
  const dead = links.filter(([, path = '', anchor]) => {
    const target = path === '' ? document : join(dirname(document), path)
    if (!existsSync(join(root, target))) return true
    return anchor !== undefined && !anchorsOf(target).includes(anchor)
  })
  expect(dead.map(([link]) => link)).toEqual([])
})

const files = globSync(['**/*.{ts,tsx,js,mjs,sql,md,txt}', '.*.mjs'], { cwd: root, exclude })

/** Files that these documents tell the reader to make, and files of a release. */
const ofReader = new Set(['vault.config.ts', 'NNNN-words.sql', 'checksums.txt', 'THIRD-PARTY-LICENSES.txt'])

/** A document may leave out the first folders of a path. `<noun>` stands for any name. */
function isThere(name: string): boolean {
  const [start = '', ...others] = name.split(/<[\w-]+>/).map((part) => part.replaceAll('.', '\\.'))
  const path = new RegExp(`(^|/)${[start, ...others].join('[^/]+')}$`)
  return files.some((file) => path.test(file))
}

/** All documents except the changelog, which names files of earlier versions. */
const current = documents.filter((document) => document !== 'CHANGELOG.md')

test.each(current)('every file and test that %s names is there', (document) => {
  const named = [...proseOf(document).matchAll(/`([\w./<>-]+\.(?:tsx?|mjs|sql|md|txt))`/g)].map(
    ([, name]) => name as string,
  )
  expect(named.filter((name) => !ofReader.has(name) && !isThere(name))).toEqual([])
})

/** Above this number of words, a sentence is hard to understand at the first reading. */
const wordsMax = 30

/** The sentences of paragraphs and list items. A table, a heading or a code block has no sentence to count. */
function sentencesOf(document: string): string[] {
  const prose = proseOf(document)
    .replaceAll(/^\s*(\||#|<!--).*$/gm, '\n')
    .replaceAll(/!\[[^\]]*\]\([^)]*\)/g, '')
    .replaceAll(/\[([^\]]*)\]\([^)]*\)/g, '$1')
    .replaceAll(/`[^`]*`/g, 'Code')
    .replaceAll(/^\s*(?:[-*]|\d+\.) /gm, '\n\n')
  return prose.split(/\n{2,}/).flatMap((paragraph) => paragraph.split(/(?<=[.!?:]["”)*]*)\s+/))
}

test.each(current)('every sentence of %s is short', (document) => {
  const long = sentencesOf(document).filter((sentence) => [...sentence.matchAll(/\S*\w\S*/g)].length > wordsMax)
  expect(long).toEqual([])
})
