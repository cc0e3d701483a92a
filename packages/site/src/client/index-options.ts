import type { Options } from 'minisearch'

/** A section of a page in the search index. */
export interface Entry {
  id: number
  /** The title of the page. Empty for the entry of the page itself. */
  title: string
  heading: string
  /** The address of the section, from the root of the site. */
  url: string
  body: string
  /** Words that people may use for the same task. Only tasks of `skerry help` have them. */
  words?: string
}

/** Long records and the lists of the API have every word, so they come after the pages that explain. */
const weights: Record<string, number> = {
  adr: 0.2,
  api: 0.5,
  changelog: 0.2,
  commands: 0.9,
  'directory-format': 0.4,
  entities: 0.2,
  glossary: 0.7,
  hostile: 0.3,
  'hostile-server': 0.5,
  promises: 0.4,
  'sdk-reference': 0.5,
  suites: 0.1,
  'threat-model': 0.6,
}

/** A task is what a person most probably asks for, whatever page it leads to. */
const taskWeight = 2

const weightOf = (url: string) => weights[url.split('/', 1)[0] ?? ''] ?? 1

/** Words of a question that every page has. */
const stopWords =
  'a an and are at by can do does for from how i in is it me my of on or that the this to we what when which who with you your'
const isStopWord = (word: string) => stopWordSet.has(word)
const stopWordSet = new Set(stopWords.split(' '))

/**
 * Words of a name are found alone and together: `SKERRY_SMTP_URL`, `secrets.put`, `read-only`, `Next.js`.
 *
 * @example tokenize('Next.js') // ['Next', 'js', 'Nextjs']
 */
function tokenize(text: string): string[] {
  const words = text.split(/[^\p{L}\p{N}]+/u).filter((word) => word !== '')
  const joined = [...text.matchAll(/\p{L}+(?:[.-]\p{L}+)+/gu)].map(([word]) => word.replaceAll(/[.-]/g, ''))
  return [...words, ...joined]
}

/** The build and the browser must use the same options. */
export const indexOptions: Options<Entry> = {
  fields: ['title', 'heading', 'words', 'body'],
  storeFields: ['title', 'heading', 'url', 'words'],
  tokenize,
  processTerm: (term) => (isStopWord(term.toLowerCase()) ? null : term.toLowerCase()),
  searchOptions: {
    boostDocument: (_id, _term, stored) => (stored?.words ? taskWeight : weightOf(String(stored?.url))),
    boost: { heading: 4, words: 3, title: 2 },
    prefix: (term) => term.length > 2,
    fuzzy: (term) => (term.length > 4 ? 0.2 : false),
  },
}
