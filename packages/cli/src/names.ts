import { secretNamePattern, slugPattern } from '@skerry/contract/patterns'
import { usage } from './failure.ts'

const secretNameForm = new RegExp(secretNamePattern)
const slugForm = new RegExp(slugPattern)

export const isSecretName = (name: string) => secretNameForm.test(name)
const isSlug = (slug: string) => slugForm.test(slug)

/** The error does not repeat the text, because it may be a value in the wrong place. */
export function checkSecretName(name: string): string {
  if (isSecretName(name)) return name
  throw usage('the name of the secret is not valid', 'use letters, digits and _, not starting with a digit')
}

export function checkSlug(slug: string, what: string): string {
  if (isSlug(slug)) return slug
  throw usage(
    `'${slug}' is not a valid slug for ${what}`,
    'use lowercase letters, digits and hyphens between them, at most 63 characters',
  )
}

/** Refuses a whole token, because others may have seen it on the command line. Only the id of a token is public. */
export function checkTokenId(id: string): string {
  if (!/^skt_[^_]*_/.test(id)) return id
  throw usage(
    'you gave a whole token instead of its id',
    'use skt_ and the 22 characters after it; revoke the token, because it is now in your shell’s history',
  )
}

/** Makes a slug: `acme-sohne-gmbh` from `Acme & Söhne GmbH`. Undefined if nothing usable is left. */
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
