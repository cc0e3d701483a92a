import { leaseVendors, syncVendors, type Vendor, vendorTag } from '@skerry/contract/vendors'
import { type Command, Option } from 'commander'
import { usage } from './failure.ts'
import { distanceBetween } from './nearest.ts'

// People type and read a provider by its vendor's slug, such as `fly-io`. The API and `--json` have its tag.

type Vendors<T extends string> = Readonly<Record<T, Vendor>>

const slugsOf = (among: Vendors<string>): string[] => Object.values(among).map(({ slug }) => slug)

/** Makes the first argument of a command a sync destination. The command gets its tag; completion offers the slugs. */
export function takesSyncProvider(command: Command): Command {
  const see = 'see `skerry sync providers`'
  command.registeredArguments[0]!.choices(slugsOf(syncVendors).sort()).argParser((typed) =>
    readVendor(typed, syncVendors, 'sync destination', see),
  )
  return command
}

/** The option `--provider` of a lease target. The command gets the tag. */
export const leaseProviderOption = (description: string): Option =>
  new Option('--provider <provider>', description).choices(slugsOf(leaseVendors)).argParser(readLeaseProvider)

export const readLeaseProvider = (typed: string) =>
  readVendor(typed, leaseVendors, 'kind of lease target', `known: ${slugsOf(leaseVendors).join(', ')}`)

/** Returns the tag that the typed word means, and otherwise suggests what was meant. */
function readVendor<T extends string>(typed: string, among: Vendors<T>, noun: string, see: string): T {
  const tag = vendorTag(typed, among)
  if (tag !== undefined) return tag
  // A long word is no slip of the fingers, and may be a credential. It is not repeated.
  if (typed.length > wordMax) throw usage(`there is no ${noun} of that name`, see)
  const near = nearSlugs(typed.toLowerCase(), among)
  throw usage(`there is no ${noun} '${typed}'`, near.length === 0 ? see : `did you mean ${orList(near)}?`)
}

/** Short and other words for vendors, which are spelled unlike their slugs. */
const otherWords: Readonly<Record<string, string>> = {
  amazon: 'aws',
  cf: 'cloudflare',
  gcp: 'google',
  gh: 'github',
  hf: 'hugging',
  pg: 'postgres',
}

const suggestionsMax = 3
const wordMax = 40

const orList = (words: string[]): string => words.join(', ').replace(/, ([^,]*)$/, ' or $1')

/** Slugs of which the word is a part; without one, slugs that are spelled almost like it. */
function nearSlugs(typed: string, among: Vendors<string>): string[] {
  const word = Object.hasOwn(otherWords, typed) ? otherWords[typed]! : typed
  const rows = Object.values(among)
  const parts = ({ name, slug }: Vendor) => `${slug} ${name}`.toLowerCase().split(/[^a-z0-9]+/)
  const withPart = word.length < 2 ? [] : rows.filter((row) => parts(row).some((part) => part.startsWith(word)))
  const found =
    withPart.length > 0 ? withPart : rows.filter(({ slug }) => distanceBetween(word, slug) <= slug.length / 3)
  return found
    .map(({ slug }) => slug)
    .sort((one, other) => distanceBetween(word, one) - distanceBetween(word, other))
    .slice(0, suggestionsMax)
}
