import { secretNamePattern, slugPattern } from '@skerry/contract/patterns'
import { usage } from './failure.ts'

const secretNameForm = new RegExp(secretNamePattern)
const slugForm = new RegExp(slugPattern)

export const isSecretName = (name: string) => secretNameForm.test(name)
const isSlug = (slug: string) => slugForm.test(slug)

/** The text is not repeated when it is no name: it may be a value that got into the wrong place. */
export function checkSecretName(name: string): string {
  if (isSecretName(name)) return name
  throw usage('that is not a secret’s name', 'names are letters, digits and _, and do not begin with a digit')
}

export function checkSlug(slug: string, what: string): string {
  if (isSlug(slug)) return slug
  throw usage(`'${slug}' cannot be the slug of ${what}`, 'lowercase letters, digits and inner hyphens, at most 63')
}

/** Only the id of a token is public: a whole token on the command line has been seen by others by now. */
export function checkTokenId(id: string): string {
  if (!/^skt_[^_]*_/.test(id)) return id
  throw usage('that is a whole token, not its id', 'give skt_ and the 22 characters behind it; revoke that token')
}

/** `Acme & Söhne GmbH` -> `acme-sohne-gmbh`; undefined when nothing usable is left. */
export function slugFrom(text: string): string | undefined {
  const slug = text
    .normalize('NFKD')
    .replace(/\p{M}+/gu, '')
    .toLowerCase()
    .replace(/[^a-z0-9]+/g, '-')
    .slice(0, 63)
    .replace(/^-+|-+$/g, '')
  return isSlug(slug) ? slug : undefined
}
