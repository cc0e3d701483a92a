/**
 * Makes a slug from a name: `Acme & Söhne` gives `acme-sohne`. A name without Latin letters or digits gives an empty
 * slug.
 */
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
