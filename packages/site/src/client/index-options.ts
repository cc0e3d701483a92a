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
}

/** Long records and the lists of the API have every word, so they come after the pages that explain. */
const weights: Record<string, number> = {
  adr: 0.3,
  api: 0.5,
  changelog: 0.2,
  hostile: 0.4,
  'sdk-reference': 0.5,
  suites: 0.2,
}

const weightOf = (url: string) => weights[url.split('/', 1)[0] ?? ''] ?? 1

/** The build and the browser must use the same options. */
export const indexOptions: Options<Entry> = {
  fields: ['title', 'heading', 'body'],
  storeFields: ['title', 'heading', 'url'],
  // Words of a name are found alone, too: `SKERRY_SMTP_URL`, `secrets.put`, `skt_`.
  tokenize: (text) => text.split(/[^\p{L}\p{N}]+/u).filter((word) => word !== ''),
  searchOptions: {
    boostDocument: (_id, _term, stored) => weightOf(String(stored?.url)),
    boost: { heading: 4, title: 2 },
    prefix: (term) => term.length > 2,
    fuzzy: (term) => (term.length > 4 ? 0.2 : false),
    combineWith: 'AND',
  },
}
