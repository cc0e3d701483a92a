/** A page before it is rendered. */
export interface Source {
  /** Its path in the repository. Links of documents lead to it. A page that only the site has needs a path, too. */
  path: string
  /** Its path below the site, with a slash at the end. The first page has an empty one. */
  url: string
  /** The label in the navigation. */
  label: string
  markdown: string
}

/** A chapter of the navigation. */
export interface Chapter {
  title: string
  pages: Source[]
}

/** A heading of a page, and the target of links to it. */
interface Heading {
  level: number
  text: string
  anchor: string
}

/** The text below a heading, for the search. */
export interface Section extends Heading {
  body: string
}

/** A rendered page. */
export interface Page extends Source {
  title: string
  /** The first sentence, for result lists and for `llms.txt`. */
  summary: string
  html: string
  sections: Section[]
}
