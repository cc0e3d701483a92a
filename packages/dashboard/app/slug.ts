/** A slug for a name, as far as one can be made: `Acme & Co` gives `acme-co`. */
export function slugOf(name: string): string {
  const ascii = name.normalize('NFKD').toLowerCase()
  return ascii
    .replace(/[^a-z0-9]+/g, '-')
    .replace(/^-+|-+$/g, '')
    .slice(0, 63)
}
