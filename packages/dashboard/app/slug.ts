import { slugPattern } from '@skerry/contract/patterns'

const slugForm = new RegExp(slugPattern)

/** A slug for a name, as far as one can be made: `Acme & Söhne` gives `acme-sohne`. */
export function slugOf(name: string): string {
  const ascii = name
    .normalize('NFKD')
    .replace(/\p{M}+/gu, '')
    .toLowerCase()
  return ascii
    .replace(/[^a-z0-9]+/g, '-')
    .slice(0, 63)
    .replace(/^-+|-+$/g, '')
}

/** Whether the server accepts a text as a slug. */
export const isSlug = (text: string): boolean => slugForm.test(text)
