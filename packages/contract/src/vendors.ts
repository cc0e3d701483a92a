import type { LeaseTag } from './leases/facts.ts'
import type { SyncTag } from './sync/providers.ts'

// The vendor behind each provider tag. Tags are wire values. People read the vendor's name and type its slug. A program
// may send a tag wherever a person types a slug.

/** A vendor, as people read and type it. */
export interface Vendor {
  name: string
  /** The word to type. The files of a sync adapter have this name, too. */
  slug: string
}

/** Vendors of sync destinations, by tag. */
export const syncVendors = {
  'agent-platform': { name: 'LangSmith Deployment', slug: 'langsmith' },
  'ai-agent-vaults': { name: 'Claude Managed Agents vaults', slug: 'claude-managed-agents' },
  'app-platform-a': { name: 'Railway', slug: 'railway' },
  'app-platform-b': { name: 'Render', slug: 'render' },
  'app-platform-c': { name: 'Fly.io', slug: 'fly-io' },
  'app-platform-d': { name: 'Northflank', slug: 'northflank' },
  'app-platform-e': { name: 'DigitalOcean App Platform', slug: 'digitalocean' },
  'app-platform-f': { name: 'Heroku', slug: 'heroku' },
  'cloud-a-parameter-store': { name: 'AWS Systems Manager Parameter Store', slug: 'aws-parameter-store' },
  'cloud-a-secrets-manager': { name: 'AWS Secrets Manager', slug: 'aws-secrets-manager' },
  'cloud-b-secret-manager': { name: 'Google Cloud Secret Manager', slug: 'google-secret-manager' },
  'cloud-c-key-vault': { name: 'Azure Key Vault', slug: 'azure-key-vault' },
  'code-host-ci': { name: 'GitHub Actions', slug: 'github-actions' },
  'edge-pages': { name: 'Cloudflare Pages', slug: 'cloudflare-pages' },
  'edge-secrets-store': { name: 'Cloudflare Secrets Store', slug: 'cloudflare-secrets-store' },
  'edge-workers': { name: 'Cloudflare Workers', slug: 'cloudflare-workers' },
  'env-platform': { name: 'Bunnyshell', slug: 'bunnyshell' },
  'frontend-cloud': { name: 'Vercel', slug: 'vercel' },
  'ml-spaces': { name: 'Hugging Face Spaces', slug: 'hugging-face-spaces' },
  'site-host': { name: 'Netlify', slug: 'netlify' },
} as const satisfies Record<SyncTag, Vendor>

/** Vendors of lease targets, by tag. */
export const leaseVendors = {
  postgres: { name: 'PostgreSQL', slug: 'postgres' },
  mysql: { name: 'MySQL or MariaDB', slug: 'mysql' },
  redis: { name: 'Redis or Valkey', slug: 'redis' },
  ssh: { name: 'SSH certificates', slug: 'ssh' },
  'cloud-a': { name: 'AWS', slug: 'aws' },
  'cloud-b': { name: 'Google Cloud', slug: 'google-cloud' },
  mongodb: { name: 'MongoDB', slug: 'mongodb' },
} as const satisfies Record<LeaseTag, Vendor>

/** Every vendor, by tag. */
export const vendors: Readonly<Record<string, Vendor>> = { ...syncVendors, ...leaseVendors }

/** The vendor's name. A tag of a newer server is returned as it is. */
export const vendorName = (tag: string): string => (Object.hasOwn(vendors, tag) ? vendors[tag]!.name : tag)

/** The word to type for a tag. A tag of a newer server is returned as it is. */
export const vendorSlug = (tag: string): string => (Object.hasOwn(vendors, tag) ? vendors[tag]!.slug : tag)

/**
 * Finds the tag that a person means by a slug, a name or the tag itself, in upper or lower case.
 *
 * @example vendorTag('Fly.io', syncVendors) // 'app-platform-c'
 */
export function vendorTag<T extends string>(typed: string, among: Readonly<Record<T, Vendor>>): T | undefined {
  const word = wordOf(typed)
  return (Object.keys(among) as T[]).find((tag) =>
    [tag, among[tag].slug, among[tag].name].some((name) => wordOf(name) === word),
  )
}

const wordOf = (text: string): string =>
  text
    .trim()
    .toLowerCase()
    .replace(/[^a-z0-9]+/g, '-')

/**
 * Lists tags with their vendors, for the descriptions of the API.
 *
 * @example vendorList(['cloud-a', 'ssh']) // '`cloud-a` (AWS), `ssh` (SSH certificates)'
 */
export const vendorList = (tags: readonly string[]): string =>
  tags.map((tag) => `\`${tag}\` (${vendorName(tag)})`).join(', ')
