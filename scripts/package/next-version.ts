/** Path from the root -> text. */
export type Files = Record<string, string>

const form = /^(\d+)\.(\d+)\.(\d+)$/

/**
 * The files of the next release: all packages have its version, and the changelog names it above what is new.
 *
 * @param before the files as they are, with CHANGELOG.md and packages/cli/package.json among them
 * @throws Error if the version is not newer, or if nothing is new
 */
export function nextVersion(before: Files, version: string, today: Date): Files {
  const current = JSON.parse(before['packages/cli/package.json'] ?? '{}').version as string
  if (!form.test(version)) throw new Error(`the version must have the form 1.2.3 (you gave '${version}')`)
  if (!isNewer(version, current)) throw new Error(`${version} is not newer than ${current}`)
  const heading = '## Unreleased\n'
  const [, news = ''] = before['CHANGELOG.md']?.split(heading) ?? []
  if (news.split(/^## /m)[0]?.trim() === '') throw new Error('CHANGELOG.md has nothing below "Unreleased"')
  const day = today.toISOString().slice(0, 10)
  return Object.fromEntries(
    Object.entries(before).map(([path, text]) => {
      if (path === 'CHANGELOG.md') return [path, text.replace(heading, `${heading}\n## ${version}, ${day}\n`)]
      return [path, path.endsWith('.json') ? inManifest(text, current, version) : text.replaceAll(current, version)]
    }),
  )
}

function isNewer(version: string, current: string): boolean {
  const [one, other] = [version, current].map((text) => text.split('.').map(Number))
  const at = one!.findIndex((number, index) => number !== other![index])
  return at !== -1 && one![at]! > other![at]!
}

/** Replaces the version of our own packages. A package of somebody else may have the same one. */
const inManifest = (text: string, current: string, version: string) =>
  text.replace(/("(?:version|@skerry\/[\w-]+)": ")([^"]+)"/g, (all, start: string, found: string) =>
    found === current ? `${start}${version}"` : all,
  )
