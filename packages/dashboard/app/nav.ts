import type { LinkProps } from '@tanstack/react-router'
import { countOpenChanges } from './changes/queries.ts'
import type { Environment } from './secrets/use-columns.ts'
import {
  type Icon,
  IconBell,
  IconBot,
  IconCloudUpload,
  IconGauge,
  IconGitPullRequest,
  IconHexagon,
  IconHistory,
  IconHourglass,
  IconKey,
  IconLayers,
  IconLayoutGrid,
  IconLifeBuoy,
  IconLock,
  IconPlus,
  IconRefresh,
  IconSend,
  IconSettings,
  IconShieldLock,
  IconSquareTerminal,
  IconUserPlus,
  IconUsers,
  IconVault,
} from './ui/icons.ts'

// Every place that one can go to. A new section is a route file and a row here; a group without rows is not shown.

type To = NonNullable<LinkProps['to']>

/** A number beside an entry that asks for attention. */
export interface NavBadge {
  /** Its place in the cache below the organization: refreshed with what it counts. */
  key: readonly string[]
  /** The text; null shows nothing. */
  load: (orgId: string, signal: AbortSignal) => Promise<string | null>
  /** What it counts, for screen readers: "3 open". */
  meaning: string
}

export interface NavEntry {
  label: string
  icon: Icon
  to: To
  /** More words by which the command palette finds it. */
  also?: string
  /** For owners and admins only; the server refuses others. */
  admins?: true
  badge?: NavBadge
}

export interface NavGroup {
  label: string
  entries: NavEntry[]
}

const openChanges: NavBadge = { key: ['changes', 'open-count'], load: countOpenChanges, meaning: 'open' }

/** The sections of an organization, as the sidebar shows them. */
export const navGroups: NavGroup[] = [
  {
    label: 'Secrets',
    entries: [
      { label: 'Applications', icon: IconLayoutGrid, to: '/orgs/$org/apps', also: 'secrets environments apps' },
      { label: 'Groups', icon: IconLayers, to: '/orgs/$org/groups', also: 'shared secrets composition' },
      {
        label: 'Changes',
        icon: IconGitPullRequest,
        to: '/orgs/$org/changes',
        also: 'change requests review approve queue',
        badge: openChanges,
      },
    ],
  },
  {
    label: 'Access',
    entries: [
      { label: 'Members', icon: IconUsers, to: '/orgs/$org/members', also: 'people invitations roles keys leave' },
      { label: 'Service tokens', icon: IconKey, to: '/orgs/$org/tokens', also: 'machines ci', admins: true },
      {
        label: 'Machine clients',
        icon: IconSquareTerminal,
        to: '/orgs/$org/clients',
        also: 'client credentials secret bootstrap',
        admins: true,
      },
    ],
  },
  {
    label: 'Automation',
    entries: [
      {
        label: 'Leases',
        icon: IconHourglass,
        to: '/orgs/$org/leases',
        also: 'temporary access database passwords ssh certificates targets',
        admins: true,
      },
      { label: 'Rotation', icon: IconRefresh, to: '/orgs/$org/rotation', also: 'rotate passwords', admins: true },
      {
        label: 'Sync',
        icon: IconCloudUpload,
        to: '/orgs/$org/sync',
        also: 'push platforms destinations github vercel bindings',
        admins: true,
      },
      { label: 'Agents', icon: IconBot, to: '/orgs/$org/agents', also: 'policy proxy tasks activity ai', admins: true },
      {
        label: 'Vault',
        icon: IconVault,
        to: '/orgs/$org/vault',
        also: 'connect accounts credentials projects executor webhooks',
        admins: true,
      },
    ],
  },
  {
    label: 'Security',
    entries: [
      { label: 'Managed keys', icon: IconLock, to: '/orgs/$org/kms', also: 'kms encrypt sign public key' },
      {
        label: 'Recovery',
        icon: IconLifeBuoy,
        to: '/orgs/$org/recovery',
        also: 'custodians shares forgot passphrase drill',
      },
      { label: 'Honey tokens', icon: IconHexagon, to: '/orgs/$org/honey-tokens', also: 'decoys trips', admins: true },
      { label: 'Audit log', icon: IconHistory, to: '/orgs/$org/audit', also: 'trail events export', admins: true },
      {
        label: 'Log sink',
        icon: IconSend,
        to: '/orgs/$org/log-sink',
        also: 'opentelemetry otlp collector siem forward audit',
        admins: true,
      },
    ],
  },
  {
    label: 'Organization',
    entries: [
      { label: 'Plan and usage', icon: IconGauge, to: '/orgs/$org/plan', also: 'billing limits quota promo payments' },
      { label: 'Settings', icon: IconSettings, to: '/orgs/$org/settings', also: 'rename name', admins: true },
    ],
  },
]

/** What the command palette can create in an organization: a page with its dialog open. */
export const createEntries: NavEntry[] = [
  { label: 'Invite someone', icon: IconUserPlus, to: '/orgs/$org/members', also: 'invitation member', admins: true },
  { label: 'New service token', icon: IconPlus, to: '/orgs/$org/tokens', also: 'create machine', admins: true },
  { label: 'New machine client', icon: IconPlus, to: '/orgs/$org/clients', also: 'create credentials', admins: true },
  { label: 'New honey token', icon: IconPlus, to: '/orgs/$org/honey-tokens', also: 'create decoy', admins: true },
  { label: 'Get access', icon: IconPlus, to: '/orgs/$org/leases', also: 'create lease temporary', admins: true },
  { label: 'New lease target', icon: IconPlus, to: '/orgs/$org/leases/targets', also: 'database', admins: true },
  { label: 'New managed key', icon: IconPlus, to: '/orgs/$org/kms', also: 'create encrypt sign', admins: true },
  { label: 'New rotation', icon: IconPlus, to: '/orgs/$org/rotation', also: 'create rotate', admins: true },
  { label: 'Connect a destination', icon: IconPlus, to: '/orgs/$org/sync/connections', also: 'new sync', admins: true },
  { label: 'Bind an environment', icon: IconPlus, to: '/orgs/$org/sync', also: 'new sync push', admins: true },
  { label: 'New agent', icon: IconPlus, to: '/orgs/$org/agents', also: 'create identity policy', admins: true },
  { label: 'New vault project', icon: IconPlus, to: '/orgs/$org/vault', also: 'create connect', admins: true },
]

/** A person's own pages: entries of their menu, and tabs of one another. */
export const accountNav: NavEntry[] = [
  { label: 'Keyring', icon: IconKey, to: '/account/keyring', also: 'passphrase passkey recovery kit fingerprint' },
  { label: 'Signing in', icon: IconShieldLock, to: '/account/signing-in', also: 'second factor totp passkey sessions' },
  { label: 'CLI sessions', icon: IconSquareTerminal, to: '/account/cli-sessions', also: 'terminal device login' },
  { label: 'Invitations', icon: IconUserPlus, to: '/account/invitations', also: 'join organization accept decline' },
  { label: 'Notifications', icon: IconBell, to: '/account/notifications', also: 'mail' },
]

export interface Tab {
  label: string
  to: To
  /** More words by which the command palette finds it; without them it does not. */
  also?: string
}

export const settingsTabs: Tab[] = [
  { label: 'General', to: '/orgs/$org/settings' },
  { label: 'Security', to: '/orgs/$org/settings/security', also: 'second factor mfa policy' },
  { label: 'Export', to: '/orgs/$org/settings/export', also: 'archive backup download' },
]

export const leaseTabs: Tab[] = [
  { label: 'Ledger', to: '/orgs/$org/leases' },
  { label: 'Targets', to: '/orgs/$org/leases/targets', also: 'databases hosts clouds credentials' },
]

export const syncTabs: Tab[] = [
  { label: 'Bindings', to: '/orgs/$org/sync' },
  { label: 'Connections', to: '/orgs/$org/sync/connections', also: 'providers platforms credentials' },
  { label: 'Runs', to: '/orgs/$org/sync/runs', also: 'history of pushes' },
]

/** The sections of an application; `admins` as in the sidebar. */
export const appTabs: (Tab & { admins?: true })[] = [
  { label: 'Secrets', to: '/orgs/$org/apps/$app' },
  { label: 'Settings', to: '/orgs/$org/apps/$app/settings', admins: true },
]

/** The sections of an environment, and which environments have them. */
export const envTabs: (Tab & { when?: (environment: Environment) => boolean })[] = [
  { label: 'Access', to: '/orgs/$org/envs/$env' },
  { label: 'Composition', to: '/orgs/$org/envs/$env/composition', when: isOfApplication },
  { label: 'Branches', to: '/orgs/$org/envs/$env/branches', when: isOfApplication },
  { label: 'Protection', to: '/orgs/$org/envs/$env/protection' },
  { label: 'Settings', to: '/orgs/$org/envs/$env/settings' },
]

function isOfApplication({ applicationId, parentEnvironmentId }: Environment): boolean {
  return applicationId !== null && parentEnvironmentId === null
}

/** The entries that someone of this role can use; none outside of an organization. */
export const usableBy = <E extends { admins?: true }>(role: string | undefined, entries: E[]): E[] =>
  role === undefined ? [] : entries.filter(({ admins }) => !admins || role !== 'member')
